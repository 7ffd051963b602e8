#include "api/far/far_head.h"

#include <fmt/format.h>

#include <algorithm>

#include "api/far/far_needle.h"
#include "api/fields/refuse.h"
#include "api/fields/text_file.h"
#include "api/models/models.h"
#include "api/studio/studio_questions.h"
#include "core/numbered.h"

namespace qkv::api_detail {
namespace {

constexpr std::size_t kMostFarHeads = 16;
constexpr std::size_t kMostFarBytes = std::size_t{512} << 20U;

// Every 64th query, or so many that a first look at 131,072 takes a fifth of a second of two cores: two for each row of
// the picture.
std::int64_t every_of(std::int64_t queries) {
  constexpr std::int64_t kLeast = 64;
  constexpr std::int64_t kMostQueries = 512;
  std::int64_t every = kLeast;
  while (every * kMostQueries < queries) every *= 2;
  return every;
}

std::string long_text(const StudioState& state, const FarRequest& request) {
  if (!request.text.empty() || state.options().file.empty()) return request.text;
  return text_of_file(state.options().file);
}

// Everything that makes a head another one.
std::string key_of(const StudioState& state, const FarRequest& request) {
  if (request.model.empty() && state.options().probe) return std::to_string(request.head);
  if (request.model.empty()) {
    return fmt::format("{}|{}|{}|{}", request.tokens, request.seed, request.head, request.mask);
  }
  return fmt::format("{}|{}|{}|{}|{}", state.model_key(request.model), request.site, request.layer, request.head,
                     request.text);
}

// The probe is there, and nothing is made up.
void require_none_made_up(const FarRequest& request) {
  const FarRequest plain;
  const auto require = [](const char* field, bool is_plain) {
    if (!is_plain) refuse(field, "it without the probe that the studio was opened with", "both");
  };
  require("tokens", request.tokens == plain.tokens);
  require("mask", request.mask == plain.mask);
  require("seed", request.seed == plain.seed);
}

FarTile described_tile(const FarPlaceOfTile& place, const MapArea& area) {
  return {.level = place.level,
          .row = place.row,
          .column = place.column,
          .i_begin = area.i_begin,
          .i_end = area.i_end,
          .j_begin = area.j_begin,
          .j_end = area.j_end};
}

void put(FarCells cells, FarTile& tile) {
  if (cells.is_hidden()) return;
  tile.mean = std::move(cells.mean);
  tile.largest = std::move(cells.largest);
  tile.visible = std::move(cells.visible);
}

std::string_view made_at(std::int64_t level, std::int64_t base) {
  if (level == base) return "walked";
  return level < base ? "probed" : "folded";
}

}  // namespace

FarHead::FarHead(StudioState& state, const FarRequest& request) : h_(request.head) {
  if (!request.model.empty()) {
    take_model(state, request);
  } else if (state.options().probe) {
    take_shown(*state.options().probe);
  } else {
    take_planted(request);
  }
  if (h_ < 0 || h_ >= probe_->shape().H) {
    refuse("head", core::numbered("head", probe_->shape().H), std::to_string(h_));
  }
  pyramid_ = std::make_unique<FarPyramid>(*probe_, h_, mask_);
  describe();
}

void FarHead::take_model(StudioState& state, const FarRequest& request) {
  run_ = state.run({.model = request.model, .text = long_text(state, request), .example = {}});
  const RunSite& site = run_->site(request.site);
  mask_ = run_->call(site, request.layer).options.mask;
  probe_ = std::make_unique<Probe>(run_->probe(site, request.layer));
  queries_ = site.queries;
  keys_ = site.keys;
  described_.title = fmt::format("{}, layer {}, head {}", request.model, request.layer, request.head);
  described_.cautions = api_detail::cautions_of(run_->trained(), run_->example());
  described_.layers = site.scope.layers;
  described_.site = name_of(site.site);
  for (const RunSite& one : run_->sites()) described_.sites.emplace_back(name_of(one.site));
}

void FarHead::take_shown(const ShownProbe& shown) {
  probe_ = std::make_unique<Probe>(shown.probe.of_queries({.begin = 0, .end = shown.probe.shape().Tq}));
  mask_ = shown.mask;
  queries_ = shown.queries;
  keys_ = shown.keys;
  described_.title = fmt::format("{}, head {}", shown.title, h_);
  described_.site = name_of(AttentionSite::tokens);
  described_.sites = {described_.site};
}

void FarHead::take_planted(const FarRequest& request) {
  if (!request.mask.empty()) mask_ = parse_mask(request.mask);
  const MaskShape shape{1, 1, request.tokens, request.tokens};
  mask_.validate(shape);
  PlantedText text = planted_text(request.tokens, static_cast<std::uint64_t>(request.seed));
  q_ = std::move(text.q);
  k_ = std::move(text.k);
  keys_ = std::move(text.words);
  planted_ = std::move(text.tokens);
  probe_ = std::make_unique<Probe>(q_, k_, AttentionOptions{.mask = mask_});
  described_.title = fmt::format("{} tokens that are made up, with {} needles", request.tokens, text.needles.size());
  described_.needles = std::move(text.needles);
}

std::string FarHead::word(const std::vector<std::string>& words, std::int64_t place) const {
  const auto at = static_cast<std::size_t>(place);
  if (!planted_.empty()) return keys_[planted_[at]];
  return words.empty() ? std::to_string(place) : words[at];
}

void FarHead::describe() {
  const MaskShape& shape = probe_->shape();
  described_.queries = shape.Tq;
  described_.keys = shape.Tk;
  described_.mask = mask_.to_string();
  described_.heads = shape.H;
  described_.base = pyramid_->base();
  for (std::int64_t level = 0; level <= std::max(pyramid_->top(), pyramid_->base()); ++level) {
    const MapSize tiles = pyramid_->tiles(level);
    described_.levels.push_back({.level = level,
                                 .side = std::int64_t{1} << level,
                                 .rows = tiles.rows,
                                 .columns = tiles.columns,
                                 .made = std::string(made_at(level, pyramid_->base()))});
  }
}

FarTile FarHead::estimate(const ProbeWatch& watch) {
  return *estimate_.get(0, [&] {
    return std::make_shared<const FarTile>(sampled({pyramid_->top(), 0, 0}, every_of(probe_->shape().Tq), watch));
  });
}

FarTile FarHead::sampled(const FarPlaceOfTile& place, std::int64_t every, const ProbeWatch& watch) const {
  const std::int64_t side = std::int64_t{1} << place.level;
  every = std::min(every, side);
  const MapArea area = pyramid_->area(place);
  const Probe sample = probe_->of_queries({area.i_begin, area.i_end, every});
  const MapArea all = {0, sample.shape().Tq, area.j_begin, area.j_end};
  FarTile tile = described_tile(place, area);
  tile.every = every;
  put(far_cells(far_map(sample, h_, all, {side / every, side}, watch), 0, 0, kFarTile, kFarTile), tile);
  return tile;
}

FarTile FarHead::exact(const FarPlaceOfTile& place, const ProbeWatch& watch) {
  FarTile tile = described_tile(place, pyramid_->area(place));
  put(*pyramid_->tile(place, watch), tile);
  if (place.level > 0) return tile;
  for (std::int64_t i = tile.i_begin; i < tile.i_end; ++i) tile.queries.push_back(query_word(i));
  for (std::int64_t j = tile.j_begin; j < tile.j_end; ++j) tile.keys.push_back(key_word(j));
  return tile;
}

FarTile FarHead::band(std::int64_t row, const ProbeWatch& watch) {
  FarTile tile = described_tile({pyramid_->top(), 0, 0}, pyramid_->area({pyramid_->base(), row, 0}));
  tile.j_end = probe_->shape().Tk;
  put(pyramid_->band(row, watch), tile);
  return tile;
}

std::size_t FarHead::bytes() const {
  constexpr std::size_t kOfTiles = std::size_t{128} << 20U;
  const std::size_t of_run = run_ == nullptr ? 0 : run_->bytes();
  return kOfTiles + of_run + static_cast<std::size_t>(q_.size() + k_.size()) * sizeof(float);
}

FarHeads::FarHeads()
    : heads_({.count = kMostFarHeads, .bytes = kMostFarBytes}, [](const FarHead& head) { return head.bytes(); }) {}

std::shared_ptr<FarHead> FarHeads::head(StudioState& state, const FarRequest& request) {
  if (request.model.empty() && state.options().probe) require_none_made_up(request);
  return heads_.get(key_of(state, request), [&] { return std::make_shared<FarHead>(state, request); });
}

}  // namespace qkv::api_detail
