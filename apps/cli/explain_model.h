// qkv explain --model: the options of a trained model, and what is asked of it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "cli11_names.h"
#include "qkv/explain.h"

namespace qkv::cli {

struct TrainedArguments {
  std::string model;                                   // a name of the box, or a file; empty without --model
  std::optional<std::int64_t> example = std::nullopt;  // of the held-out ones of its task, in place of a text
  std::optional<std::string> site = std::nullopt;      // tokens, source or cross
  std::optional<std::int64_t> layer = std::nullopt;
  std::optional<std::string> head = std::nullopt;      // "1.5": layer 1, head 5
  std::optional<std::int64_t> answer = std::nullopt;   // tokens to write after the text
  std::optional<std::string> captions = std::nullopt;  // of a two-tower model, parted by |
};

void add_trained_options(CLI::App& command, TrainedArguments& arguments);

/// What the explanation is to hold beside the usual.
struct TrainedParts {
  std::optional<std::string> query = std::nullopt;
  bool blocks = false;
  bool whys = false;
};

/// `text` is a PNG file of a model that reads images. Throws Error and what names the option.
[[nodiscard]] Explanation explain_trained(const TrainedArguments& arguments, const std::optional<std::string>& text,
                                          const TrainedParts& parts);

}  // namespace qkv::cli
