#include "view/far_head.h"

#include <fmt/format.h>

#include <algorithm>

#include "qkv/files.h"
#include "view/far_needle.h"
#include "view/refuse.h"
#include "view/studio_questions.h"

namespace qkv::view_detail {
namespace {

constexpr std::int64_t kEvery = 64;

std::string long_text(const StudioState& state, const FarRequest& request) {
  if (!request.text.empty() || state.options().file.empty()) return request.text;
  const std::vector<std::byte> bytes = read_file(state.options().file);
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

// Everything that makes a head another one.
std::string key_of(const FarRequest& request) {
  if (request.model.empty()) return fmt::format("{}|{}|{}", request.tokens, request.seed, request.mask);
  return fmt::format("{}|{}|{}|{}|{}", request.model, request.site, request.layer, request.head, request.text);
}

std::string_view made_at(std::int64_t level, std::int64_t base) {
  if (level == base) return "walked";
  return level < base ? "probed" : "folded";
}

}  // namespace

FarHead::FarHead(StudioState& state, const FarRequest& request) : h_(request.head) {
  if (request.model.empty()) {
    take_planted(request);
  } else {
    take_model(state, request);
  }
  if (h_ < 0 || h_ >= probe_->shape().H) {
    refuse("head", "0 to " + std::to_string(probe_->shape().H - 1), std::to_string(h_));
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
  described_.layers = site.scope.layers;
}

void FarHead::take_planted(const FarRequest& request) {
  if (!request.mask.empty()) mask_ = parse_mask(request.mask);
  const MaskShape shape{1, 1, request.tokens, request.tokens};
  try {
    mask_.validate(shape);
  } catch (const InvalidArgument& error) {
    refuse("mask", error.expected(), error.got());
  }
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
  return planted_.empty() ? words[at] : keys_[planted_[at]];
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
  const std::scoped_lock lock(mutex_);
  if (estimate_) return *estimate_;
  const std::int64_t side = std::int64_t{1} << pyramid_->top();
  const std::int64_t every = std::min(kEvery, side);
  const MaskShape& shape = probe_->shape();
  const Probe sample = probe_->of_queries({0, shape.Tq, every});
  const CellMaps maps = far_map(sample, h_, {0, sample.shape().Tq, 0, shape.Tk}, {side / every, side}, watch);
  FarCells cells = far_cells(maps, 0, 0, kFarTile, kFarTile);
  FarTile tile{.level = pyramid_->top(), .i_end = shape.Tq, .j_end = shape.Tk, .every = every};
  if (!cells.is_hidden()) {
    tile.mean = std::move(cells.mean);
    tile.largest = std::move(cells.largest);
    tile.visible = std::move(cells.visible);
  }
  return *(estimate_ = std::move(tile));
}

std::size_t FarHead::bytes() const {
  constexpr std::size_t kOfTiles = std::size_t{128} << 20U;
  return kOfTiles + static_cast<std::size_t>(q_.size() + k_.size()) * sizeof(float);
}

std::shared_ptr<FarHead> FarHeads::head(StudioState& state, const FarRequest& request) {
  constexpr std::size_t kMostBytes = std::size_t{512} << 20U;
  const std::string key = key_of(request);
  const std::scoped_lock lock(mutex_);
  auto found = std::ranges::find(heads_, key, &std::pair<std::string, std::shared_ptr<FarHead>>::first);
  if (found == heads_.end()) {
    heads_.emplace_front(key, std::make_shared<FarHead>(state, request));
  } else {
    std::rotate(heads_.begin(), found, found + 1);
  }
  std::size_t bytes = 0;
  for (std::size_t n = 0; n < heads_.size(); ++n) {
    bytes += heads_[n].second->bytes();
    if (n > 0 && bytes > kMostBytes) heads_.resize(n);
  }
  return heads_.front().second;
}

}  // namespace qkv::view_detail
