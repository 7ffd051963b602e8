// The tiles of one head at every level, each made when it is first asked for.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "api/far/far_cells.h"
#include "qkv/mask.h"

namespace qkv::api_detail {

using SharedCells = std::shared_ptr<const FarCells>;

struct FarPlaceOfTile {
  std::int64_t level = 0;
  std::int64_t row = 0;
  std::int64_t column = 0;

  friend auto operator<=>(const FarPlaceOfTile&, const FarPlaceOfTile&) = default;
};

/// Levels finer than the base are probed, tile by tile. The base is walked once, in bands of a row of tiles, and kept:
/// at most 4,096 x 4,096 cells, 5 bytes each, what the mask hides left out. Coarser levels are folded from it. Tiles
/// beside the base are kept up to 64 MiB. Several threads may ask at once: each band is walked by one of them, and its
/// walk stops only where nobody waits for it.
class FarPyramid {
 public:
  /// `probe` must outlive it.
  FarPyramid(const Probe& probe, std::int64_t h, Mask mask);

  [[nodiscard]] std::int64_t base() const noexcept { return base_; }
  /// The level of which one tile holds everything.
  [[nodiscard]] std::int64_t top() const noexcept { return top_; }
  /// How many tiles a level has.
  [[nodiscard]] MapSize tiles(std::int64_t level) const;
  /// The queries and keys of a tile.
  [[nodiscard]] MapArea area(const FarPlaceOfTile& place) const;

  /// Throws Cancelled where `watch` said stop.
  [[nodiscard]] SharedCells tile(const FarPlaceOfTile& place, const ProbeWatch& watch);
  /// All bands of the base.
  void walk(const ProbeWatch& watch);
  /// One of them, folded into cells of the top level. The watch is told of the whole walk: bands that are done count.
  [[nodiscard]] FarCells band(std::int64_t row, const ProbeWatch& watch);

 private:
  struct Band {
    enum class State : std::uint8_t { none, running, done } state = State::none;
    std::vector<SharedCells> tiles = {};
    int waiting = 0;
    ProbeProgress progress = {};
  };

  [[nodiscard]] SharedCells made(const FarPlaceOfTile& place, const ProbeWatch& watch);
  [[nodiscard]] SharedCells folded(const FarPlaceOfTile& place, const ProbeWatch& watch);
  [[nodiscard]] ProbeProgress progress();
  void require_band_of_all(std::int64_t row, const ProbeWatch& watch);
  void require_band(std::int64_t row, const ProbeWatch& watch);
  void lead(std::int64_t row, const ProbeWatch& watch, std::unique_lock<std::mutex>& lock);
  [[nodiscard]] std::vector<SharedCells> walked(std::int64_t row, const ProbeWatch& watch) const;
  [[nodiscard]] std::int64_t cost(std::int64_t row) const;
  [[nodiscard]] SharedCells find(const FarPlaceOfTile& place);
  void keep(const FarPlaceOfTile& place, const SharedCells& cells);

  const Probe& probe_;
  std::int64_t h_;
  Mask mask_;
  std::int64_t base_ = 0;
  std::int64_t top_ = 0;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<Band> bands_;
  std::map<FarPlaceOfTile, SharedCells> kept_;
  std::deque<FarPlaceOfTile> order_;  // of kept_, the oldest first
  std::size_t bytes_ = 0;
};

}  // namespace qkv::api_detail
