// What a model is given to read.
#pragma once

#include "../arrays.h"
#include "models.h"

namespace qkv::python {

/// As calls of Python have it; each may be None.
struct ReadArguments {
  std::optional<std::string> text;
  nb::object ids;
  std::optional<std::int64_t> example;
  nb::object image;
  std::optional<std::int64_t> answer;
};

/// Ids of tokens out of a list, a tuple or an array; whether a vocabulary has them is not looked at. Throws
/// InvalidArgument naming the argument for a number that is no id of any.
[[nodiscard]] std::vector<std::int32_t> token_ids_of(nb::handle ids, const Argument& argument);

/// Throws InvalidArgument naming `function` and the argument.
[[nodiscard]] Example example_of(std::string_view function, const TextModel& model, const ReadArguments& given);

}  // namespace qkv::python
