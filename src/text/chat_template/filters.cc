#include "text/chat_template/filters.h"

#include <algorithm>
#include <array>

#include "text/chat_template/letters.h"

namespace qkv::text::jinja {
namespace {

using Test = bool (*)(Budget&, const Value&);
struct NamedTest {
  std::string_view name;
  Test holds;
};

bool is_integer(const Value& value) { return value.get<std::int64_t>() != nullptr; }
bool is_number_kind(const Value& value) { return value.number().has_value(); }

template <std::int64_t rest>
bool has_rest(Budget&, const Value& value) {
  const auto number = value.whole();
  if (!number) throw Fault("expected an integer that is odd or even, got " + kind_of(value));
  return (*number % 2 != 0) == (rest != 0);
}

template <LetterCase letter_case>
bool is_in_case(Budget& budget, const Value& value) {
  const MarkedText text = printed(budget, value);
  return in_case(text, letter_case).bytes() == text.bytes() &&
         in_case(text, letter_case == LetterCase::upper ? LetterCase::lower : LetterCase::upper).bytes() !=
             text.bytes();
}

constexpr std::array<NamedTest, 19> kTests = {{
    {"defined", [](Budget&, const Value& value) { return !value.is_undefined(); }},
    {"undefined", [](Budget&, const Value& value) { return value.is_undefined(); }},
    {"none", [](Budget&, const Value& value) { return value.is_none(); }},
    {"string", [](Budget&, const Value& value) { return value.text() != nullptr; }},
    {"mapping", [](Budget&, const Value& value) { return value.dict() != nullptr; }},
    {"number", [](Budget&, const Value& value) { return is_number_kind(value); }},
    {"integer", [](Budget&, const Value& value) { return is_integer(value); }},
    {"float", [](Budget&, const Value& value) { return value.get<double>() != nullptr; }},
    {"boolean", [](Budget&, const Value& value) { return value.get<bool>() != nullptr; }},
    {"true", [](Budget&, const Value& value) { return value.get<bool>() != nullptr && *value.get<bool>(); }},
    {"false", [](Budget&, const Value& value) { return value.get<bool>() != nullptr && !*value.get<bool>(); }},
    {"callable", [](Budget&, const Value& value) { return value.callable() != nullptr; }},
    {"iterable",
     [](Budget&, const Value& value) {
       return value.list() != nullptr || value.dict() != nullptr || value.text() != nullptr || value.is_undefined();
     }},
    {"sequence",
     [](Budget&, const Value& value) {
       const List* list = value.list();
       const bool is_indexed = list != nullptr && (list->kind == ListKind::list || list->kind == ListKind::tuple);
       return is_indexed || value.dict() != nullptr || value.text() != nullptr || value.is_undefined();
     }},
    {"odd", has_rest<1>},
    {"even", has_rest<0>},
    {"upper", is_in_case<LetterCase::upper>},
    {"lower", is_in_case<LetterCase::lower>},
    {"escaped", [](Budget&, const Value&) { return false; }},
}};

constexpr std::array<std::string_view, 18> kComparisons = {"eq", "equalto",     "==", "ne", "!=",     "lt",
                                                           "<",  "lessthan",    "le", "<=", "gt",     ">",
                                                           "ge", "greaterthan", ">=", "in", "sameas", "divisibleby"};

bool compares(Budget& budget, const std::string& name, const Value& value, const Value& other) {
  if (name == "eq" || name == "==" || name == "equalto") return equal(budget, value, other);
  if (name == "ne" || name == "!=") return !equal(budget, value, other);
  if (name == "lt" || name == "<" || name == "lessthan") return less(budget, value, other);
  if (name == "gt" || name == ">" || name == "greaterthan") return less(budget, other, value);
  if (name == "le" || name == "<=") return !less(budget, other, value);
  if (name == "ge" || name == ">=") return !less(budget, value, other);
  if (name == "in") return contains(budget, other, value);
  if (name == "sameas") return value.data.index() == other.data.index() && equal(budget, value, other);
  if (!value.whole() || !other.whole() || *other.whole() == 0) {
    throw Fault("divisibleby: expected two integers, and a divisor other than 0");
  }
  return *other.whole() == -1 || *value.whole() % *other.whole() == 0;
}

}  // namespace

Value filtered(Budget& budget, const std::string& name, const Value& value, const Arguments& arguments) {
  budget.step();
  Filter filter = filter_of_texts(name);
  if (filter == nullptr) filter = filter_of_lists(name);
  if (filter == nullptr) throw Fault("expected a filter of Jinja that chat templates use, got '" + name + "'");
  return filter(budget, value, arguments);
}

bool is_test(std::string_view name) {
  return std::ranges::find(kTests, name, &NamedTest::name) != kTests.end() ||
         std::ranges::find(kComparisons, name) != kComparisons.end() || name == "filter" || name == "test";
}

bool is_so(Budget& budget, const std::string& name, const Value& value, const Arguments& arguments) {
  budget.step();
  const auto found = std::ranges::find(kTests, name, &NamedTest::name);
  if (found != kTests.end()) {
    const Bound bound(name, arguments, {});
    return found->holds(budget, value);
  }
  if (std::ranges::find(kComparisons, name) != kComparisons.end()) {
    const Bound bound(name, arguments, {"other"});
    return compares(budget, name, value, bound.need(0));
  }
  if (name == "filter")
    return filter_of_texts(printed(budget, value).bytes()) != nullptr ||
           filter_of_lists(printed(budget, value).bytes()) != nullptr;
  if (name == "test") return is_test(printed(budget, value).bytes());
  throw Fault("expected a test of Jinja that chat templates use, got '" + name + "'");
}

}  // namespace qkv::text::jinja
