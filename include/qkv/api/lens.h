// What a model would say after each layer: `qkv lens`, and lens() of Python.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "qkv/api/field.h"
#include "qkv/api/member.h"
#include "qkv/api/saying.h"
#include "qkv/api/texts.h"
#include "qkv/insight/lens.h"

namespace qkv {

struct LensRequest {
  std::string model;
  std::string dtype = {};  // f32
  TextQuestion of;
  std::string picture = {}, sound = {};  // in place of a text
  ChatRequest talk = {};                 // whose message the text is
};

[[nodiscard]] const Fields<LensRequest>& lens_fields();

struct LensToken {
  std::int64_t token = 0;
  std::string piece;
  double probability = 0;
};

struct LensLayer {
  std::string layer;
  double logit = 0, probability = 0;
  std::int64_t rank = 0;
  std::vector<double> answer_probabilities;
  std::vector<LensToken> said;
};

struct LensLayerParts {
  std::vector<double> heads, cross;
  double biases = 0, feed_forward = 0;
};

struct LensParts {
  double logit = 0, sum = 0, input = 0, last_biases = 0;
  std::optional<std::string> against;
  std::vector<LensLayerParts> layers;
  std::vector<std::vector<std::vector<double>>> keys;  // [layers][heads][keys]
  std::vector<std::string> cross_key_tokens;
  std::vector<std::vector<std::vector<double>>> cross_keys;
};

/// What `qkv lens --json` prints.
struct LensFigures {
  std::string model;
  std::vector<std::string> tokens, sources;
  std::int64_t place = 0;
  std::string answer;
  bool is_expected = false;
  std::vector<LensLayer> layers;
  std::optional<LensParts> parts;
  std::vector<std::string> cautions;
};

/// Opens the model. Throws as lens_report().
[[nodiscard]] LensReport found_lens(const LensRequest& request, const Saying& saying = {});
[[nodiscard]] LensFigures answer(const LensRequest& request, const Saying& saying = {});

/// `model` says whose.
[[nodiscard]] LensFigures lens_figures(const LensReport& report, const std::string& model);

[[nodiscard]] Members<LensToken> describe(const LensToken* token);
[[nodiscard]] Members<LensLayer> describe(const LensLayer* layer);
[[nodiscard]] Members<LensLayerParts> describe(const LensLayerParts* parts);
[[nodiscard]] Members<LensParts> describe(const LensParts* parts);
[[nodiscard]] Members<LensFigures> describe(const LensFigures* figures);

}  // namespace qkv
