// What a model is asked: the example that it reads, and how much of it was given rather than written.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "qkv/explain/model.h"

namespace qkv::explain_detail {

inline constexpr const char* kExplainModel = "explain_model";

struct Asked {
  Example shown;
  std::vector<Example> pairs = {};        // of a two-tower model: the image beside each caption, `shown` first
  std::size_t prompt = 0;                 // tokens that were given, not written
  std::vector<std::string> sources = {};  // of the tokens of a conversation that were given, as ReadExample has them
  bool is_open = false;                   // the answer's last token is what is said at the last place
};

[[nodiscard]] bool is_pair(const TextModel& trained);

/// Lets the model write where it is asked to, and marks what the task asks of a text. Throws InvalidArgument naming the
/// member of the question.
[[nodiscard]] Asked asked_of(const TextModel& trained, const ModelQuestion& question);

[[noreturn]] void refuse(const char* argument, const std::string& expected, const std::string& got);

}  // namespace qkv::explain_detail
