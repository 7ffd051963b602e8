// One vector for a whole text, against attention over all of it: two small models that repeat letters.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "qkv/api/field.h"
#include "qkv/api/member.h"
#include "qkv/tensor.h"

namespace qkv {

struct BottleneckRequest {
  std::string text = "alongsentencewillnotfit";
};

/// What a model wrote.
struct BottleneckAnswer {
  std::int64_t parameters = 0;
  std::vector<std::string> letters;
  std::vector<bool> right;
  std::int64_t rights = 0;
  Tensor sure;  // f64 [T]: the probability of the letter that was written
};

struct BottleneckReply {
  std::vector<std::string> letters;  // that were read
  std::int64_t longest = 0;          // texts in training
  std::int64_t most = 0;             // letters that can be asked for
  Tensor states;                     // f64 [T, H]: the one vector, after each letter
  Tensor share;                      // f64 [T, T]: of all that moves it after letter s, what letter t moves
  BottleneckAnswer vector, attention;
  Tensor weights;  // f64 [T, T]: of each answer on each state
  std::string sentence, crowding;
};

struct BottleneckLengthsRequest {
  std::int64_t texts = 64;
  std::int64_t to = 32;
};

struct BottleneckLengthsReply {
  std::vector<std::int64_t> lengths;
  Tensor vector, attention;              // f64 [n]: share of letters that are right
  Tensor vector_texts, attention_texts;  // f64 [n]: share of texts without a fault
  double chance = 0;
  std::int64_t longest = 0;
  std::string sentence;
};

[[nodiscard]] const Fields<BottleneckRequest>& bottleneck_fields();
[[nodiscard]] const Fields<BottleneckLengthsRequest>& bottleneck_lengths_fields();

[[nodiscard]] Members<BottleneckAnswer> describe(const BottleneckAnswer* answer);
[[nodiscard]] Members<BottleneckReply> describe(const BottleneckReply* reply);
[[nodiscard]] Members<BottleneckLengthsReply> describe(const BottleneckLengthsReply* reply);

}  // namespace qkv
