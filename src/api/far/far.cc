#include "qkv/api/far.h"

#include <fmt/format.h>

#include <algorithm>

#include "api/far/far_head.h"
#include "api/fields/bounds.h"
#include "api/fields/number_lists.h"
#include "api/fields/refuse.h"
#include "api/fields/shared_fields.h"
#include "api/studio/studio_questions.h"
#include "core/ascii.h"
#include "core/exact_math.h"
#include "core/numbered.h"
#include "qkv/cost.h"

namespace qkv {
namespace {

using api_detail::FarHead;
using api_detail::refuse;
using api_detail::shared_field;
using api_detail::StudioState;

ProbeWatch said(const StudioWatch& watch, std::string_view what) {
  if (!watch) return {};
  return [&watch, what](const ProbeProgress& progress) { return watch(what, progress); };
}

void require_place(std::string_view field, std::int64_t place, std::int64_t count) {
  if (place < 0 || place >= count) refuse(field, core::numbered("place", count), std::to_string(place));
}

FarReply answer_open(StudioState& state, const FarRequest& request, const StudioWatch& watch) {
  const auto head = state.far().head(state, request);
  FarReply reply = head->described();
  reply.overview = head->estimate(said(watch, "a first look"));
  return reply;
}

FarTile answer_tile(StudioState& state, const FarTileRequest& request, const StudioWatch& watch) {
  const auto head = state.far().head(state, request);
  require_place("level", request.level, std::ssize(head->described().levels));
  const MapSize tiles = head->pyramid().tiles(request.level);
  require_place("row", request.row, tiles.rows);
  require_place("column", request.column, tiles.columns);
  if ((request.every & (request.every - 1)) != 0) refuse("every", "a power of two", std::to_string(request.every));
  if (request.every > 1 && request.level == 0) {
    refuse("every", "1 at level 0, a cell of which is one query", std::to_string(request.every));
  }
  const api_detail::FarPlaceOfTile place = {request.level, request.row, request.column};
  if (request.every > 1) return head->sampled(place, request.every, said(watch, "map"));
  return head->exact(place, said(watch, "map"));
}

FarTile answer_walk(StudioState& state, const FarWalkRequest& request, const StudioWatch& watch) {
  const auto head = state.far().head(state, request);
  if (request.band) {
    require_place("band", *request.band, head->pyramid().tiles(head->pyramid().base()).rows);
    return head->band(*request.band, said(watch, "map"));
  }
  head->pyramid().walk(said(watch, "map"));
  return head->exact({head->pyramid().top(), 0, 0}, {});
}

std::string grouped(std::int64_t number) { return Count(static_cast<std::uint64_t>(number)).grouped(); }

std::string row_sentence(const FarRowReply& reply) {
  const std::string asking = fmt::format("Query {}, “{}”, sees", grouped(reply.query), reply.word);
  if (reply.visible == 0) return asking + " no key.";
  if (reply.top.empty()) return fmt::format("{} {} keys.", asking, grouped(reply.visible));
  const FarKey& first = reply.top.front();
  return fmt::format(
      "{} {} keys and reads most from key {}, “{}”: {:.3f} of its weight. Its entropy is that of {} keys read alike.",
      asking, grouped(reply.visible), grouped(first.key), first.word, first.weight,
      grouped(std::llround(core::exp(reply.entropy))));
}

FarRowReply answer_row(StudioState& state, const FarRowRequest& request, const StudioWatch& /*quick*/) {
  const auto head = state.far().head(state, request);
  const MaskShape& shape = head->probe().shape();
  require_place("query", request.query, shape.Tq);
  const Probe one = head->probe().of_queries({request.query, request.query + 1});
  const HeadPlace place = {0, head->h()};
  FarRowReply reply{.query = request.query, .word = head->query_word(request.query)};
  const RowStatistics row = one.statistics(place);
  const auto of_row = [](const Tensor& column) { return column.at({0}); };
  reply.visible = static_cast<std::int64_t>(of_row(row.visible));
  reply.entropy = of_row(row.entropy);
  reply.normalised_entropy = of_row(row.normalised_entropy);
  reply.distance = of_row(row.distance);
  reply.mass = of_row(row.mass);
  const TopKeys top = one.top_keys(place, std::min({request.count, shape.Tk, reply.visible}));
  for (std::int64_t n = 0; n < top.keys.dim(1); ++n) {
    const auto key = static_cast<std::int64_t>(top.keys.at({0, n}));
    reply.top.push_back({key, head->key_word(key), top.weights.at({0, n})});
  }
  if (!request.at.empty()) {
    for (const std::int64_t key : api_detail::whole_numbers("at", request.at)) {
      require_place("at", key, shape.Tk);
      const double weight = one.tile({0, head->h(), 0, 1, key, key + 1}).at({0, 0});
      reply.at.push_back({key, head->key_word(key), weight});
    }
  }
  reply.sentence = row_sentence(reply);
  return reply;
}

std::string context_of(const FarHead& head, std::int64_t key) {
  constexpr std::int64_t kAround = 4;
  std::string text;
  const std::int64_t end = std::min(key + kAround + 1, head.probe().shape().Tk);
  for (std::int64_t j = std::max<std::int64_t>(0, key - kAround); j < end; ++j) {
    text += (text.empty() ? "" : " ") + head.key_word(j);
  }
  return text;
}

FarFindReply answer_find(StudioState& state, const FarFindRequest& request, const StudioWatch& /*quick*/) {
  if (request.word.empty()) refuse("word", "what is looked for", "nothing");
  const auto head = state.far().head(state, request);
  const std::string wanted = core::small_letters(request.word);
  FarFindReply reply;
  for (std::int64_t j = 0; j < head->probe().shape().Tk; ++j) {
    if (core::small_letters(head->key_word(j)).find(wanted) == std::string::npos) continue;
    if (reply.count++ < request.most) reply.places.push_back({j, context_of(*head, j)});
  }
  return reply;
}

template <class Request, class Value>
void add(Fields<Request>& fields, Value Request::* place, const char* name, const char* meaning, std::int64_t most) {
  fields.add(place, {.name = name, .meaning = meaning, .least = 0, .most = most});
}

constexpr std::int64_t kMostTokens = 1048576;

}  // namespace

const Fields<FarRequest>& far_fields() {
  static const Fields<FarRequest> kFields = [] {
    constexpr std::int64_t kLeastTokens = 1024;
    Fields<FarRequest> fields;
    fields.add(&FarRequest::model, shared_field("model", "a head of a model"));
    fields.add(&FarRequest::text, shared_field("text", "a head of a model"));
    fields.add(&FarRequest::site, shared_field("site", "a head of a model"));
    fields.add(&FarRequest::layer, shared_field("layer"));
    fields.add(&FarRequest::head, shared_field("head"));
    fields.add(&FarRequest::tokens, {.name = "tokens",
                                     .meaning = "Without a model or a probe: how many tokens are made up",
                                     .least = kLeastTokens,
                                     .most = kMostTokens});
    fields.add(&FarRequest::mask, {.name = "mask", .form = "EXPR", .meaning = "Their mask; empty: none"});
    add(fields, &FarRequest::seed, "seed", "Of their numbers and words", std::int64_t{1} << 40);
    for (const char* const of_model : {"text", "site", "layer"}) fields.info(of_model).needs = {"model"};
    fields.exclude({"tokens", "mask", "seed"}, {"model"}, "a model reads its own text");
    fields.give_otherwise({{"text", "the file that the studio was opened with"}});
    fields.give_examples({{"mask", "causal & window(512)"}});
    return fields;
  }();
  return kFields;
}

const Fields<FarTileRequest>& far_tile_fields() {
  static const Fields<FarTileRequest> kFields = [] {
    constexpr std::int64_t kMostLevel = 40;
    Fields<FarTileRequest> fields;
    fields.add(far_fields());
    add(fields, &FarTileRequest::level, "level", "A cell has 2^level queries and keys", kMostLevel);
    add(fields, &FarTileRequest::row, "row", "Which row of tiles, 256 cells each", kMostTokens);
    add(fields, &FarTileRequest::column, "column", "Which column of tiles", kMostTokens);
    fields.add(&FarTileRequest::every,
               {.name = "every",
                .meaning = "Look at every n-th query only, a power of two; one of each cell at least",
                .least = 1,
                .most = kMostTokens});
    return fields;
  }();
  return kFields;
}

const Fields<FarWalkRequest>& far_walk_fields() {
  static const Fields<FarWalkRequest> kFields = [] {
    Fields<FarWalkRequest> fields;
    fields.add(far_fields());
    fields.add(&FarWalkRequest::band, {.name = "band",
                                       .form = "N",
                                       .meaning = "One row of tiles of the level that is walked",
                                       .least = 0,
                                       .most = kMostTokens,
                                       .otherwise = "all"});
    return fields;
  }();
  return kFields;
}

const Fields<FarRowRequest>& far_row_fields() {
  static const Fields<FarRowRequest> kFields = [] {
    constexpr std::int64_t kMostKeys = 1000;
    Fields<FarRowRequest> fields;
    fields.add(far_fields());
    fields.add(&FarRowRequest::query, shared_field("query"));
    add(fields, &FarRowRequest::count, "count", "How many keys of largest weight", kMostKeys);
    fields.add(&FarRowRequest::at, {.name = "at", .form = "J,J,…", .meaning = "Keys whose weights are wanted"});
    fields.give_examples({{"at", "0,3"}});
    return fields;
  }();
  return kFields;
}

const Fields<FarFindRequest>& far_find_fields() {
  static const Fields<FarFindRequest> kFields = [] {
    constexpr std::int64_t kMostPlaces = 10000;
    Fields<FarFindRequest> fields;
    fields.add(far_fields());
    fields.add(&FarFindRequest::word,
               {.name = "word", .form = "TEXT", .meaning = "What a token contains, in small or large letters"});
    add(fields, &FarFindRequest::most, "most", "How many places are listed", kMostPlaces);
    fields.give_examples({{"word", "paris"}});
    return fields;
  }();
  return kFields;
}

api_detail::Answerer api_detail::far_open_question() {
  return answerer<FarRequest, FarReply>(
      "far_open",
      "One head over a long text: what there is, and a first estimate of its map from 512 of its queries at most.",
      far_fields(), answer_open, {R"({"tokens": 4096})", R"({"model": "induction", "text": "abcxyzab", "layer": 1})"});
}

api_detail::Answerer api_detail::far_tile_question() {
  return answerer<FarTileRequest, FarTile>("far_tile", "256 x 256 cells of that head's map.", far_tile_fields(),
                                           answer_tile,
                                           {R"({"tokens": 4096, "level": 1, "row": 6, "column": 6})",
                                            R"({"tokens": 4096, "level": 3, "row": 1, "column": 1, "every": 4})",
                                            R"({"tokens": 4096, "level": 0, "row": 12, "column": 12})"});
}

api_detail::Answerer api_detail::far_walk_question() {
  return answerer<FarWalkRequest, FarTile>(
      "far_walk", "The exact map: walks the whole matrix once, or a band of it, in the cells of the last level.",
      far_walk_fields(), answer_walk,
      {R"({"tokens": 4096})", R"x({"tokens": 16384, "mask": "causal & window(512)", "band": 3})x"});
}

api_detail::Answerer api_detail::far_row_question() {
  return answerer<FarRowRequest, FarRowReply>("far_row", "What one query reads.", far_row_fields(), answer_row,
                                              {R"({"tokens": 4096, "query": 3125, "at": "0,3097"})"});
}

api_detail::Answerer api_detail::far_find_question() {
  return answerer<FarFindRequest, FarFindReply>("far_find", "Where a word stands in that text.", far_find_fields(),
                                                answer_find, {R"({"tokens": 4096, "word": "paris"})"});
}

}  // namespace qkv
