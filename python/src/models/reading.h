// What a model is given to read.
#pragma once

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

/// Throws InvalidArgument naming `function` and the argument.
[[nodiscard]] TaskExample example_of(std::string_view function, const TrainedModel& model, const ReadArguments& given);

}  // namespace qkv::python
