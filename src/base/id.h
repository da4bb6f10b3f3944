#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>

namespace saltus {

// An index that cannot be mistaken for another kind of index: Id<struct VariableTag> and
// Id<struct ModeTag> do not convert into each other.
template <class Tag>
struct Id {
  std::uint32_t value = 0;

  constexpr Id() = default;
  constexpr explicit Id(std::size_t index) : value(static_cast<std::uint32_t>(index)) {}
  constexpr std::size_t index() const { return value; }
  auto operator<=>(const Id&) const = default;
};

using VariableId = Id<struct VariableTag>;
using ParameterId = Id<struct ParameterTag>;
using SlotId = Id<struct SlotTag>;
using ModeId = Id<struct ModeTag>;

}  // namespace saltus

template <class Tag>
struct std::hash<saltus::Id<Tag>> {
  std::size_t operator()(saltus::Id<Tag> id) const noexcept { return id.value; }
};
