// What two models say of one text, and where they part: `qkv check A B --file FILE`.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "qkv/api/check.h"
#include "qkv/api/field.h"
#include "qkv/api/member.h"
#include "qkv/api/saying.h"
#include "qkv/insight/compare_models.h"

namespace qkv {

/// Which text two models read, and how.
struct ModelsText {
  std::string file;
  std::int64_t window = 512;
  std::optional<std::string> dtype;
};

struct CheckModelsRequest {
  std::string a, b;
  ModelsText read;
};

/// What `qkv check` is asked: about two files, or with a text about two models.
struct CheckAsked : CheckRequest {
  ModelsText models;
};

[[nodiscard]] const Fields<CheckAsked>& check_asked_fields();
/// That of the files, or of the models. Throws as check() and check_models().
[[nodiscard]] AnyReply answer(const CheckAsked& asked, const Saying& saying = {});

/// What `qkv check --file --json` prints.
struct CheckModelsFigures {
  std::string a, b;
  std::string weights_a, weights_b;  // Model::quantised_words()
  std::int64_t tokens = 0, predicted = 0;
  double divergence = 0, worst_divergence = 0, agreement = 0, perplexity_a = 0, perplexity_b = 0;
  std::vector<ComparedPlace> worst;
  std::vector<ComparedLayer> layers;
  std::string worst_layer;
  std::vector<std::string> cautions;
};

/// Opens both models; their cautions begin with "A: " or "B: ". Throws InvalidArgument naming the field, otherwise as
/// compare_models().
[[nodiscard]] CheckModelsFigures check_models(const CheckModelsRequest& request,
                                              const std::function<void(std::int64_t done, std::int64_t all)>& progress,
                                              const Saying& saying = {});

/// For people, in lines of at most `width` columns.
[[nodiscard]] std::string check_models_as_text(const CheckModelsFigures& figures, int width);

[[nodiscard]] Members<ComparedPlace> describe(const ComparedPlace* place);
[[nodiscard]] Members<ComparedLayer> describe(const ComparedLayer* layer);
[[nodiscard]] Members<CheckModelsFigures> describe(const CheckModelsFigures* figures);

}  // namespace qkv
