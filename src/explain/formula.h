// A formula is built once and read twice: as Unicode text in the terminal, as MathML in the page.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>

#include "qkv/explain.h"

namespace qkv::math {

using Term = Formula;

/// A name: one letter is set in italics, longer names upright. "Q", "softmax".
[[nodiscard]] Term name(std::string_view text);
[[nodiscard]] Term number(std::string_view digits);
/// "=", "·", "+", "≤". Spaces stand around it in the text, except around those that bind tightly.
[[nodiscard]] Term op(std::string_view symbol);
/// Words within a formula: "if", "where".
[[nodiscard]] Term words(std::string_view text);

/// A token of the text, which is no variable.
[[nodiscard]] Term token(std::string_view text);

[[nodiscard]] Term row(std::initializer_list<Term> terms);
[[nodiscard]] Term sub(const Term& base, const Term& index);
[[nodiscard]] Term sup(const Term& base, const Term& exponent);
[[nodiscard]] Term fraction(const Term& above, const Term& below);
[[nodiscard]] Term root(const Term& inside);
[[nodiscard]] Term parens(const Term& inside);
[[nodiscard]] Term sum(const Term& under, const Term& body);
/// softmax(…), exp(…)
[[nodiscard]] Term call(std::string_view function, const Term& argument);
/// The transpose.
[[nodiscard]] Term transposed(const Term& base);

/// A formula that is written as plain text, "S / sqrt(d_k) = Q K^T / 2"; words between are set as words.
[[nodiscard]] Term typeset(std::string_view text);

}  // namespace qkv::math
