// Which fields of the question explain have a meaning beside each other.
#include <algorithm>
#include <array>
#include <string_view>

#include "api/fields/refuse.h"
#include "qkv/api/explain.h"

namespace qkv {
namespace {

constexpr std::array<std::string_view, 6> kOfDrawnModels = {"heads", "kv_heads", "d_model", "d_k", "d_v", "positions"};
constexpr std::array<std::string_view, 8> kOfScores = {"causal",  "mask",    "bias",    "scale",
                                                       "softcap", "context", "dropout", "seed"};
constexpr std::array<std::string_view, 4> kOfPlaces = {"site", "layer", "head", "answer"};
constexpr std::array<std::string_view, 3> kOwn = {"q", "k", "v"};

// Looks at one field after the other, and keeps the first that clashes.
struct ExplainClash {
  std::string field;   // "block", "bias"
  std::string beside;  // "`q`": what it cannot be combined with; empty where it needs what `why` says
  std::string why;
  std::string got = "none";
};

class Rules {
 public:
  explicit Rules(const ExplainGiven& given) : given_(given) {}

  [[nodiscard]] bool has(std::string_view field) const { return given_.fields.contains(field); }
  [[nodiscard]] bool has_any(std::span<const std::string_view> fields) const {
    return std::ranges::any_of(fields, [this](std::string_view field) { return has(field); });
  }

  void exclude(std::string_view beside, std::string_view why, std::span<const std::string_view> fields) {
    for (const std::string_view field : fields) {
      if (has(field)) clash(field, beside, why, beside.empty() ? "none" : "one");
    }
  }
  void exclude(std::string_view beside, std::string_view why, std::string_view field) {
    exclude(beside, why, std::span(&field, 1));
  }
  void clash(std::string_view field, std::string_view beside, std::string_view why, const std::string& got = "one") {
    if (!found_)
      found_ = {.field = std::string(field), .beside = std::string(beside), .why = std::string(why), .got = got};
  }
  void expect(std::string_view field, std::string_view expected, const std::string& got) {
    if (!found_) found_ = {.field = std::string(field), .beside = {}, .why = std::string(expected), .got = got};
  }

  [[nodiscard]] const std::optional<ExplainClash>& found() const { return found_; }

 private:
  const ExplainGiven& given_;
  std::optional<ExplainClash> found_;
};

void of_worked(Rules& rules) {
  constexpr std::string_view kNumbers = "a worked example brings its own numbers";
  constexpr std::string_view kSteps = "a worked example has steps alone";
  constexpr std::array<std::string_view, 5> kRead = {"text", "npz", "q", "k", "v"};
  constexpr std::array<std::string_view, 3> kParts = {"query", "why", "block"};
  rules.exclude("`worked`", kNumbers, kOfDrawnModels);
  rules.exclude("`worked`", kNumbers, kOfScores);
  rules.exclude("`worked`", kSteps, kParts);
  rules.exclude("`worked`", kNumbers, kRead);
  rules.exclude("`worked`", kNumbers, "model");
}

void of_no_model(Rules& rules) {
  rules.exclude({}, "a `model`, whose task has the example", "example");
  rules.exclude({}, "a `model`", kOfPlaces);
  rules.exclude({}, "a `model` of two towers", "captions");
  rules.exclude({}, "a `model` that reads images", "picture");
  rules.exclude({}, "a `model` of two towers", "match");
}

void of_model(Rules& rules, const ExplainGiven& given) {
  constexpr std::string_view kOwnNumbers = "a trained model brings its own";
  rules.exclude("`model`", kOwnNumbers, kOfDrawnModels);
  rules.exclude("`model`", kOwnNumbers, kOfScores);
  if (rules.has("block") && given.block != "pre-norm") {
    rules.expect("block", "no kind beside `model`, whose blocks are as it was trained", "\"" + given.block + "\"");
  }
  if (rules.has("match")) {
    constexpr std::array<std::string_view, 5> kOfOneText = {"text", "example", "query", "block", "why"};
    rules.exclude("`match`", "all pictures meet all captions", kOfOneText);
    rules.exclude("`match`", "all pictures meet all captions", kOfPlaces);
    return;
  }
  if (rules.has("picture")) rules.exclude("`picture`", "the model is shown one of them", "text");
  if (rules.has("example")) rules.exclude("`example`", "the model is shown one of them", "picture");
}

// The fields by which the reader's own tensors come; empty without them.
std::string_view own_of(const Rules& rules) { return rules.has_any(kOwn) ? "`q`" : rules.has("npz") ? "`npz`" : ""; }

void of_own_tensors(Rules& rules, const ExplainGiven& given) {
  const std::string_view own = own_of(rules);
  if (own.empty()) return;
  rules.exclude(own, "a trained model computes its own", "model");
  if (rules.has_any(kOwn)) rules.exclude("`q`, `k` or `v`", "it holds all three", "npz");
  rules.exclude(own, "your own tensors need no parameters", kOfDrawnModels);
  rules.exclude(own, "your own tensors have no block around them", "block");
  if (!rules.has("dropout")) rules.exclude(own, "your own tensors need no parameters", "seed");
  if (given.bias == "t5") rules.clash("bias", own, "T5's table is drawn with the parameters", "t5");
}

}  // namespace

void require_explain(const ExplainGiven& given) {
  Rules rules(given);
  if (rules.has("worked")) of_worked(rules);
  rules.has("model") ? of_model(rules, given) : of_no_model(rules);
  of_own_tensors(rules, given);
  if (given.bias == "t5" && given.positions != "sinusoidal" && given.positions != "t5") {
    rules.clash("bias", "`positions` " + given.positions, "T5's buckets are the positions", "t5");
  }
  const auto& clash = rules.found();
  if (!clash) return;
  if (clash->beside.empty()) api_detail::refuse(clash->field, clash->why, clash->got);
  api_detail::refuse(clash->field, "none beside " + clash->beside + ": " + clash->why, clash->got);
}

}  // namespace qkv
