#include "qkv/api/check_models.h"

#include <algorithm>
#include <utility>

#include "api/fields/refuse.h"
#include "api/fields/shared_fields.h"
#include "api/fields/text_file.h"
#include "api/models/models.h"
#include "core/dtype_named.h"

namespace qkv {
namespace {

// Cautions say which of the two they are of.
OpenedModel opened_as(std::string_view field, const std::string& letter, const std::string& name,
                      const ModelsText& read, const Saying& saying) {
  const Saying of_one{.caution = [&](const std::string& what) { saying.careful(letter + ": " + what); }};
  const auto numbers = read.dtype == "file" ? ModelNumbers::file : ModelNumbers::f32;
  return api_detail::open_named(field, name, of_one, numbers);
}

std::optional<DType> asked_dtype(const ModelsText& read) { return core::dtype_named(read.dtype.value_or("")); }

const Fields<ModelsText>& models_text_fields() {
  using R = ModelsText;
  static const Fields<R> kFields = [] {
    Fields<R> fields;
    const std::string group = "Where A and B are models: what they say of a text";
    fields.add(&R::file, api_detail::shared_field("file", group));
    fields.info("file").former = {"text", "text_file"};
    fields.add(&R::window, {.name = "window",
                            .form = "N",
                            .meaning = "Tokens that they read at once",
                            .group = group,
                            .least = 2,
                            .most = 1 << 20});
    fields.add(&R::dtype, {.name = "dtype",
                           .form = "DTYPE",
                           .meaning = "What both compute in; file: quantised weights as they lie",
                           .group = group,
                           .words = {"f32", "f64", "file"},
                           .otherwise = "f32"});
    fields.tell_arguments({{"file", {"text"}}});
    fields.give_examples({{"window", "256"}, {"dtype", "f64"}});
    return fields;
  }();
  return kFields;
}

}  // namespace

const Fields<CheckAsked>& check_asked_fields() {
  static const Fields<CheckAsked> kFields = [] {
    Fields<CheckAsked> fields;
    fields.add(check_fields());
    fields.add(&CheckAsked::models, models_text_fields());
    fields.exclude({"rtol", "atol", "nan_differs", "any_dtype"}, {"file"}, "models are not held to a tolerance");
    for (const char* of_models : {"window", "dtype"}) fields.info(of_models).needs.emplace_back("file");
    return fields;
  }();
  return kFields;
}

AnyReply answer(const CheckAsked& asked, const Saying& saying) {
  if (asked.models.file.empty()) return any_reply(check_figures(asked, check(asked)));
  return any_reply(check_models({.a = asked.a, .b = asked.b, .read = asked.models}, {}, saying));
}

CheckModelsFigures check_models(const CheckModelsRequest& request,
                                const std::function<void(std::int64_t, std::int64_t)>& progress, const Saying& saying) {
  const std::string text = api_detail::of_path("file", [&] { return api_detail::text_of_file(request.read.file); });
  const OpenedModel a = opened_as("a", "A", request.a, request.read, saying);
  const OpenedModel b = opened_as("b", "B", request.b, request.read, saying);
  ModelComparison found = compare_models(
      *a, *b, text, {.window = request.read.window, .dtype = asked_dtype(request.read), .progress = progress});
  CheckModelsFigures figures;
  figures.a = request.a;
  figures.b = request.b;
  figures.weights_a = a->model().quantised_words();
  figures.weights_b = b->model().quantised_words();
  figures.tokens = found.tokens;
  figures.predicted = found.predicted;
  figures.divergence = found.divergence;
  figures.worst_divergence = found.worst.empty() ? 0 : found.worst.front().divergence;
  figures.agreement = found.agreement;
  figures.perplexity_a = found.perplexity_a;
  figures.perplexity_b = found.perplexity_b;
  figures.worst = std::move(found.worst);
  figures.layers = std::move(found.layers);
  const auto worst = std::ranges::max_element(figures.layers, {}, &ComparedLayer::error);
  if (worst != figures.layers.end() && worst->error > 0) figures.worst_layer = worst->layer;
  return figures;
}

}  // namespace qkv
