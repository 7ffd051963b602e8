// Filters of strings and numbers.
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "core/number_text.h"
#include "text/chat_template/filters.h"
#include "text/chat_template/letters.h"
#include "text/chat_template/methods.h"

namespace qkv::text::jinja {
namespace {

struct TextFilter {
  std::string_view name;
  Filter call;
};

Value trim(Budget& budget, const Value& value, const Arguments& arguments) {
  const Bound bound("trim", arguments, {"chars"});
  const MarkedText text = printed(budget, value);
  const bool has_characters = bound.at(0) && !bound.at(0)->is_none();
  const Span kept =
      has_characters ? stripped(text.bytes(), bound.text(0).bytes(), Sides::both) : stripped(text.bytes(), Sides::both);
  return marked_text(budget, text.slice(kept.begin, kept.end));
}

template <LetterCase letter_case>
Value filter_case(Budget& budget, const Value& value, const Arguments& arguments) {
  const Bound bound("a filter that changes letters", arguments, {});
  const MarkedText text = printed(budget, value);
  budget.make(text.size());
  return marked_text(budget, in_case(text, letter_case));
}

Value replace_filter(Budget& budget, const Value& value, const Arguments& arguments) {
  const Bound bound("replace", arguments, {"old", "new", "count"});
  const MarkedText old = printed(budget, bound.need(0));
  const MarkedText now = printed(budget, bound.need(1));
  return marked_text(budget, replaced(budget, printed(budget, value), old, now, bound.whole(2, -1)));
}

Value as_text(Budget& budget, const Value& value, const Arguments& arguments) {
  const Bound bound("string", arguments, {});
  return marked_text(budget, printed(budget, value));
}

Value escape(Budget& budget, const Value& value, const Arguments& arguments) {
  const Bound bound("escape", arguments, {});
  const MarkedText text = printed(budget, value);
  constexpr std::string_view kEscaped = "&<>'\"";
  constexpr std::array<std::string_view, 5> kNames = {"&amp;", "&lt;", "&gt;", "&#39;", "&#34;"};
  MarkedText made;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const std::size_t known = kEscaped.find(text.bytes()[at]);
    if (known == std::string_view::npos) {
      made.append(text, at, at + 1);
    } else {
      made.append_for(text, at, kNames[known]);
    }
  }
  return marked_text(budget, std::move(made));
}

Value to_json(Budget& budget, const Value& value, const Arguments& arguments) {
  const Bound bound("tojson", arguments, {"ensure_ascii", "indent", "separators", "sort_keys"});
  constexpr std::int64_t kMost = 64;
  if (bound.truth(0)) throw Fault("tojson: expected ensure_ascii=false, got true");
  if (bound.at(2) && !bound.at(2)->is_none()) throw Fault("tojson: expected the usual separators, got others");
  JsonLayout layout{.sort_keys = bound.truth(3)};
  const std::int64_t indent = bound.whole(1, -1);
  if (indent > kMost) throw Fault("tojson: expected an indent of at most 64, got " + std::to_string(indent));
  if (bound.at(1) && !bound.at(1)->is_none())
    layout.indent = static_cast<std::size_t>(std::max<std::int64_t>(indent, 0));
  return marked_text(budget, as_json(budget, value, layout));
}

Value indent(Budget& budget, const Value& value, const Arguments& arguments) {
  const Bound bound("indent", arguments, {"width", "first", "blank"});
  constexpr std::int64_t kWidth = 4;
  constexpr std::int64_t kMost = 4096;
  const bool is_text = bound.at(0) && bound.at(0)->text() != nullptr;
  const MarkedText by =
      is_text ? bound.text(0)
              : MarkedText(std::string(
                    static_cast<std::size_t>(std::clamp<std::int64_t>(bound.whole(0, kWidth), 0, kMost)), ' '));
  MarkedText text = printed(budget, value);
  text.append("\n");
  const std::vector<MarkedText> lines = lines_of(text);
  MarkedText made;
  if (bound.truth(1)) made.append(by);
  for (std::size_t n = 0; n < lines.size(); ++n) {
    budget.make(lines[n].size() + by.size());
    if (n > 0) made.append("\n");
    if (n > 0 && (bound.truth(2) || lines[n].size() > 0)) made.append(by);
    made.append(lines[n]);
  }
  return marked_text(budget, std::move(made));
}

std::optional<double> float_of(const Value& value) {
  if (const auto number = value.number()) return number;
  const MarkedText* text = value.text();
  if (text == nullptr) return std::nullopt;
  const Span kept = stripped(text->bytes(), Sides::both);
  std::string_view digits = std::string_view(text->bytes()).substr(kept.begin, kept.end - kept.begin);
  if (digits.starts_with('+')) digits.remove_prefix(1);
  return core::number_from<double>(digits);
}

Value as_integer(Budget& budget, const Value& value, const Arguments& arguments) {
  const Bound bound("int", arguments, {"default", "base"});
  constexpr std::int64_t kTen = 10;
  constexpr double kLimit = 9.2e18;
  budget.step();
  if (bound.whole(1, kTen) != kTen) throw Fault("int: expected the base 10, got another");
  if (const auto number = value.whole()) return whole(*number);
  if (const MarkedText* text = value.text()) {
    const Span kept = stripped(text->bytes(), Sides::both);
    std::string_view digits = std::string_view(text->bytes()).substr(kept.begin, kept.end - kept.begin);
    if (digits.starts_with('+')) digits.remove_prefix(1);
    if (const auto number = core::number_from<std::int64_t>(digits)) return whole(*number);
  }
  const auto number = float_of(value);
  if (number && std::abs(*number) < kLimit) return whole(static_cast<std::int64_t>(*number));
  return bound.at(0) ? *bound.at(0) : whole(0);
}

Value as_float(Budget& budget, const Value& value, const Arguments& arguments) {
  const Bound bound("float", arguments, {"default"});
  budget.step();
  if (const auto number = float_of(value)) return real(*number);
  return bound.at(0) ? *bound.at(0) : real(0);
}

Value magnitude(Budget& budget, const Value& value, const Arguments& arguments) {
  const Bound bound("abs", arguments, {});
  budget.step();
  if (const auto number = value.whole(); number && *number != std::numeric_limits<std::int64_t>::min()) {
    return whole(std::abs(*number));
  }
  if (const auto* number = value.get<double>()) return real(std::abs(*number));
  throw Fault("abs: expected a number, got " + kind_of(value));
}

Value rounded(Budget& budget, const Value& value, const Arguments& arguments) {
  const Bound bound("round", arguments, {"precision", "method"});
  budget.step();
  const auto number = value.number();
  if (!number) throw Fault("round: expected a number, got " + kind_of(value));
  constexpr double kTen = 10;
  constexpr std::int64_t kMost = 15;
  const std::string method = bound.at(1) ? bound.text(1).bytes() : "common";
  const double scale = std::pow(kTen, static_cast<double>(std::clamp(bound.whole(0, 0), -kMost, kMost)));
  if (method == "ceil") return real(std::ceil(*number * scale) / scale);
  if (method == "floor") return real(std::floor(*number * scale) / scale);
  if (method == "common") return real(std::nearbyint(*number * scale) / scale);
  throw Fault("round: expected the method common, ceil or floor, got '" + method + "'");
}

constexpr std::array<TextFilter, 17> kTextFilters = {{
    {"trim", trim},
    {"upper", filter_case<LetterCase::upper>},
    {"lower", filter_case<LetterCase::lower>},
    {"title", filter_case<LetterCase::title_of_words>},
    {"capitalize", filter_case<LetterCase::capitalized>},
    {"replace", replace_filter},
    {"string", as_text},
    {"safe", as_text},
    {"escape", escape},
    {"e", escape},
    {"forceescape", escape},
    {"tojson", to_json},
    {"indent", indent},
    {"int", as_integer},
    {"float", as_float},
    {"abs", magnitude},
    {"round", rounded},
}};

}  // namespace

Filter filter_of_texts(std::string_view name) {
  const auto found = std::ranges::find(kTextFilters, name, &TextFilter::name);
  return found == kTextFilters.end() ? nullptr : found->call;
}

}  // namespace qkv::text::jinja
