// Ways to tell attention where tokens stand.
#include <fmt/format.h>

#include <array>
#include <cmath>

#include "api/fields/refuse.h"
#include "api/studio/studio_questions.h"
#include "core/exact_math.h"
#include "core/numbered.h"
#include "qkv/api/patterns.h"
#include "qkv/bias.h"
#include "qkv/nn/position.h"

namespace qkv {
namespace {

constexpr std::array<std::string_view, 4> kKinds = {"sinusoidal", "rotary", "alibi", "t5"};

std::vector<double> own_frequencies(const PositionsRequest& request) {
  if (request.d % 2 != 0) api_detail::refuse("d", "an even number", std::to_string(request.d));
  RotaryOptions options;
  options.dim = request.d;
  options.base = request.base;
  return rotary_frequencies(options);
}

/// Mean over the frequencies of cos(distance * frequency): how alike two such vectors are.
Tensor mean_cosines(const std::vector<double>& frequencies, std::int64_t tokens) {
  Tensor alike(DType::f64, {tokens});
  for (std::int64_t distance = 0; distance < tokens; ++distance) {
    double sum = 0;
    for (const double frequency : frequencies) sum += core::cos(static_cast<double>(distance) * frequency);
    alike.values<double>()[static_cast<std::size_t>(distance)] = sum / static_cast<double>(frequencies.size());
  }
  return alike;
}

void waves(const PositionsRequest& request, PositionsReply& reply) {
  reply.title = "Waves";
  reply.sentence =
      "Each position gets a vector of sines and cosines, slow ones to the right, and it is added to the token's. The "
      "product of two such "
      "vectors depends on their distance alone.";
  reply.formula = "sin(t / base^(2i / d)), cos(t / base^(2i / d))";
  reply.table = sinusoidal(request.tokens, request.d, request.base);
  reply.rows = "position";
  reply.columns = "number of the vector";
  reply.frequencies = own_frequencies(request);
  reply.by_distance = mean_cosines(reply.frequencies, request.tokens);
  reply.distance_name = "product of two positions, over d / 2";
}

void rotation(const PositionsRequest& request, PositionsReply& reply) {
  reply.title = "Rotation";
  reply.sentence =
      "Nothing is added: each pair of numbers of q and k is turned by an angle that grows with the position. In q · k "
      "only the difference of "
      "the two angles is left, the distance.";
  reply.formula = "(a cos tθ − b sin tθ, a sin tθ + b cos tθ)";
  reply.frequencies = own_frequencies(request);
  const auto pairs = static_cast<std::int64_t>(reply.frequencies.size());
  reply.table = Tensor(DType::f64, {request.tokens, pairs});
  auto out = reply.table.values<double>().begin();
  for (std::int64_t t = 0; t < request.tokens; ++t) {
    for (const double frequency : reply.frequencies) *out++ = core::cos(static_cast<double>(t) * frequency);
  }
  reply.rows = "position";
  reply.columns = "pair of numbers: cosine of its angle";
  reply.by_distance = mean_cosines(reply.frequencies, request.tokens);
  reply.distance_name = "q · k of equal vectors, over their length squared";
}

void slopes(const PositionsRequest& request, PositionsReply& reply) {
  reply.slopes = alibi_slopes(request.heads);
  if (request.head >= request.heads) {
    api_detail::refuse("head", core::numbered("head", request.heads), std::to_string(request.head));
  }
  const double slope = reply.slopes[static_cast<std::size_t>(request.head)];
  reply.title = "ALiBi";
  reply.sentence = fmt::format(
      "Each score is lowered in proportion to the distance; every head has a slope of its own, head {} of {} has "
      "{:.4g}. A weight falls by "
      "a factor of e every {:.4g} tokens.",
      request.head, request.heads, slope, 1 / slope);
  reply.formula = "s − slope · |i − j|";
  reply.table = Tensor(DType::f64, {request.tokens, request.tokens});
  reply.by_distance = Tensor(DType::f64, {request.tokens});
  auto out = reply.table.values<double>().begin();
  for (std::int64_t i = 0; i < request.tokens; ++i) {
    for (std::int64_t j = 0; j < request.tokens; ++j) *out++ = -slope * static_cast<double>(std::abs(i - j));
    reply.by_distance.values<double>()[static_cast<std::size_t>(i)] = -slope * static_cast<double>(i);
  }
  reply.rows = "query";
  reply.columns = "key";
  reply.distance_name = "added to the score";
}

void buckets(const PositionsRequest& request, PositionsReply& reply) {
  const T5Buckets shape{.buckets = request.buckets, .max_distance = request.max_distance, .bidirectional = true};
  reply.title = "T5's buckets";
  reply.sentence = fmt::format(
      "Each distance falls into one of {} buckets, and each bucket has a number that is learnt and added to the score. "
      "Near ones are told apart "
      "one by one, far ones ever more coarsely, and beyond {} all alike.",
      request.buckets, request.max_distance);
  reply.formula = "s + table[bucket(j − i)]";
  reply.table = Tensor(DType::f64, {request.tokens, request.tokens});
  reply.by_distance = Tensor(DType::f64, {request.tokens});
  auto out = reply.table.values<double>().begin();
  for (std::int64_t i = 0; i < request.tokens; ++i) {
    for (std::int64_t j = 0; j < request.tokens; ++j) *out++ = static_cast<double>(t5_bucket(j - i, shape));
    reply.by_distance.values<double>()[static_cast<std::size_t>(i)] = static_cast<double>(t5_bucket(-i, shape));
  }
  reply.rows = "query";
  reply.columns = "key";
  reply.distance_name = "bucket of a key so far before";
}

PositionsReply answer_positions(api_detail::StudioState& /*needs none*/, const PositionsRequest& request,
                                const StudioWatch& /*quick*/) {
  PositionsReply reply;
  if (request.kind == "sinusoidal") waves(request, reply);
  if (request.kind == "rotary") rotation(request, reply);
  if (request.kind == "alibi") slopes(request, reply);
  if (request.kind == "t5") buckets(request, reply);
  return reply;
}

}  // namespace

const Fields<PositionsRequest>& positions_fields() {
  using R = PositionsRequest;
  static const Fields<R> kFields = [] {
    constexpr std::int64_t kMostTokens = 1024;
    constexpr std::int64_t kWidest = 1024;
    constexpr std::int64_t kMostHeads = 256;
    constexpr std::int64_t kFarthest = 1 << 20;
    Fields<R> fields;
    fields.add(&R::kind,
               {.name = "kind", .meaning = "sinusoidal, rotary, alibi or t5", .words = {kKinds.begin(), kKinds.end()}});
    fields.add(&R::tokens, {.name = "tokens", .meaning = "Positions", .least = 2, .most = kMostTokens});
    fields.add(&R::d, {.name = "d", .meaning = "Numbers of a vector, even", .least = 2, .most = kWidest});
    fields.add(&R::base, {.name = "base", .meaning = "Of the wavelengths", .least = 0, .most = std::int64_t{1} << 40});
    fields.add(&R::heads, {.name = "heads", .meaning = "Heads, each with a slope", .least = 1, .most = kMostHeads});
    fields.add(&R::head, {.name = "head", .meaning = "Whose slope", .least = 0, .most = kMostHeads});
    fields.add(&R::buckets, {.name = "buckets", .meaning = "Buckets", .least = 4, .most = kWidest});
    fields.add(&R::max_distance,
               {.name = "max_distance", .meaning = "From which on all are alike", .least = 2, .most = kFarthest});
    for (const char* const of_waves : {"d", "base"}) {
      fields.info(of_waves).needs_one = {"kind=sinusoidal", "kind=rotary"};
    }
    for (const char* const of_slopes : {"heads", "head"}) fields.info(of_slopes).needs = {"kind=alibi"};
    for (const char* const of_buckets : {"buckets", "max_distance"}) fields.info(of_buckets).needs = {"kind=t5"};
    return fields;
  }();
  return kFields;
}

Members<PositionsReply> describe(const PositionsReply* /*type*/) {
  using R = PositionsReply;
  return Members<R>("PositionsReply")
      .add(&R::title, "title", "Its name")
      .add(&R::sentence, "sentence", "What it does")
      .add(&R::formula, "formula", "In symbols")
      .add(&R::table, "table", "f64 [rows, columns]: at each position, or for each pair")
      .add(&R::rows, "rows", "What a row is")
      .add(&R::columns, "columns", "What a column is")
      .add(&R::by_distance, "by_distance", "f64 [tokens]")
      .add(&R::distance_name, "distance_name", "What by_distance holds")
      .add(&R::frequencies, "frequencies", "Radians a token; of sinusoidal and rotary ones")
      .add(&R::slopes, "slopes", "Of ALiBi, one a head");
}

api_detail::Answerer api_detail::positions_question() {
  return answerer<PositionsRequest, PositionsReply>(
      "positions", "Ways to tell attention where tokens stand.", positions_fields(), answer_positions,
      {"{}", R"({"kind": "rotary"})", R"({"kind": "alibi", "head": 2})", R"({"kind": "t5"})"});
}

}  // namespace qkv
