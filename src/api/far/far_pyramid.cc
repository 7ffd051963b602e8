#include "api/far/far_pyramid.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <utility>

#include "api/studio/question_watch.h"
#include "core/watched.h"
#include "qkv/api/far.h"

namespace qkv::api_detail {
namespace {

constexpr std::int64_t kBaseCells = 4096;
constexpr std::size_t kMostBytes = std::size_t{64} << 20U;

std::int64_t rounded_up(std::int64_t count, std::int64_t unit) { return (count + unit - 1) / unit; }

// The first level at which `extent` has at most so many cells.
std::int64_t level_of(std::int64_t extent, std::int64_t cells) {
  std::int64_t level = 0;
  while (rounded_up(extent, std::int64_t{1} << level) > cells) ++level;
  return level;
}

// How many pairs a side cells have.
std::vector<std::int64_t> cell_sizes(std::int64_t begin, std::int64_t end, std::int64_t side) {
  std::vector<std::int64_t> all;
  for (; begin < end; begin += side) all.push_back(std::min(side, end - begin));
  return all;
}

}  // namespace

FarPyramid::FarPyramid(const Probe& probe, std::int64_t h, Mask mask) : probe_(probe), h_(h), mask_(std::move(mask)) {
  const std::int64_t longest = std::max(probe.shape().Tq, probe.shape().Tk);
  base_ = level_of(longest, kBaseCells);
  top_ = level_of(longest, kFarTile);
  bands_.resize(static_cast<std::size_t>(tiles(base_).rows));
}

MapSize FarPyramid::tiles(std::int64_t level) const {
  const std::int64_t side = kFarTile << level;
  return {rounded_up(probe_.shape().Tq, side), rounded_up(probe_.shape().Tk, side)};
}

MapArea FarPyramid::area(const FarPlaceOfTile& place) const {
  const std::int64_t side = kFarTile << place.level;
  return {place.row * side, std::min((place.row + 1) * side, probe_.shape().Tq), place.column * side,
          std::min((place.column + 1) * side, probe_.shape().Tk)};
}

SharedCells FarPyramid::tile(const FarPlaceOfTile& place, const ProbeWatch& watch) {
  if (place.level == base_) {
    require_band(place.row, watch);
    const std::scoped_lock lock(mutex_);
    return bands_[static_cast<std::size_t>(place.row)].tiles[static_cast<std::size_t>(place.column)];
  }
  if (SharedCells known = find(place)) return known;
  SharedCells cells = made(place, watch);
  keep(place, cells);
  return cells;
}

SharedCells FarPyramid::made(const FarPlaceOfTile& place, const ProbeWatch& watch) {
  if (place.level > base_) return folded(place, watch);
  const std::int64_t side = std::int64_t{1} << place.level;
  const CellMaps maps = far_map(probe_, h_, area(place), {side, side}, watch);
  return std::make_shared<const FarCells>(far_cells(maps, 0, 0, kFarTile, kFarTile));
}

SharedCells FarPyramid::folded(const FarPlaceOfTile& place, const ProbeWatch& watch) {
  const std::int64_t side = std::int64_t{1} << (place.level - 1);
  const MapArea whole = area(place);
  FoldedCells sums(rounded_up(whole.i_end - whole.i_begin, 2 * side),
                   rounded_up(whole.j_end - whole.j_begin, 2 * side));
  const MapSize finer = tiles(place.level - 1);
  for (std::int64_t r = 0; r < 2 && 2 * place.row + r < finer.rows; ++r) {
    for (std::int64_t c = 0; c < 2 && 2 * place.column + c < finer.columns; ++c) {
      const FarPlaceOfTile part = {place.level - 1, 2 * place.row + r, 2 * place.column + c};
      const MapArea own = area(part);
      sums.add(*tile(part, watch), r * kFarTile / 2, c * kFarTile / 2, cell_sizes(own.i_begin, own.i_end, side),
               cell_sizes(own.j_begin, own.j_end, side));
    }
  }
  return std::make_shared<const FarCells>(sums.finished());
}

// An upper bound of the pairs of a band.
std::int64_t FarPyramid::cost(std::int64_t row) const {
  const auto [i_begin, i_end, j_begin, j_end] = area({base_, row, 0});
  const KeyRange seen = mask_.hull({0, h_, i_begin, i_end, 0, probe_.shape().Tk}, probe_.shape());
  return (i_end - i_begin) * std::max<std::int64_t>(1, seen.end - seen.begin);
}

// Of all bands, those that are done.
ProbeProgress FarPyramid::progress() {
  ProbeProgress whole;
  const std::scoped_lock lock(mutex_);
  for (std::int64_t row = 0; row < std::ssize(bands_); ++row) {
    whole.total += cost(row);
    if (bands_[static_cast<std::size_t>(row)].state == Band::State::done) whole.done += cost(row);
  }
  return whole;
}

// The watch is told of the whole walk.
void FarPyramid::require_band_of_all(std::int64_t row, const ProbeWatch& watch) {
  if (!watch) return require_band(row, {});
  require_band(row, [&](const ProbeProgress& part) {
    const double share = part.total == 0 ? 0 : static_cast<double>(part.done) / static_cast<double>(part.total);
    ProbeProgress whole = progress();
    whole.done = std::min(whole.total, whole.done + static_cast<std::int64_t>(share * static_cast<double>(cost(row))));
    return watch(whole);
  });
}

void FarPyramid::walk(const ProbeWatch& watch) {
  for (std::int64_t row = 0; row < std::ssize(bands_); ++row) require_band_of_all(row, watch);
}

FarCells FarPyramid::band(std::int64_t row, const ProbeWatch& watch) {
  require_band_of_all(row, watch);
  std::vector<SharedCells> tiles;
  {
    const std::scoped_lock lock(mutex_);
    tiles = bands_[static_cast<std::size_t>(row)].tiles;
  }
  const MapArea area = this->area({base_, row, 0});
  for (std::int64_t level = base_; level < top_; ++level) {
    const std::int64_t side = std::int64_t{1} << level;
    const auto width = [&](std::size_t tile) {
      const std::int64_t begin = static_cast<std::int64_t>(tile) * kFarTile * side;
      return cell_sizes(begin, std::min(begin + kFarTile * side, probe_.shape().Tk), side);
    };
    const std::vector<std::int64_t> height = cell_sizes(area.i_begin, area.i_end, side);
    std::vector<SharedCells> folded;
    for (std::size_t pair = 0; pair < tiles.size(); pair += 2) {
      const bool has_other = pair + 1 < tiles.size();
      const std::int64_t columns = std::ssize(width(pair)) + (has_other ? std::ssize(width(pair + 1)) : 0);
      FoldedCells sums(rounded_up(std::ssize(height), 2), rounded_up(columns, 2));
      sums.add(*tiles[pair], 0, 0, height, width(pair));
      if (has_other) sums.add(*tiles[pair + 1], 0, kFarTile / 2, height, width(pair + 1));
      folded.push_back(std::make_shared<const FarCells>(sums.finished()));
    }
    tiles = std::move(folded);
  }
  return *tiles.front();
}

void FarPyramid::require_band(std::int64_t row, const ProbeWatch& watch) {
  constexpr std::chrono::milliseconds kLook(50);
  std::unique_lock lock(mutex_);
  Band& band = bands_[static_cast<std::size_t>(row)];
  while (band.state != Band::State::done) {
    if (band.state == Band::State::none) {
      lead(row, watch, lock);
      continue;
    }
    ++band.waiting;
    changed_.wait_for(lock, kLook);
    const ProbeProgress progress = band.progress;
    lock.unlock();
    const Proceed proceed = watch ? watch(progress) : Proceed::go_on;
    lock.lock();
    --band.waiting;
    if (proceed == Proceed::stop) throw Cancelled("nobody waits for this part of the map");
  }
}

// Walks a band on this thread, for all who wait for it.
void FarPyramid::lead(std::int64_t row, const ProbeWatch& watch, std::unique_lock<std::mutex>& lock) {
  Band& band = bands_[static_cast<std::size_t>(row)];
  band.state = Band::State::running;
  band.progress = {};
  lock.unlock();
  std::atomic<bool> left = false;
  const ProbeWatch for_all = [&](const ProbeProgress& progress) {
    if (watch && watch(progress) == Proceed::stop) left = true;
    const std::scoped_lock inner(mutex_);
    band.progress = progress;
    return left && band.waiting == 0 ? Proceed::stop : Proceed::go_on;
  };
  const CallWatch of_thread = [&] {
    if (QuestionWatch::proceed() == Proceed::stop) left = true;
    const std::scoped_lock inner(mutex_);
    return left && band.waiting == 0 ? Proceed::stop : Proceed::go_on;
  };
  const core::Watched watched(of_thread);
  const auto settle = [&](Band::State state) {
    lock.lock();
    band.state = state;
    changed_.notify_all();
  };
  try {
    std::vector<SharedCells> tiles = walked(row, for_all);
    settle(Band::State::done);
    band.tiles = std::move(tiles);
  } catch (...) {
    settle(Band::State::none);
    throw;
  }
  if (left) throw Cancelled("nobody waits for this part of the map");
}

std::vector<SharedCells> FarPyramid::walked(std::int64_t row, const ProbeWatch& watch) const {
  const std::int64_t side = std::int64_t{1} << base_;
  MapArea band = area({base_, row, 0});
  band.j_begin = 0;
  band.j_end = probe_.shape().Tk;
  const CellMaps maps = far_map(probe_, h_, band, {side, side}, watch);
  std::vector<SharedCells> tiles;
  for (std::int64_t column = 0; column < this->tiles(base_).columns; ++column) {
    tiles.push_back(std::make_shared<const FarCells>(far_cells(maps, 0, column * kFarTile, kFarTile, kFarTile)));
  }
  return tiles;
}

SharedCells FarPyramid::find(const FarPlaceOfTile& place) {
  const std::scoped_lock lock(mutex_);
  const auto found = kept_.find(place);
  return found == kept_.end() ? nullptr : found->second;
}

void FarPyramid::keep(const FarPlaceOfTile& place, const SharedCells& cells) {
  const std::scoped_lock lock(mutex_);
  if (!kept_.try_emplace(place, cells).second) return;
  order_.push_back(place);
  bytes_ += cells->bytes();
  while (bytes_ > kMostBytes) {
    const auto oldest = kept_.find(order_.front());
    bytes_ -= oldest->second->bytes();
    kept_.erase(oldest);
    order_.pop_front();
  }
}

}  // namespace qkv::api_detail
