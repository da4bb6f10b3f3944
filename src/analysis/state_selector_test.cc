#include "analysis/state_selector.h"

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "analysis/analysed_mode.h"

namespace saltus {
namespace {

// Masses on rods of unit length, one hanging from the next or each from a hook of its own.
class Rods {
 public:
  Rods(int count, bool linked) : system_("rods") {
    for (int k = 0; k < count; ++k) {
      const std::string name = std::to_string(k);
      x_.push_back(system_.variable("x" + name));
      y_.push_back(system_.variable("y" + name));
    }
    Mode& mode = system_.mode("swinging");
    std::vector<Expr> fx(x_.size(), 0.0), fy(x_.size(), -9.81);
    for (std::size_t k = 0; k < x_.size(); ++k) {
      const std::string name = std::to_string(k);
      const Expr force = system_.variable("f" + name);
      const bool hangs_on_another = linked && k > 0;
      const Expr dx = hangs_on_another ? x_[k] - x_[k - 1] : x_[k];
      const Expr dy = hangs_on_another ? y_[k] - y_[k - 1] : y_[k];
      fx[k] -= force * dx;
      fy[k] -= force * dy;
      if (hangs_on_another) {
        fx[k - 1] += force * dx;
        fy[k - 1] += force * dy;
      }
      mode.equations.push_back(dx * dx + dy * dy == 1.0);
    }
    for (std::size_t k = 0; k < x_.size(); ++k) {
      const Expr u = system_.variable("u" + std::to_string(k));
      const Expr v = system_.variable("v" + std::to_string(k));
      mode.equations.push_back(der(x_[k]) == u);
      mode.equations.push_back(der(y_[k]) == v);
      mode.equations.push_back(der(u) == fx[k]);
      mode.equations.push_back(der(v) == fy[k]);
    }
    linked_ = linked;
    mode_ = analyse(system_, ModeId(0));
    data_ = mode_->dae->make_data();
    slopes_.assign(mode_->dae->unknown_count(), 0.0);
    selector_ = std::make_unique<StateSelector>(*mode_->reduced);
  }

  // Angles against the vertical.
  std::vector<std::size_t> select(const std::vector<double>& angles) {
    return selector_->select(data_, 0.0, place(angles).data(), slopes_.data());
  }
  bool stands(const std::vector<double>& angles, const std::vector<std::size_t>& states) {
    return selector_->stands(data_, 0.0, place(angles).data(), slopes_.data(), states);
  }
  // Whether x of this mass is a state.
  bool has_x(const std::vector<std::size_t>& states, std::size_t mass) const {
    for (const std::size_t k : states)
      if (mode_->dae->definition().unknowns[mode_->reduced->candidates[k]].same_as(x_[mass]))
        return true;
    return false;
  }

 private:
  std::vector<double> place(const std::vector<double>& angles) const {
    std::vector<double> values(mode_->dae->unknown_count(), 0.0);
    const auto& unknowns = mode_->dae->definition().unknowns;
    double x = 0.0;
    double y = 0.0;
    for (std::size_t k = 0; k < angles.size(); ++k) {
      x = (linked_ ? x : 0.0) + std::sin(angles[k]);
      y = (linked_ ? y : 0.0) - std::cos(angles[k]);
      for (std::size_t j = 0; j < unknowns.size(); ++j) {
        if (unknowns[j].same_as(x_[k])) values[j] = x;
        if (unknowns[j].same_as(y_[k])) values[j] = y;
      }
    }
    return values;
  }

  HybridSystem system_;
  std::vector<Expr> x_, y_;
  bool linked_ = false;
  std::unique_ptr<const AnalysedMode> mode_;
  DaeData data_;
  std::vector<double> slopes_;
  std::unique_ptr<StateSelector> selector_;
};

// d/dx and d/dy of x^2 + y^2 - 1 are as x to y: the constraint is solved for the larger one.
TEST(StateSelector, KeepsAStateUntilTheOtherIsThreeTimesBetter) {
  Rods pendulum(1, false);
  const auto hanging = pendulum.select({0.1});
  EXPECT_EQ(hanging.size(), 2u);
  EXPECT_TRUE(pendulum.has_x(hanging, 0));
  EXPECT_TRUE(pendulum.stands({std::atan(2.9)}, hanging));
  EXPECT_TRUE(pendulum.stands({-std::atan(2.9)}, hanging));
  EXPECT_FALSE(pendulum.stands({std::atan(3.1)}, hanging));
  const auto level = pendulum.select({std::atan(3.1)});
  EXPECT_FALSE(pendulum.has_x(level, 0));
  EXPECT_TRUE(pendulum.stands({std::atan(1.0 / 2.9)}, level));
  EXPECT_FALSE(pendulum.stands({-std::atan(1.0 / 3.1)}, level));
  EXPECT_FALSE(pendulum.stands({std::atan(3.1)}, hanging)) << "is not the last choice";
}

TEST(StateSelector, ChangesAllStatesThatAreWorseAtOnce) {
  Rods pendula(3, false);
  const auto hanging = pendula.select({0.1, 0.1, 0.1});
  for (const std::size_t k : {0u, 1u, 2u}) EXPECT_TRUE(pendula.has_x(hanging, k));
  const std::vector<double> later = {0.2, std::atan(1.2), std::atan(3.1)};
  ASSERT_FALSE(pendula.stands(later, hanging));
  const auto states = pendula.select(later);
  EXPECT_TRUE(pendula.has_x(states, 0));
  EXPECT_FALSE(pendula.has_x(states, 1));
  EXPECT_FALSE(pendula.has_x(states, 2));
}

// Looking at a chain in a mirror changes the sign of half of the entries and the size of none.
// Where the first link is vertical the height of its mass follows from the constraint, where it is
// level not at all. Chains of more than a hundred equations are eliminated in the order of least
// fill.
TEST(StateSelector, RepeatsTheEliminationOfAChain) {
  for (const int count : {5, 60}) {
    Rods chain(count, true);
    std::vector<double> angles, mirrored, turned;
    for (int k = 0; k < count; ++k) {
      angles.push_back(0.9 * std::sin(1.7 * k));
      mirrored.push_back(-angles.back());
    }
    const auto states = chain.select(angles);
    EXPECT_EQ(states.size(), 2u * static_cast<std::size_t>(count));
    EXPECT_TRUE(chain.stands(mirrored, states)) << count;
    turned = mirrored;
    turned[0] = std::acos(0.0);
    EXPECT_FALSE(chain.stands(turned, states)) << count;
    EXPECT_TRUE(chain.stands(angles, states)) << count;
  }
}

}  // namespace
}  // namespace saltus
