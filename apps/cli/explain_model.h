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
  std::optional<std::string> query = std::nullopt;     // a token to write out, or its index
  std::optional<std::int64_t> answer = std::nullopt;   // tokens to write after the text
  std::optional<std::string> captions = std::nullopt;  // of a two-tower model, parted by |
};

/// Reads the model, lets it answer where it writes what it was asked, and looks into every head. Of the sites and
/// layers that the question leaves open, the steps are those of the head that shows a pattern of the task best on 16
/// held-out examples; without a pattern, of the last layer, across where the model has such attention. Throws Error and
/// InvalidArgument naming the option.
[[nodiscard]] Reading read_with_model(const ModelQuestion& question);

}  // namespace qkv::cli
