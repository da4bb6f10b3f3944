#include "output/hdf5.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/version.h"
#include "output/hdf5_file.h"

namespace saltus {
namespace {

constexpr std::size_t kBlockNumbers = std::size_t{1} << 22;  // 32 MB at once
constexpr const char* kNamesAttribute = "saltus_names";

// Names of HDF5 have no '/': it separates groups.
class Names {
 public:
  Names() : taken_{"time"} {}
  std::string take(const std::string& name) {
    std::string free = name;
    std::ranges::replace(free, '/', '_');
    if (free == ".") free = "_";
    const std::string wanted = free;
    for (int k = 2; !taken_.insert(free).second; ++k) free = fmt::format("{}_{}", wanted, k);
    return free;
  }

 private:
  std::set<std::string> taken_;
};

// One number for all names and units (FNV-1a): two results of one model have the same.
std::string fingerprint(const Trajectory& layout) {
  std::uint64_t hash = 14695981039346656037u;
  const auto add = [&](const std::string& text) {
    for (const char c : text + '\n') hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211u;
  };
  for (const auto* infos : {&layout.signals, &layout.parameters})
    for (const SignalInfo& info : *infos) {
      add(info.name);
      add(info.unit);
    }
  return fmt::format("{:016x}", hash);
}

void describe(Hdf5File& file, const SignalInfo& info, const std::string& name) {
  if (name != info.name) file.variable_attribute("name", info.name);
  if (!info.unit.empty()) file.variable_attribute("units", info.unit);
  if (!info.description.empty()) file.variable_attribute("long_name", info.description);
}

// A variable over time: column and sign.
struct Stream {
  Hdf5File::Column column;
  std::size_t place;
  double factor;
};

}  // namespace

std::string write_hdf5_partial(const Trajectory& layout, const PointRows& rows,
                               const std::string& model, const std::string& path) {
  Hdf5File file(path);
  file.attribute("model", model);
  file.attribute("source", fmt::format("Saltus {}", kVersion));
  file.attribute(kNamesAttribute, fingerprint(layout));

  const std::size_t width = layout.width() + 1;
  const std::size_t block = std::clamp<std::size_t>(kBlockNumbers / width, 16, 4096);
  std::vector<Stream> streams = {{file.dimension_in_pieces("time", rows.count, block), 0, 1.0}};
  file.scale_attribute("units", "s");
  Names names;
  // Equal data in equal units is one variable with several names.
  std::map<std::tuple<std::size_t, double, std::string>, std::string> present;
  for (std::size_t k = 0; k < layout.signals.size(); ++k) {
    const SignalInfo& info = layout.signals[k];
    const Trajectory::Source from = layout.source(k);
    const std::string name = names.take(info.name);
    if (from.column == Trajectory::Source::kNoColumn) {
      file.scalar(name, from.factor);
      describe(file, info, name);
      continue;
    }
    const auto [same, is_new] = present.try_emplace({from.column, from.factor, info.unit}, name);
    if (!is_new) {
      file.other_name(name, same->second);
      continue;
    }
    streams.push_back(
        {file.variable_in_pieces(name, rows.count, block), from.column + 1, from.factor});
    describe(file, info, name);
  }
  for (std::size_t k = 0; k < layout.parameters.size(); ++k) {
    const std::string name = names.take(layout.parameters[k].name);
    file.scalar(name, layout.parameter_values[k]);
    describe(file, layout.parameters[k], name);
  }

  std::vector<double> values;
  for (std::size_t first = 0; first < rows.count; first += block) {
    const std::size_t n = std::min(block, rows.count - first);
    const std::span<const double> points = rows.read(first, n);
    values.resize(n);
    for (const Stream& stream : streams) {
      for (std::size_t i = 0; i < n; ++i)
        values[i] = stream.factor * points[i * width + stream.place];
      file.write_piece(stream.column, first, values);
    }
  }
  std::string partial = file.partial_path();
  file.finish_in_place();
  return partial;
}

bool hdf5_differs(const Trajectory& layout, const std::string& path) {
  return Hdf5File::read_attribute(path, kNamesAttribute) != fingerprint(layout);
}

void write_hdf5(const Trajectory& trajectory, const std::string& model, const std::string& path) {
  const std::size_t width = trajectory.width();
  std::vector<double> block;
  const PointRows rows{trajectory.size(), [&](std::size_t first, std::size_t n) {
                         block.clear();
                         for (std::size_t point = first; point < first + n; ++point) {
                           block.push_back(trajectory.time[point]);
                           const double* from = trajectory.values.data() + point * width;
                           block.insert(block.end(), from, from + width);
                         }
                         return std::span<const double>(block);
                       }};
  const std::string partial = write_hdf5_partial(trajectory, rows, model, path);
  std::error_code problem;
  std::filesystem::rename(partial, path, problem);
  if (problem) throw Error(fmt::format("cannot write '{}': {}", path, problem.message()));
}

}  // namespace saltus
