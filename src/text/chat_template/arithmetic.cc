#include <cmath>
#include <limits>

#include "text/chat_template/operators.h"

namespace qkv::text::jinja {
namespace {

[[noreturn]] void fail_of_kinds(std::string_view operation, const Value& a, const Value& b) {
  for (const Value* value : {&a, &b}) {
    if (const auto* none = value->get<Undefined>()) throw Fault("expected a value, but " + none->why);
  }
  throw Fault("expected values that " + std::string(operation) + " takes, got " + kind_of(a) + " and " + kind_of(b));
}

void require_no_overflow(bool overflows) {
  if (overflows) throw Fault("expected an integer of at most 64 bits, got a greater one");
}

std::int64_t floor_quotient(std::int64_t a, std::int64_t b) {
  require_no_overflow(b == -1 && a == std::numeric_limits<std::int64_t>::min());
  const std::int64_t quotient = a / b;
  return a % b != 0 && (a < 0) != (b < 0) ? quotient - 1 : quotient;
}

Value power(std::int64_t a, std::int64_t b) {
  if (b < 0) return real(std::pow(static_cast<double>(a), static_cast<double>(b)));
  if (a == 0 || a == 1) return whole(b == 0 ? 1 : a);
  if (a == -1) return whole(b % 2 == 0 ? 1 : -1);
  std::int64_t result = 1;
  for (; b > 0; --b) require_no_overflow(__builtin_mul_overflow(result, a, &result));
  return whole(result);
}

Value of_integers(std::string_view operation, std::int64_t a, std::int64_t b) {
  std::int64_t result = 0;
  if (operation == "+" || operation == "-" || operation == "*") {
    require_no_overflow(operation == "+"   ? __builtin_add_overflow(a, b, &result)
                        : operation == "-" ? __builtin_sub_overflow(a, b, &result)
                                           : __builtin_mul_overflow(a, b, &result));
    return whole(result);
  }
  if (operation == "**") return power(a, b);
  if (b == 0) throw Fault("expected a divisor other than 0");
  if (operation == "/") return real(static_cast<double>(a) / static_cast<double>(b));
  if (operation == "//") return whole(floor_quotient(a, b));
  return whole(b == -1 ? 0 : ((a % b) + b) % b);
}

Value of_floats(std::string_view operation, double a, double b) {
  if (operation == "+") return real(a + b);
  if (operation == "-") return real(a - b);
  if (operation == "*") return real(a * b);
  if (operation == "**") return real(std::pow(a, b));
  if (b == 0) throw Fault("expected a divisor other than 0");
  if (operation == "/") return real(a / b);
  if (operation == "//") return real(std::floor(a / b));
  const double rest = std::fmod(a, b);
  return real(rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest);
}

Value joined(Budget& budget, const List& a, const List& b) {
  budget.make((a.items.size() + b.items.size()) * sizeof(Value));
  std::vector<Value> items = a.items;
  items.insert(items.end(), b.items.begin(), b.items.end());
  return list_of(budget, std::move(items), a.kind);
}

bool is_sequence(const List* list) {
  return list != nullptr && (list->kind == ListKind::list || list->kind == ListKind::tuple);
}

Value repeated(Budget& budget, const Value& value, std::int64_t count) {
  const std::size_t size = value.text() != nullptr ? value.text()->size() : value.list()->items.size() * sizeof(Value);
  const auto times = static_cast<std::size_t>(count < 0 || size == 0 ? 0 : count);
  if (size != 0 && times > std::numeric_limits<std::size_t>::max() / size) budget.make(times);
  budget.make(size * times);
  if (const MarkedText* text = value.text()) {
    MarkedText made;
    for (std::size_t n = 0; n < times; ++n) made.append(*text);
    return marked_text(budget, std::move(made));
  }
  std::vector<Value> items;
  for (std::size_t n = 0; n < times; ++n) {
    items.insert(items.end(), value.list()->items.begin(), value.list()->items.end());
  }
  return list_of(budget, std::move(items), value.list()->kind);
}

}  // namespace

Value arithmetic(Budget& budget, std::string_view operation, const Value& a, const Value& b) {
  if (a.whole() && b.whole()) return of_integers(operation, *a.whole(), *b.whole());
  if (a.number() && b.number()) return of_floats(operation, *a.number(), *b.number());
  if (operation == "+") {
    if (a.text() != nullptr && b.text() != nullptr) {
      budget.make(a.text()->size() + b.text()->size());
      MarkedText made = *a.text();
      made.append(*b.text());
      return marked_text(budget, std::move(made));
    }
    if (is_sequence(a.list()) && is_sequence(b.list()) && a.list()->kind == b.list()->kind) {
      return joined(budget, *a.list(), *b.list());
    }
  }
  if (operation == "*") {
    if ((a.text() != nullptr || is_sequence(a.list())) && b.whole()) return repeated(budget, a, *b.whole());
    if ((b.text() != nullptr || is_sequence(b.list())) && a.whole()) return repeated(budget, b, *a.whole());
  }
  fail_of_kinds(operation, a, b);
}

Value with_sign(std::string_view sign, const Value& value) {
  if (const auto number = value.whole()) {
    return of_integers(sign, 0, *number);
  }
  if (const auto* number = value.get<double>()) return real(sign == "-" ? -*number : *number);
  fail_of_kinds(sign, value, value);
}

}  // namespace qkv::text::jinja
