#include "qkv/tile_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <unordered_map>

#include "mask/node.h"

namespace qkv {
namespace {

// The code of a tile: skip, full, or kFirstPattern + the index of its pattern.
using Code = std::uint32_t;
constexpr Code kSkip = 0;
constexpr Code kFull = 1;
constexpr Code kFirstPattern = 2;

constexpr std::int64_t kMostTiles = std::int64_t{1} << 30;

struct TileRow {
  KeyRange columns;       // tiles outside are skipped
  std::size_t first = 0;  // the code of tile columns.begin
};

double share(std::int64_t part, std::int64_t whole) noexcept {
  return whole == 0 ? 0 : static_cast<double>(part) / static_cast<double>(whole);
}

std::int64_t ceil_div(std::int64_t extent, std::int64_t size) noexcept { return extent / size + (extent % size != 0); }

std::size_t as_index(std::int64_t value) noexcept { return static_cast<std::size_t>(value); }

// The distinct bit patterns of partial tiles.
class Patterns {
 public:
  explicit Patterns(std::int64_t words) : words_(as_index(words)) {}

  std::size_t add(std::span<const std::uint64_t> bits) {
    const auto [begin, end] = by_hash_.equal_range(hash(bits));
    for (auto known = begin; known != end; ++known) {
      if (std::ranges::equal((*this)[known->second], bits)) return known->second;
    }
    const std::size_t index = kept_.size();
    by_hash_.emplace(hash(bits), index);
    bits_.insert(bits_.end(), bits.begin(), bits.end());
    std::int64_t kept = 0;
    for (const std::uint64_t word : bits) kept += std::popcount(word);
    kept_.push_back(kept);
    return index;
  }

  [[nodiscard]] std::span<const std::uint64_t> operator[](std::size_t index) const {
    return std::span(bits_).subspan(index * words_, words_);
  }
  [[nodiscard]] std::int64_t kept(std::size_t index) const { return kept_[index]; }

 private:
  [[nodiscard]] static std::uint64_t hash(std::span<const std::uint64_t> bits) noexcept {
    std::uint64_t state = 0;
    for (const std::uint64_t word : bits) state = std::rotl((state ^ word) * 0x9E3779B97F4A7C15U, 29);
    return state;
  }

  std::size_t words_;
  std::vector<std::uint64_t> bits_;
  std::vector<std::int64_t> kept_;
  std::unordered_multimap<std::uint64_t, std::size_t> by_hash_;
};

}  // namespace

struct TilePlan::Head {
  std::vector<TileRow> rows;
  std::vector<Code> codes;
  Patterns patterns;
  TileCounts counts;

  [[nodiscard]] Code code(std::int64_t row, std::int64_t column) const {
    const TileRow& tiles = rows[as_index(row)];
    if (column < tiles.columns.begin || column >= tiles.columns.end) return kSkip;
    return codes[tiles.first + as_index(column - tiles.columns.begin)];
  }
};

// Makes the plan of one head.
class TilePlan::Builder {
 public:
  Builder(const Mask& mask, const TilePlan& plan) : mask_(mask), plan_(plan) {}

  // The number of tiles inside the mask's hulls; stops counting beyond kMostTiles.
  [[nodiscard]] std::int64_t count_candidates(std::int64_t b, std::int64_t h) const {
    std::int64_t tiles = 0;
    for (std::int64_t row = 0; row < plan_.rows_ && tiles <= kMostTiles; ++row) {
      const KeyRange hull = mask_.hull(plan_.extent(b, h, row, {0, plan_.columns_}), plan_.shape_);
      tiles += std::max<std::int64_t>(0, ceil_div(hull.end, plan_.size_.keys) - hull.begin / plan_.size_.keys);
    }
    return tiles;
  }

  [[nodiscard]] Head build(std::int64_t b, std::int64_t h, const Watch& watch) {
    Head head{{}, {}, Patterns(words_per_tile()), {}};
    head.rows.reserve(as_index(plan_.rows_));
    for (std::int64_t row = 0; row < plan_.rows_; ++row) {
      add_row(head, plan_.extent(b, h, row, {0, plan_.columns_}));
      if (watch) watch(row + 1, plan_.rows_);
    }
    head.counts.skip = plan_.rows_ * plan_.columns_ - head.counts.full - head.counts.partial;
    head.counts.pairs_total = plan_.shape_.Tq * plan_.shape_.Tk;
    return head;
  }

 private:
  void add_row(Head& head, const Tile& row_tile) {
    const std::int64_t keys = plan_.size_.keys;
    const KeyRange hull = mask_.hull(row_tile, plan_.shape_);
    const std::int64_t end = ceil_div(hull.end, keys);
    TileRow row{{hull.begin / keys, hull.begin / keys}, head.codes.size()};
    for (std::int64_t column = hull.begin / keys; column < end; ++column) {
      Tile tile = row_tile;
      tile.j_begin = column * keys;
      tile.j_end = std::min(tile.j_begin + keys, plan_.shape_.Tk);
      const Code code = settle(head, tile);
      const bool leading = code == kSkip && head.codes.size() == row.first;
      if (leading) row.columns.begin = column + 1;
      if (!leading) head.codes.push_back(code);
      if (code != kSkip) row.columns.end = column + 1;
    }
    row.columns.end = std::max(row.columns.begin, row.columns.end);
    head.codes.resize(row.first + as_index(row.columns.end - row.columns.begin));
    head.rows.push_back(row);
  }

  Code settle(Head& head, const Tile& tile) {
    TileClass tile_class = mask_.classify(tile, plan_.shape_);
    if (tile_class == TileClass::partial) tile_class = evaluate(tile);
    if (tile_class == TileClass::skip) return kSkip;
    if (tile_class == TileClass::full) {
      ++head.counts.full;
      head.counts.pairs_kept += (tile.i_end - tile.i_begin) * (tile.j_end - tile.j_begin);
      return kFull;
    }
    const std::size_t pattern = head.patterns.add(tile_bits_);
    ++head.counts.partial;
    head.counts.pairs_kept += head.patterns.kept(pattern);
    return kFirstPattern + static_cast<Code>(pattern);
  }

  // Evaluates each pair into tile_bits_.
  TileClass evaluate(const Tile& tile) {
    tile_bits_.assign(as_index(words_per_tile()), 0);
    bool any = false;
    bool every = true;
    for (std::int64_t i = tile.i_begin; i < tile.i_end; ++i) {
      std::size_t word = as_index((i - tile.i_begin) * plan_.words_per_row());
      for (std::int64_t j = tile.j_begin; j < tile.j_end; j += 64, ++word) {
        const int count = static_cast<int>(std::min<std::int64_t>(64, tile.j_end - j));
        tile_bits_[word] = mask_.row_bits({tile.b, tile.h, i, j}, count, plan_.shape_);
        any = any || tile_bits_[word] != 0;
        every = every && tile_bits_[word] == mask_detail::low_bits(count);
      }
    }
    if (!any) return TileClass::skip;
    return every ? TileClass::full : TileClass::partial;
  }

  [[nodiscard]] std::int64_t words_per_tile() const { return plan_.size_.queries * plan_.words_per_row(); }

  const Mask& mask_;
  const TilePlan& plan_;
  std::vector<std::uint64_t> tile_bits_;  // empty until a tile is evaluated
};

double TileCounts::coverage() const noexcept { return share(pairs_kept, pairs_total); }

double TileCounts::cost() const noexcept { return share(full + partial, total()); }

TilePlan::TilePlan(const Mask& mask, const MaskShape& shape, TileSize size, const Watch& watch)
    : shape_(shape), distinct_(shape) {
  mask_detail::require_at_least("TilePlan", "size.queries", 1, size.queries);
  mask_detail::require_at_least("TilePlan", "size.keys", 1, size.keys);
  mask.validate(shape);
  static_cast<void>(Dims{shape.B, shape.H, shape.Tq, shape.Tk}.product());
  size_ = {std::min(size.queries, std::max<std::int64_t>(shape.Tq, 1)),
           std::min(size.keys, std::max<std::int64_t>(shape.Tk, 1))};
  rows_ = ceil_div(shape.Tq, size_.queries);
  columns_ = ceil_div(shape.Tk, size_.keys);
  if (!mask.varies_by_batch()) distinct_.B = std::min<std::int64_t>(shape.B, 1);
  if (!mask.varies_by_head()) distinct_.H = std::min<std::int64_t>(shape.H, 1);
  require_few(mask);
  std::vector<Head> heads;
  for (std::int64_t b = 0; b < distinct_.B; ++b) {
    for (std::int64_t h = 0; h < distinct_.H; ++h) heads.push_back(Builder(mask, *this).build(b, h, watch));
  }
  heads_ = std::make_shared<const std::vector<Head>>(std::move(heads));
}

// Checked before any tile is stored: 2^30 tiles take 4 GiB.
void TilePlan::require_few(const Mask& mask) const {
  const std::int64_t heads = distinct_.B * distinct_.H;
  std::int64_t tiles = 0;
  bool few = rows_ == 0 || heads <= kMostTiles / rows_;
  for (std::int64_t n = 0; few && n < heads; ++n) {
    tiles += Builder(mask, *this).count_candidates(n / distinct_.H, n % distinct_.H);
    few = tiles <= kMostTiles;
  }
  if (few) return;
  throw InvalidArgument("TilePlan", "size",
                        fmt::format("larger tiles: a plan keeps at most {}, of all heads that differ", kMostTiles),
                        fmt::format("{}x{}, which keeps more of the {} x {} tiles of {} heads", size_.queries,
                                    size_.keys, rows_, columns_, heads));
}

const TilePlan::Head& TilePlan::head(std::int64_t b, std::int64_t h) const {
  if (b < 0 || b >= shape_.B || h < 0 || h >= shape_.H) {
    throw InvalidArgument("TilePlan", "b, h", fmt::format("inside [{}, {}]", shape_.B, shape_.H),
                          fmt::format("{}, {}", b, h));
  }
  return (*heads_)[as_index((b % distinct_.B) * distinct_.H + h % distinct_.H)];
}

Tile TilePlan::extent(std::int64_t b, std::int64_t h, std::int64_t row, const KeyRange& columns) const {
  return {.b = b,
          .h = h,
          .i_begin = row * size_.queries,
          .i_end = std::min((row + 1) * size_.queries, shape_.Tq),
          .j_begin = columns.begin * size_.keys,
          .j_end = std::min(columns.end * size_.keys, shape_.Tk)};
}

void TilePlan::require_inside(std::int64_t row, std::int64_t column) const {
  if (row >= 0 && row < rows_ && column >= 0 && column < columns_) return;
  throw InvalidArgument("TilePlan", "row, column", fmt::format("inside [{}, {}]", rows_, columns_),
                        fmt::format("{}, {}", row, column));
}

TileClass TilePlan::tile(std::int64_t b, std::int64_t h, std::int64_t row, std::int64_t column) const {
  require_inside(row, column);
  const Code code = head(b, h).code(row, column);
  if (code == kSkip) return TileClass::skip;
  return code == kFull ? TileClass::full : TileClass::partial;
}

KeyRange TilePlan::columns_of(std::int64_t b, std::int64_t h, std::int64_t row) const {
  if (columns_ == 0) return {0, 0};
  require_inside(row, 0);
  return head(b, h).rows[as_index(row)].columns;
}

std::span<const std::uint64_t> TilePlan::bits(std::int64_t b, std::int64_t h, std::int64_t row,
                                              std::int64_t column) const {
  require_inside(row, column);
  const Head& one = head(b, h);
  const Code code = one.code(row, column);
  if (code < kFirstPattern) return {};
  return one.patterns[code - kFirstPattern];
}

bool TilePlan::visible(std::int64_t b, std::int64_t h, std::int64_t i, std::int64_t j) const {
  const std::int64_t row = i / size_.queries;
  const std::int64_t column = j / size_.keys;
  const std::span<const std::uint64_t> words = bits(b, h, row, column);
  if (words.empty()) return tile(b, h, row, column) == TileClass::full;
  const std::int64_t c = j % size_.keys;
  return (words[as_index((i % size_.queries) * words_per_row() + c / 64)] >> (c % 64) & 1U) != 0;
}

std::int64_t TilePlan::pairs_kept(std::int64_t b, std::int64_t h, std::int64_t row, std::int64_t column) const {
  require_inside(row, column);
  const Head& one = head(b, h);
  const Code code = one.code(row, column);
  if (code >= kFirstPattern) return one.patterns.kept(code - kFirstPattern);
  const Tile all_of_it = extent(b, h, row, {column, column + 1});
  return code == kFull ? (all_of_it.i_end - all_of_it.i_begin) * (all_of_it.j_end - all_of_it.j_begin) : 0;
}

TileCounts TilePlan::counts() const {
  TileCounts sum;
  if (heads_->empty()) return sum;
  const std::int64_t repeats = (shape_.B / distinct_.B) * (shape_.H / distinct_.H);
  for (const Head& one : *heads_) {
    sum.skip += one.counts.skip * repeats;
    sum.full += one.counts.full * repeats;
    sum.partial += one.counts.partial * repeats;
    sum.pairs_kept += one.counts.pairs_kept * repeats;
    sum.pairs_total += one.counts.pairs_total * repeats;
  }
  return sum;
}

}  // namespace qkv
