// Which pair of an area is the one whose weight a cell shows.
#include <algorithm>

#include "api/far/far_head.h"
#include "api/fields/number_lists.h"
#include "api/fields/refuse.h"
#include "api/studio/studio_questions.h"
#include "qkv/api/far.h"

namespace qkv {
namespace {

using api_detail::refuse;
using api_detail::StudioState;

constexpr std::int64_t kMostSide = 8192;

MapArea area_of(const FarLargestRequest& request, const api_detail::FarHead& head) {
  const MapArea area = api_detail::rectangle_of("area", request.area);
  const MaskShape& shape = head.probe().shape();
  const auto check = [](std::int64_t begin, std::int64_t end, std::int64_t most, const char* what) {
    if (end > most) refuse("area", std::to_string(most) + " " + what + " at most", std::to_string(end));
    if (end - begin > kMostSide) {
      refuse("area", std::to_string(kMostSide) + " " + what + " a side at most", std::to_string(end - begin));
    }
  };
  check(area.i_begin, area.i_end, shape.Tq, "queries");
  check(area.j_begin, area.j_end, shape.Tk, "keys");
  return area;
}

FarLargestReply answer_largest(StudioState& state, const FarLargestRequest& request, const StudioWatch& watch) {
  constexpr std::int64_t kRows = 64;  // at a time
  const auto head = state.far().head(state, request);
  const MapArea area = area_of(request, *head);
  FarLargestReply reply{.query = area.i_begin, .query_word = {}, .key = area.j_begin, .key_word = {}, .weight = -1};
  for (std::int64_t i = area.i_begin; i < area.i_end; i += kRows) {
    const std::int64_t end = std::min(i + kRows, area.i_end);
    const ProbeProgress progress{.done = i - area.i_begin, .total = area.i_end - area.i_begin};
    if (watch && watch("weights", progress) == Proceed::stop) throw Cancelled("nobody waits for the largest weight");
    const Tensor part = head->probe().tile({0, head->h(), i, end, area.j_begin, area.j_end}).to(DType::f64);
    const auto weights = part.values<double>();
    const auto best = std::ranges::max_element(weights);
    if (*best <= reply.weight) continue;
    const std::int64_t at = best - weights.begin();
    reply.query = i + at / part.dim(1);
    reply.key = area.j_begin + at % part.dim(1);
    reply.weight = *best;
  }
  reply.query_word = head->query_word(reply.query);
  reply.key_word = head->key_word(reply.key);
  return reply;
}

}  // namespace

const Fields<FarLargestRequest>& far_largest_fields() {
  static const Fields<FarLargestRequest> kFields = [] {
    Fields<FarLargestRequest> fields;
    fields.add(far_fields());
    fields.add(&FarLargestRequest::area,
               {.name = "area", .form = "I0:I1,J0:J1", .meaning = "Queries and keys, 8192 a side at most"});
    fields.give_examples({{"area", "0:512,0:512"}});
    return fields;
  }();
  return kFields;
}

api_detail::Answerer api_detail::far_largest_question() {
  return answerer<FarLargestRequest, FarLargestReply>("far_largest", "The largest weight of an area, and where it is.",
                                                      far_largest_fields(), answer_largest,
                                                      {R"({"tokens": 4096, "area": "3104:3136,3072:3104"})"});
}

}  // namespace qkv
