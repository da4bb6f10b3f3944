#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "realtime/affine_motion.h"
#include "realtime/collision.h"

namespace saltus {

// Masses on a line that advance exactly: closed formulas from one impact, or end of a contact, to
// the next. Masses in contact move as one; they part where the contact would have to pull.
class MassLine {
 public:
  explicit MassLine(const CollisionCase& what);

  // Adds the impacts of the step to `impacts`.
  void advance(double start, double duration, std::vector<Impact>& impacts);

  const std::vector<double>& x() const { return x_; }
  const std::vector<double>& v() const { return v_; }
  bool has_contact() const;

 private:
  // Masses first to last (inclusive) in contact, as one.
  struct Cluster {
    std::size_t first;
    std::size_t last;
    double m, d, c, f;
    AffineMotion motion;
    double fastest;  // bounds of |v| and |v'| from here on: the energy does not grow
    double hardest;
  };
  struct Happening {
    double t;
    std::size_t pair;
    bool is_impact;
  };

  void form_clusters();
  double pressure(const Cluster& cluster, std::size_t pair, double x, double v) const;
  std::optional<Happening> first_happening(double end) const;
  void move(double t);
  void collide(std::size_t pair, double t, int& left, std::vector<Impact>& impacts);
  void choose_contacts(std::size_t parted);
  bool touches(std::size_t pair) const { return x_[pair + 1] - x_[pair] <= 0.0; }

  const CollisionCase& what_;
  double size_ = 0.0;   // of positions, m
  double speed_ = 0.0;  // of speeds, m/s
  std::vector<double> x_, v_;
  std::vector<bool> contact_;  // by pair
  std::vector<Cluster> clusters_;
};

}  // namespace saltus
