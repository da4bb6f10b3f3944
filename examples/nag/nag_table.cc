#include "examples/nag/nag_table.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/error.h"

// Numbers: HM print none. The ratios of the sets follow from the transmissions of Table 3,
//   1 + 1/k1 = i1/i2,  1 + 1/k2 = i3,  1 + 1/k3 = i2/i3  with i1 = 3.59, i2 = 2.19, i3 = 1.41.
// The ring of P1 carries engine and converter turbine (the engine torque enters at a massless
// node); the carrier of P2 carries a vehicle of 1.7 t seen at the output. C1 are so large that a
// locked element keeps a reserve of 1.3 and every synchronizing clutch crosses zero slip.

namespace saltus {
namespace {

constexpr double kI1 = 3.59;
constexpr double kI2 = 2.19;
constexpr double kI3 = 1.41;

constexpr NagShaft kShafts[] = {{1, 27},  {2, 26},  {3, 25},  {5, 29},  {7, 28},
                                {9, 30},  {10, 28}, {11, 26}, {13, 27}, {14, 26},
                                {15, 25}, {16, 28}, {17, 29}, {18, 30}, {19, 27},
                                {20, 29}, {21, 28}, {22, 27}, {23, 29}, {24, 30}};

constexpr NagSet kSets[] = {
    {"P1", 1, 0.080, kI2 / (kI1 - kI2), {0.003, 0.010, 0.200, 0.0002}},
    {"P2", 5, 0.085, 1.0 / (kI3 - 1.0), {0.002, 17.0, 0.010, 0.0002}},
    {"P3", 9, 0.085, kI3 / (kI2 - kI3), {0.002, 0.008, 0.010, 0.0002}},
};

constexpr NagElement kElements[] = {{"k1", 13, 14, 0.005, 650.0},  {"k2", 15, 16, 0.005, 700.0},
                                    {"k3", 17, 18, 0.005, 1000.0}, {"b1", 19, 0, 0.004, 300.0},
                                    {"b2", 20, 0, 0.004, 2000.0},  {"b3", 21, 0, 0.004, 600.0},
                                    {"f1", 22, 0, 0.0, 0.0},       {"f2", 24, 23, 0.0, 0.0}};

constexpr NagElements kK1 = 1, kK2 = 2, kK3 = 4, kB1 = 8, kB2 = 16, kB3 = 32, kF1 = 64, kF2 = 128;

constexpr NagGear kGears[] = {{"1", kB1 | kB2 | kK3, kF1 | kF2}, {"2", kB2 | kK1 | kK3, kF2},
                              {"3", kB2 | kK1 | kK2, 0},         {"4", kK1 | kK2 | kK3, 0},
                              {"5", kB1 | kK2 | kK3, kF1},       {"N", kB1 | kK3, 0},
                              {"R1", kB1 | kB3 | kK3, kF1},      {"R2", kB3 | kK1 | kK3, 0}};

template <class Table>
std::string names_of(const Table& table) {
  std::string text;
  for (const auto& row : table) text += (text.empty() ? "" : ", ") + std::string(row.name);
  return text;
}

}  // namespace

std::span<const NagShaft> nag_shafts() { return kShafts; }
std::span<const NagSet> nag_sets() { return kSets; }
std::span<const NagElement> nag_elements() { return kElements; }
std::span<const NagGear> nag_gears() { return kGears; }

std::size_t find_nag_element(const std::string& name) {
  for (std::size_t e = 0; e < std::size(kElements); ++e)
    if (name == kElements[e].name) return e;
  throw Error("nag: there is no element '" + name + "'; the elements are " + names_of(kElements));
}

const NagGear& find_nag_gear(const std::string& name) {
  for (const NagGear& gear : kGears)
    if (name == gear.name) return gear;
  throw Error("nag: there is no gear '" + name + "'; the gears are " + names_of(kGears));
}

// Speeds of the six nodes and the output: three sets, the locked elements, the engine, and the
// output where nothing else is left to say. Gauss-Jordan with column pivots; rows that say nothing
// new are skipped, so the last row counts only if it is needed.
std::array<double, kNagBodies + 1> nag_speeds(NagElements locked) {
  constexpr int n = 7;  // nodes 25 ... 30, output
  std::array<int, kNagBodies + 1> place{};
  place.fill(-1);
  for (int node = kNagEngineNode; node <= kNagBodies; ++node) place[node] = node - kNagEngineNode;
  for (const NagShaft& shaft : kShafts) place[shaft.body] = place[shaft.node];
  place[kNagOutput] = n - 1;

  using Row = std::array<double, n + 1>;  // coefficients, right-hand side
  std::vector<Row> rows;
  for (const NagSet& set : kSets) {
    Row row{};
    row[place[set.sun]] += 1.0;
    row[place[set.sun + 1]] -= 1.0 + set.ratio;
    row[place[set.sun + 2]] += set.ratio;
    rows.push_back(row);
  }
  for (std::size_t e = 0; e < std::size(kElements); ++e) {
    if ((locked >> e & 1U) == 0) continue;
    Row row{};
    row[place[kElements[e].a]] += 1.0;
    if (kElements[e].b != 0) row[place[kElements[e].b]] -= 1.0;
    rows.push_back(row);
  }
  Row engine{};
  engine[0] = engine[n] = 1.0;
  rows.push_back(engine);
  Row standing{};
  standing[n - 1] = 1.0;
  rows.push_back(standing);

  std::vector<std::pair<int, Row>> solved;  // pivot column, row
  for (Row row : rows) {
    for (const auto& [column, other] : solved) {
      const double factor = row[column];
      for (int j = 0; j <= n; ++j) row[j] -= factor * other[j];
    }
    int pivot = 0;
    for (int j = 1; j < n; ++j)
      if (std::abs(row[j]) > std::abs(row[pivot])) pivot = j;
    if (std::abs(row[pivot]) < 1e-9) continue;
    const double size = row[pivot];
    for (double& entry : row) entry /= size;
    for (auto& [column, other] : solved) {
      const double factor = other[pivot];
      for (int j = 0; j <= n; ++j) other[j] -= factor * row[j];
    }
    solved.emplace_back(pivot, row);
  }
  std::array<double, n> speed{};
  for (const auto& [column, row] : solved) speed[column] = row[n];
  std::array<double, kNagBodies + 1> result{};
  for (int body = 1; body <= kNagBodies; ++body)
    if (place[body] >= 0) result[body] = speed[place[body]];
  return result;
}

}  // namespace saltus
