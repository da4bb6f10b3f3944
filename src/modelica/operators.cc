#include "modelica/operators.h"

#include <fmt/format.h>

#include <cmath>

#include "base/error.h"
#include "base/stop_request.h"

namespace saltus {
namespace {

// A loop that doubles what it has is refused before it has filled the memory.
constexpr std::size_t kLongestText = 10'000'000;
constexpr double kMostElements = 1e7;

void need_numbers(const Value& v, const char* op, const Place& place) {
  if (!is_numeric(v.type))
    throw Error(fmt::format("'{}' needs numbers, not {}", op, spelling(v.type)), place.location());
}

Expr one(BinaryOperator op, const Expr& a, const Expr& b) {
  switch (op) {
    case BinaryOperator::kAdd:
    case BinaryOperator::kElementAdd:
      return a + b;
    case BinaryOperator::kSubtract:
    case BinaryOperator::kElementSubtract:
      return a - b;
    case BinaryOperator::kMultiply:
    case BinaryOperator::kElementMultiply:
      return a * b;
    case BinaryOperator::kDivide:
    case BinaryOperator::kElementDivide:
      return a / b;
    default:
      return pow(a, b);
  }
}

BasicType result_type(BinaryOperator op, const Value& a, const Value& b) {
  if (op == BinaryOperator::kDivide || op == BinaryOperator::kElementDivide ||
      op == BinaryOperator::kPower || op == BinaryOperator::kElementPower)
    return BasicType::kReal;
  return a.type == BasicType::kInteger && b.type == BasicType::kInteger ? BasicType::kInteger
                                                                        : BasicType::kReal;
}

Value elementwise(BinaryOperator op, const Value& a, const Value& b, const Place& place) {
  Value result = a.is_scalar() ? b : a;
  result.type = result_type(op, a, b);
  result.definition = nullptr;
  if (!a.is_scalar() && !b.is_scalar() && a.dimensions != b.dimensions)
    throw Error(fmt::format("'{}' of arrays of different shape: {} and {}", spelling(op),
                            to_text(a.dimensions), to_text(b.dimensions)),
                place.location());
  for (std::size_t i = 0; i < result.numbers.size(); ++i)
    result.numbers[i] = one(op, a.numbers[a.is_scalar() ? 0 : i], b.numbers[b.is_scalar() ? 0 : i]);
  return result;
}

Value matrix_product(const Value& a, const Value& b, const Place& place) {
  const auto wrong = [&]() {
    return Error(fmt::format("'*' of {} and {}: the shapes do not fit", to_text(a.dimensions),
                             to_text(b.dimensions)),
                 place.location());
  };
  if (a.dimensions.size() > 2 || b.dimensions.size() > 2) throw wrong();
  const std::size_t rows = a.dimensions.size() == 2 ? a.dimensions[0] : 1;
  const std::size_t inner = a.dimensions.back();
  const std::size_t columns = b.dimensions.size() == 2 ? b.dimensions[1] : 1;
  if (b.dimensions[0] != inner) throw wrong();
  require_size({rows, columns}, place);
  std::vector<Expr> numbers;
  for (std::size_t i = 0; i < rows; ++i) {
    check_stop();
    for (std::size_t j = 0; j < columns; ++j) {
      Expr sum = 0.0;
      for (std::size_t k = 0; k < inner; ++k)
        sum += a.numbers[i * inner + k] * b.numbers[k * columns + j];
      numbers.push_back(sum);
    }
  }
  Dimensions shape;
  if (a.dimensions.size() == 2) shape.push_back(rows);
  if (b.dimensions.size() == 2) shape.push_back(columns);
  return Value::array(result_type(BinaryOperator::kMultiply, a, b), shape, std::move(numbers));
}

}  // namespace

void require_size(const Dimensions& shape, const Place& place) {
  double count = 1.0;
  for (const std::size_t d : shape) count *= static_cast<double>(d);
  if (count > kMostElements)
    throw Error(fmt::format("an array of {:g} elements: too many", count), place.location());
}

Value negate(const Value& a, const Place& place) {
  need_numbers(a, "-", place);
  return map_numbers(a, a.type, [](const Expr& x) { return -x; });
}

Value arithmetic(BinaryOperator op, const Value& a, const Value& b, const Place& place) {
  if (op == BinaryOperator::kAdd && a.type == BasicType::kString && b.type == BasicType::kString &&
      a.is_scalar() && b.is_scalar()) {
    if (a.text().size() + b.text().size() > kLongestText)
      throw Error(fmt::format("a text with more than {} characters", kLongestText),
                  place.location());
    return Value::string(a.text() + b.text());
  }
  need_numbers(a, spelling(op), place);
  need_numbers(b, spelling(op), place);
  switch (op) {
    case BinaryOperator::kAdd:
    case BinaryOperator::kSubtract:
      if (a.is_scalar() != b.is_scalar())
        throw Error(fmt::format("'{}' of a scalar and an array; '.{}' adds it to every element",
                                spelling(op), spelling(op)),
                    place.location());
      return elementwise(op, a, b, place);
    case BinaryOperator::kMultiply:
      if (a.is_scalar() || b.is_scalar()) return elementwise(op, a, b, place);
      return matrix_product(a, b, place);
    case BinaryOperator::kDivide:
      if (!b.is_scalar())
        throw Error("'/' by an array; './' divides element by element", place.location());
      return elementwise(op, a, b, place);
    case BinaryOperator::kPower:
      if (!a.is_scalar() || !b.is_scalar()) {
        constexpr double kMostFactors = 1000.0;
        const bool square = a.dimensions.size() == 2 && a.dimensions[0] == a.dimensions[1];
        const double power =
            b.is_scalar() && b.number().is_number() ? b.number().number() : std::nan("");
        if (!square || !(power >= 0.0) || power > kMostFactors || power != std::floor(power))
          throw Error(
              fmt::format("'^' of {}: square matrices have powers 0 to {}; '.^' takes powers "
                          "element by element",
                          to_text(a.dimensions), kMostFactors),
              place.location());
        Value result = a;
        if (power == 0.0) {
          const std::size_t n = a.dimensions[0];
          for (std::size_t i = 0; i < result.numbers.size(); ++i)
            result.numbers[i] = i % (n + 1) == 0 ? 1.0 : 0.0;
        }
        for (double k = 1.0; k < power; ++k) result = matrix_product(result, a, place);
        return result;
      }
      return elementwise(op, a, b, place);
    default:
      return elementwise(op, a, b, place);
  }
}

Value promoted(Value value, std::size_t rank) {
  while (value.dimensions.size() < rank) value.dimensions.push_back(1);
  return value;
}

Value concatenate(std::size_t dimension, const std::vector<Value>& parts, const Place& place) {
  if (parts.size() == 1) return parts.front();
  Dimensions shape = parts.front().dimensions;
  if (dimension >= shape.size())
    throw Error(fmt::format("cannot join {} along dimension {}", to_text(shape), dimension + 1),
                place.location());
  shape[dimension] = 0;
  Value result = parts.front();
  for (const Value& part : parts) {
    if (part.dimensions.size() != shape.size())
      throw Error(fmt::format("cannot join {} and {}", to_text(parts.front().dimensions),
                              to_text(part.dimensions)),
                  place.location());
    for (std::size_t k = 0; k < shape.size(); ++k)
      if (k != dimension && part.dimensions[k] != shape[k])
        throw Error(fmt::format("cannot join {} and {}: the other sizes differ",
                                to_text(parts.front().dimensions), to_text(part.dimensions)),
                    place.location());
    shape[dimension] += part.dimensions[dimension];
    result.type = common_type(result, part, place);
  }
  require_size(shape, place);
  Dimensions head(shape.begin(), shape.begin() + static_cast<std::ptrdiff_t>(dimension));
  result.numbers.clear();
  result.strings.clear();
  result.records.clear();
  for (std::size_t h = 0; h < element_count(head); ++h)
    for (const Value& part : parts) {
      const std::size_t block = part.count() / std::max<std::size_t>(1, element_count(head));
      const auto copy = [&](auto& to, const auto& from) {
        if (from.empty()) return;
        const auto begin = from.begin() + static_cast<std::ptrdiff_t>(h * block);
        to.insert(to.end(), begin, begin + static_cast<std::ptrdiff_t>(block));
      };
      copy(result.numbers, part.numbers);
      copy(result.strings, part.strings);
      copy(result.records, part.records);
    }
  result.dimensions = shape;
  return result;
}

Value transposed(const Value& matrix, const Place& place) {
  if (matrix.dimensions.size() != 2)
    throw Error(fmt::format("transpose of {}", to_text(matrix.dimensions)), place.location());
  const std::size_t rows = matrix.dimensions[0];
  const std::size_t columns = matrix.dimensions[1];
  Value result = matrix;
  result.dimensions = {columns, rows};
  for (std::size_t i = 0; i < rows; ++i)
    for (std::size_t j = 0; j < columns; ++j)
      result.numbers[j * rows + i] = matrix.numbers[i * columns + j];
  return result;
}

}  // namespace saltus
