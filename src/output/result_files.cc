#include "output/result_files.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <limits>
#include <utility>

#include "base/error.h"
#include "output/csv.h"
#include "output/hdf5.h"
#include "output/hdf5_file.h"

namespace saltus {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kFlushBytes = 1 << 20;
constexpr auto kFlushInterval = std::chrono::milliseconds(500);

template <class T>
std::string_view bytes_of(const T& value) {
  return {reinterpret_cast<const char*>(&value), sizeof(value)};
}

// Of runs into one folder one at a time gives its files their names.
class FolderLock {
 public:
  explicit FolderLock(const std::string& folder)
      : file_(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)) {
    if (file_ >= 0) (void)flock(file_, LOCK_EX);
  }
  ~FolderLock() {
    if (file_ >= 0) close(file_);
  }
  FolderLock(const FolderLock&) = delete;
  FolderLock& operator=(const FolderLock&) = delete;

 private:
  int file_;
};

// <stem>-2.csv for results/m.csv and so on: the first name that is free.
std::string free_name(const std::string& path, const std::string& mark) {
  const fs::path whole(path);
  const std::string stem = (whole.parent_path() / whole.stem()).string();
  for (int k = 2;; ++k) {
    std::string name = fmt::format("{}{}{}{}", stem, mark, k, whole.extension().string());
    std::error_code ignored;
    if (!fs::exists(fs::symlink_status(name, ignored))) return name;
  }
}

}  // namespace

ResultFiles::ResultFiles(std::string folder, const std::string& model,
                         std::vector<std::string> formats, bool for_pictures)
    : folder_(std::move(folder)),
      model_(model),
      stem_(file_stem(model)),
      for_pictures_(for_pictures) {
  if (folder_.empty()) return;
  const auto wants = [&](const char* format) { return std::ranges::count(formats, format) > 0; };
  const auto place = [&](const char* extension) {
    return Place((fs::path(folder_) / (stem_ + extension)).string());
  };
  if (wants("csv")) files_.emplace_back().place = place(".csv");
  if (!wants("mat") && !wants("h5")) return;
  File& file = files_.emplace_back();
  file.is_mat = true;
  if (wants("mat")) file.place = place(".mat");
  if (!wants("h5")) return;
  if (!Hdf5File::is_supported())
    throw Error("this Saltus was built without HDF5 (libhdf5-dev): take --format csv or mat");
  file.hdf5 = place(".h5");
}

ResultFiles::~ResultFiles() {
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
  }
  wake_.notify_all();
  if (flusher_.joinable()) flusher_.join();
  for (File& file : files_) {
    try {
      if (file.file != nullptr) flush(file);
    } catch (const Error&) {  // the rest of a run that has failed already
    }
  }
}

std::optional<ResultFiles::Identity> ResultFiles::identity_of(const std::string& path) {
  struct stat found {};
  if (lstat(path.c_str(), &found) != 0) return std::nullopt;
  return Identity{found.st_dev, found.st_ino, found.st_mtim.tv_sec, found.st_mtim.tv_nsec};
}

void ResultFiles::begin(const Trajectory& layout) {
  const std::lock_guard lock(mutex_);
  Trajectory former;
  former.signals = std::move(layout_.signals);
  former.sources = std::move(layout_.sources);
  former.columns = layout_.columns;
  layout_ = Trajectory();
  layout_.signals = layout.signals;
  layout_.parameters = layout.parameters;
  layout_.parameter_values = layout.parameter_values;
  layout_.sources = layout.sources;
  layout_.columns = layout.columns;
  if (for_pictures_) sample_.begin(layout_);
  for (File& file : files_)
    if (file.file != nullptr) widen(file, former);
}

void ResultFiles::store(double time, ModeId mode, const double* columns) {
  if (for_pictures_) sample_.store(time, mode, columns);
  if (files_.empty()) return;
  const std::lock_guard lock(mutex_);
  if (!failure_.empty()) throw Error(failure_);
  last_time_ = time;
  for (File& file : files_) {
    if (file.file == nullptr) open(file, time);
    if (file.is_mat) {
      append_mat_point(layout_, time, columns, file.waiting);
    } else {
      append_csv_row(layout_, time, columns, file.waiting);
    }
    if (file.waiting.size() >= kFlushBytes) flush(file);
  }
  if (!flusher_.joinable()) flusher_ = std::thread([this] { flush_regularly(); });
}

void ResultFiles::open(File& file, double time) {
  std::error_code problem;
  fs::create_directories(folder_, problem);
  if (problem)
    throw Error(fmt::format("cannot make the directory '{}': {}", folder_, problem.message()));
  const std::string extension = file.is_mat ? ".mat" : ".csv";
  const std::string usual = (fs::path(folder_) / (stem_ + ".partial" + extension)).string();
  first_time_ = time;
  file.file = std::make_unique<PartialFile>((fs::path(folder_) / stem_).string(), extension);
  if (file.file->path() != usual)
    notes_.push_back(
        fmt::format("'{}' is there already: of a run that is under way, or that was "
                    "ended from outside; it is left alone",
                    usual));
  write_header(file, time);
}

void ResultFiles::write_header(File& file, double time) {
  file.header.clear();
  if (file.is_mat) {
    file.mat = mat_header(layout_, time);
    file.header = file.mat.bytes;
    file.point = (layout_.width() + 1) * sizeof(double);
  } else {
    append_csv_names(layout_, file.header);
  }
  file.file->append(file.header);
}

// The points so far again, in a file with more columns.
void ResultFiles::widen(File& file, const Trajectory& former) {
  flush(file);
  const std::size_t from = file.header.size();
  const std::size_t width = (former.width() + 1) * sizeof(double);
  const std::size_t more = file.is_mat ? layout_.width() - former.width()
                                       : layout_.signals.size() - former.signals.size();
  const std::unique_ptr<PartialFile> old = std::move(file.file);
  file.file = std::make_unique<PartialFile>((fs::path(folder_) / stem_).string(),
                                            file.is_mat ? ".mat" : ".csv");
  write_header(file, first_time_);
  std::string missing;
  for (std::size_t k = 0; k < more; ++k) {
    if (file.is_mat) {
      missing += bytes_of(std::numeric_limits<double>::quiet_NaN());
    } else {
      missing += ",nan";
    }
  }
  std::string rest;  // of a row that ends in the next block
  std::string text;
  for (std::size_t at = from; at < old->size(); at += kFlushBytes) {
    rest += old->read(at, kFlushBytes);
    std::size_t begin = 0;
    while (begin < rest.size()) {
      const std::size_t end = file.is_mat ? begin + width : rest.find('\n', begin);
      if (end == std::string::npos || end > rest.size()) break;
      text.append(rest, begin, end - begin);
      text += missing;
      if (!file.is_mat) text += '\n';
      begin = file.is_mat ? end : end + 1;
    }
    rest.erase(0, begin);
    file.file->append(text, file.point);
    text.clear();
  }
  flush(file);
  old->remove();
}

void ResultFiles::flush(File& file) {
  if (file.failed) return;
  const auto count_points = [&] {
    if (!file.is_mat) return;
    const std::size_t points = (file.file->size() - file.header.size()) / file.point;
    file.file->overwrite(file.mat.point_count, mat_count(points));
    file.file->overwrite(file.mat.stop_time, bytes_of(last_time_));
  };
  try {
    file.file->append(file.waiting, file.point);
    file.waiting.clear();
    count_points();
  } catch (const Error&) {
    file.failed = true;
    count_points();  // of a full disk: as many as have found a place
    throw;
  }
}

// A step, an event or a stored point may be long in coming.
void ResultFiles::flush_regularly() {
  std::unique_lock lock(mutex_);
  while (!ending_ && failure_.empty()) {
    wake_.wait_for(lock, kFlushInterval);
    try {
      for (File& file : files_)
        if (!file.waiting.empty()) flush(file);
    } catch (const Error& error) {
      failure_ = error.message();
    }
  }
}

bool ResultFiles::is_of_another_model(const File& file) const {
  const std::size_t length = file.is_mat ? file.mat.names_end : file.header.size();
  std::ifstream in(file.place->path, std::ios::binary);
  std::string begin(length, '\0');
  in.read(begin.data(), static_cast<std::streamsize>(length));
  return static_cast<std::size_t>(in.gcount()) != length || begin != file.header.substr(0, length);
}

std::string ResultFiles::settle_path(const Place& place,
                                     const std::function<bool()>& is_of_another_model) {
  const std::optional<Identity> there = identity_of(place.path);
  if (there && there != place.before) {
    std::string path = free_name(place.path, "-");
    notes_.push_back(fmt::format(
        "another run has written '{}' in the meantime; the results of this one are in '{}'",
        place.path, path));
    return path;
  }
  if (there && fs::is_regular_file(place.path) && is_of_another_model()) {
    const fs::path whole(place.path);
    const std::string kept =
        (whole.parent_path() / whole.stem()).string() + ".previous" + whole.extension().string();
    if (std::rename(place.path.c_str(), kept.c_str()) == 0)
      notes_.push_back(fmt::format(
          "'{}' held other variables, of another model or of this one before a change; they are "
          "in '{}' now",
          place.path, kept));
  }
  return place.path;
}

std::string ResultFiles::publish(File& file) {
  const FolderLock lock(folder_);
  std::string path = settle_path(*file.place, [&] { return is_of_another_model(file); });
  file.file->rename_to(path);
  return path;
}

std::string ResultFiles::publish_hdf5(const File& file) {
  const std::size_t width = layout_.width() + 1;
  std::string bytes;
  std::vector<double> numbers;
  const PointRows rows{
      (file.file->size() - file.header.size()) / file.point, [&](std::size_t first, std::size_t n) {
        bytes = file.file->read(file.header.size() + first * file.point, n * file.point);
        if (bytes.size() != n * file.point)
          throw Error(fmt::format("'{}' cannot be read any more", file.file->path()));
        numbers.resize(n * width);
        std::memcpy(numbers.data(), bytes.data(), bytes.size());
        return std::span<const double>(numbers);
      }};
  const std::string partial = write_hdf5_partial(layout_, rows, model_, file.hdf5->path);
  if (const int whole = ::open(partial.c_str(), O_RDONLY | O_CLOEXEC); whole >= 0) {
    (void)fsync(whole);
    close(whole);
  }
  const FolderLock lock(folder_);
  std::string path =
      settle_path(*file.hdf5, [&] { return hdf5_differs(layout_, file.hdf5->path); });
  std::error_code problem;
  fs::rename(partial, path, problem);
  if (problem) throw Error(fmt::format("cannot write '{}': {}", path, problem.message()));
  return path;
}

void ResultFiles::finish(std::vector<std::string>& written, std::vector<std::string>& failures) {
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
  }
  wake_.notify_all();
  if (flusher_.joinable()) flusher_.join();
  for (File& file : files_) {
    if (file.file == nullptr) continue;
    try {
      flush(file);
      if (file.failed) throw Error(fmt::format("'{}' is not complete", file.file->path()));
      if (file.hdf5) written.push_back(publish_hdf5(file));
      if (file.place) {
        written.push_back(publish(file));
      } else {
        file.file->remove();
      }
    } catch (const Error& error) {
      failures.push_back(
          fmt::format("{}; points up to there are in '{}'", error.message(), file.file->path()));
    }
  }
}

std::vector<std::string> ResultFiles::paths() const {
  const std::lock_guard lock(mutex_);
  std::vector<std::string> result;
  for (const File& file : files_)
    if (file.file != nullptr) result.push_back(file.file->path());
  return result;
}

}  // namespace saltus
