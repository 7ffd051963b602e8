// Scores and states that are no numbers, said before an answer is made of them.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "qkv/model/model.h"

namespace qkv {

/// Throws Error: "<function>: <what> are not all numbers: blocks.0.attn.q.weight holds NaN", with the first parameter
/// of the model that holds NaN or an infinity, or that none does.
[[noreturn]] void fail_not_finite(const Model& model, std::string_view function, std::string_view what);

/// Throws as fail_not_finite() unless can_be_answers().
void require_numbers(const Model& model, std::string_view function, std::string_view what,
                     std::span<const double> values);

/// Whether none is NaN or infinity: -infinity is the score of what cannot be said.
[[nodiscard]] bool can_be_answers(std::span<const double> values) noexcept;

}  // namespace qkv
