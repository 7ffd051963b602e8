#include "qkv/api/pictures.h"

#include "api/bench/bench_of.h"
#include "api/fields/bounds.h"
#include "api/fields/number_lists.h"
#include "api/fields/refuse.h"
#include "explain/words.h"

namespace qkv {
namespace {

using api_detail::refuse;
using api_detail::StudioState;

Tensor masses_in(const std::string& text) {
  if (text.empty()) return {};
  const Tensor matrix = api_detail::matrix_in("masses", text);
  return matrix.reshape({matrix.size()});
}

PicturesReply answer_pictures(StudioState& state, const PicturesRequest& request, const StudioWatch& /*quick*/) {
  const Bench bench = api_detail::bench_of(state, request);
  PicturesReply reply = {.dot = dot_picture(bench, request.key.value_or(heaviest_key(bench))),
                         .product = product_picture(bench),
                         .mix = mix_picture(bench, masses_in(request.masses)),
                         .split = split_picture(bench)};
  if (request.model.empty()) reply.self = self_picture(bench);
  if (reply.self) {
    reply.cross = cross_picture(bench, explain_detail::split_words("other", request.other));
  } else if (request.other != PicturesRequest().other) {
    refuse("other", "it beside a short text that asks itself in one head", "\"" + request.other + "\" beside another");
  }
  return reply;
}

OperationsReply answer_operations(StudioState& /*needs none*/, const OperationsRequest& /*has none*/,
                                  const StudioWatch& /*quick*/) {
  return {.languages = operation_languages(), .operations = operations()};
}

}  // namespace

const Fields<PicturesRequest>& pictures_fields() {
  using R = PicturesRequest;
  static const Fields<R> kFields = [] {
    Fields<R> fields;
    constexpr std::string_view kOfSteps[] = {"d_out", "move", "nudge", "wrong", "wrong_d"};
    fields.add(bench_fields());
    fields.remove(kOfSteps);
    fields.add(&R::key, {.name = "key",
                         .meaning = "Which key, from 0, the chosen query is multiplied with",
                         .least = 0,
                         .most = api_detail::kMostPlaces});
    fields.add(
        &R::masses,
        {.name = "masses", .form = "MATRIX", .meaning = "Mixes the values in these proportions, one for each key"});
    fields.add(&R::other,
               {.name = "other", .form = "TEXT", .meaning = "Words of another text, which ask the same keys"});
    fields.exclude({"other"}, {"context", "source", "model"}, "its words ask the keys of one text");
    fields.give_otherwise({{"key", "the heaviest"}, {"masses", "the weights"}});
    fields.give_examples({{"key", "0"}, {"masses", "1,2,1"}, {"other", "the chat"}});
    return fields;
  }();
  return kFields;
}

const Fields<OperationsRequest>& operations_fields() {
  static const Fields<OperationsRequest> kFields;
  return kFields;
}

api_detail::Answerer api_detail::pictures_question() {
  return answerer<PicturesRequest, PicturesReply>(
      "pictures", "What attention is made of, in the numbers of the bench: products, angles, mixtures, heads.",
      pictures_fields(), answer_pictures,
      {"{}", R"({"query": 2, "key": 0, "masses": "1,2,1"})", R"({"other": "the chat", "mask": "causal"})"});
}

api_detail::Answerer api_detail::operations_question() {
  return answerer<OperationsRequest, OperationsReply>(
      "operations", "The operations of attention: formula, place in qkv, and code in seven languages.",
      operations_fields(), answer_operations, {"{}"});
}

}  // namespace qkv
