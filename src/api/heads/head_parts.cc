#include <cmath>

#include "api/heads/head_weights.h"
#include "api/heads/head_words.h"
#include "api/studio/studio_questions.h"
#include "insight/call_places.h"
#include "qkv/api/heads.h"

namespace qkv {
namespace {

using api_detail::HeadWeights;
using api_detail::RunSite;
using api_detail::StudioState;

/// f32 [T, D] of one head of [1, H, T, D].
Tensor rows_of_head(const TensorView& heads, std::int64_t head) {
  return {heads.select(0, 0).select(0, head), DType::f32};
}

std::optional<Tensor> bias_of_head(const Trace::Attention& call, std::int64_t head) {
  const Bias& bias = call.options.bias;
  if (bias.is_zero()) return std::nullopt;
  const MaskShape shape{1, call.q.dim(1), call.q.dim(2), call.k.dim(2)};
  Tensor values(DType::f32, {shape.Tq, shape.Tk});
  const Tile tile{.b = 0, .h = head, .i_begin = 0, .i_end = shape.Tq, .j_begin = 0, .j_end = shape.Tk};
  bias.write_tile(tile, values.values<float>().data(), shape.Tk, shape);
  return values;
}

HeadPartsReply answer_head_parts(StudioState& state, const HeadRequest& request, const StudioWatch& /*quick*/) {
  const auto run = state.run(api_detail::shown_text_of(request), kWholeHead);
  const RunSite& site = run->site(request.site);
  api_detail::require_short(site);
  api_detail::require_head(*run, site, request);
  const Trace::Attention& call = run->call(site, request.layer);
  const Tensor all = run->weights(site, request.layer);
  HeadPartsReply reply;
  api_detail::put_words(*run, site, request, all, reply);
  const std::int64_t group = call.q.dim(1) / call.k.dim(1);
  reply.q = rows_of_head(call.q.value(), request.head);
  reply.k = rows_of_head(call.k.value(), request.head / group);
  reply.lse = Tensor(call.lse.value().select(0, 0).select(0, request.head), DType::f64);
  reply.scale = call.options.scale.value_or(1 / std::sqrt(static_cast<double>(call.q.dim(3))));
  reply.softcap = call.options.softcap;
  reply.bias = bias_of_head(call, request.head);
  HeadWeights shown = api_detail::head_weights(all, request.head, insight::hidden_places(call, 0));
  reply.hidden = shown.hidden;
  api_detail::hide_special(shown, reply.roles, reply.keys);
  reply.hidden_special = std::move(shown.hidden_special);
  return reply;
}

// All parts are sent, with special tokens; whoever draws them leaves these out.
const Fields<HeadRequest>& head_parts_fields() {
  static const Fields<HeadRequest> kFields = [] {
    constexpr std::string_view kOfDrawing[] = {"hide_special"};
    Fields<HeadRequest> fields = head_fields();
    fields.remove(kOfDrawing);
    return fields;
  }();
  return kFields;
}

}  // namespace

api_detail::Answerer api_detail::head_parts_question() {
  return answerer<HeadRequest, HeadPartsReply>(
      "head_parts", "What the replies `head` and `pair` of a head follow from.", head_parts_fields(), answer_head_parts,
      {R"({"model": "induction", "text": "abcxyzab", "layer": 1})"});
}

}  // namespace qkv
