#include "explain/formula.h"

#include <fmt/format.h>

#include <array>
#include <optional>
#include <utility>

#include "picture/xml_text.h"

namespace qkv::math {
namespace {

using picture::xml_escaped;
using Pair = std::pair<std::string_view, std::string_view>;

constexpr std::array<Pair, 24> kSubscripts = {{
    {"0", "₀"}, {"1", "₁"}, {"2", "₂"}, {"3", "₃"}, {"4", "₄"}, {"5", "₅"}, {"6", "₆"}, {"7", "₇"},
    {"8", "₈"}, {"9", "₉"}, {"a", "ₐ"}, {"e", "ₑ"}, {"h", "ₕ"}, {"i", "ᵢ"}, {"j", "ⱼ"}, {"k", "ₖ"},
    {"l", "ₗ"}, {"m", "ₘ"}, {"n", "ₙ"}, {"p", "ₚ"}, {"s", "ₛ"}, {"t", "ₜ"}, {"+", "₊"}, {"-", "₋"},
}};
constexpr std::array<Pair, 4> kSuperscripts = {{{"2", "²"}, {"3", "³"}, {"T", "ᵀ"}, {"h", "ʰ"}}};

template <std::size_t N>
std::optional<std::string> small_letters(std::string_view text, const std::array<Pair, N>& letters) {
  std::string small;
  for (const char letter : text) {
    auto found = letters.begin();
    while (found != letters.end() && found->first != std::string_view(&letter, 1)) ++found;
    if (found == letters.end()) return std::nullopt;
    small += found->second;
  }
  return small;
}

std::string element(std::string_view tag, std::string_view content) {
  return fmt::format("<{0}>{1}</{0}>", tag, content);
}

// Parentheses grow with a fraction inside them, and stay as they are around a line.
std::string in_parentheses(std::string_view mathml) {
  const std::string_view stretchy = mathml.find("<mfrac>") == std::string_view::npos ? " stretchy=\"false\"" : "";
  return fmt::format("<mo{0}>(</mo>{1}<mo{0}>)</mo>", stretchy, mathml);
}

// One thing to the eye: no space outside of its brackets.
bool is_atom(std::string_view text) {
  int depth = 0;
  for (const char letter : text) {
    if (letter == '(' || letter == '[') ++depth;
    if (letter == ')' || letter == ']') --depth;
    if (letter == ' ' && depth == 0) return false;
  }
  return true;
}

std::string bracketed(const std::string& text) { return is_atom(text) ? text : fmt::format("({})", text); }

bool binds_tightly(std::string_view symbol) {
  for (const std::string_view tight : {"(", ")", ",", "[", "]", "|", "‖", "−‖"}) {
    if (symbol == tight) return true;
  }
  return false;
}

// Two indices in one place, "ij", are two variables.
std::string index_mathml(const Term& index) {
  const bool is_pair = index.text.size() == 2 && index.text[0] >= 'a' && index.text[0] <= 'z' && index.text[1] >= 'a' &&
                       index.text[1] <= 'z' && index.mathml.starts_with("<mi>");
  if (!is_pair) return index.mathml;
  return fmt::format("<mrow><mi>{}</mi><mi>{}</mi></mrow>", index.text[0], index.text[1]);
}

}  // namespace

Term name(std::string_view text) { return {std::string(text), element("mi", xml_escaped(text))}; }

Term number(std::string_view digits) { return {std::string(digits), element("mn", digits)}; }

Term op(std::string_view symbol) {
  const bool tight = binds_tightly(symbol);
  const std::string_view before = tight ? "" : " ";
  const std::string_view after = tight && symbol != "," ? "" : " ";
  return {fmt::format("{}{}{}", before, symbol, after), element("mo", xml_escaped(symbol))};
}

Term words(std::string_view text) {
  return {" " + std::string(text) + " ",
          "<mspace width=\"0.5em\"/>" + element("mtext", xml_escaped(text)) + "<mspace width=\"0.5em\"/>"};
}

Term token(std::string_view text) { return {std::string(text), element("mtext", xml_escaped(text))}; }

Term row(std::initializer_list<Term> terms) {
  Term result;
  for (const Term& term : terms) {
    result.text += term.text;
    result.mathml += term.mathml;
  }
  result.mathml = element("mrow", result.mathml);
  return result;
}

Term sub(const Term& base, const Term& index) {
  const bool is_token = index.mathml.starts_with("<mtext>");
  const auto small = is_token ? std::nullopt : small_letters(index.text, kSubscripts);
  return {base.text + small.value_or("_" + index.text), element("msub", base.mathml + index_mathml(index))};
}

Term sup(const Term& base, const Term& exponent) {
  const auto small = small_letters(exponent.text, kSuperscripts);
  return {base.text + small.value_or("^" + bracketed(exponent.text)), element("msup", base.mathml + exponent.mathml)};
}

Term fraction(const Term& above, const Term& below) {
  return {bracketed(above.text) + " / " + bracketed(below.text), element("mfrac", above.mathml + below.mathml)};
}

Term root(const Term& inside) { return {"√" + bracketed(inside.text), element("msqrt", inside.mathml)}; }

Term parens(const Term& inside) {
  return {fmt::format("({})", inside.text), fmt::format("<mrow>{}</mrow>", in_parentheses(inside.mathml))};
}

Term sum(const Term& under, const Term& body) {
  const auto small = small_letters(under.text, kSubscripts);
  return {"Σ" + small.value_or("_" + bracketed(under.text)) + " " + body.text,
          element("mrow", element("munder", "<mo>∑</mo>" + under.mathml) + body.mathml)};
}

Term call(std::string_view function, const Term& argument) {
  return {fmt::format("{}({})", function, argument.text),
          fmt::format("<mrow><mi>{}</mi><mo>&#x2061;</mo>{}</mrow>", xml_escaped(function),
                      in_parentheses(argument.mathml))};
}

Term transposed(const Term& base) { return sup(base, {"T", "<mi mathvariant=\"normal\">⊤</mi>"}); }

}  // namespace qkv::math
