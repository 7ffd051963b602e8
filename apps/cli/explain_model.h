// qkv explain --model: a trained model on a text, as data that explain() takes.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "qkv/explain.h"
#include "qkv/explain_reading.h"

namespace qkv::cli {

struct ModelQuestion {
  std::string model;                                   // a name of the box, or a file
  std::optional<std::string> text = std::nullopt;      // what it reads; of a model of images, a PNG file
  std::optional<std::int64_t> example = std::nullopt;  // of the held-out ones of its task, in place of a text
  std::optional<std::string> site = std::nullopt;      // tokens, source or cross
  std::optional<std::int64_t> layer = std::nullopt;
  std::optional<std::string> query = std::nullopt;  // a token to write out, or its index
};

/// Reads the model, lets it answer where it writes what it was asked, and looks into every head. Where neither site nor
/// layer is said, the steps are those of the head that shows a pattern of the task best, or of the last layer. Throws
/// Error and InvalidArgument naming the option.
[[nodiscard]] Reading read_with_model(const ModelQuestion& question);

}  // namespace qkv::cli
