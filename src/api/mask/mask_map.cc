// A mask as a map for the page.
#include <fmt/format.h>

#include <algorithm>

#include "api/fields/refuse.h"
#include "api/mask/mask_extents.h"
#include "api/studio/studio_questions.h"
#include "qkv/api/patterns.h"

namespace qkv {
namespace {

constexpr std::int64_t kLongest = std::int64_t{1} << 17;  // a plan stores its tiles
constexpr std::size_t kNamed = 8;
constexpr std::size_t kLongExample = 200;  // dense() names every key

/// The cells [begin, end) of n things drawn in `cells` cells.
std::int64_t begin_of(std::int64_t cell, std::int64_t cells, std::int64_t n) { return cell * n / cells; }

class Map {
 public:
  Map(const TilePlan& plan, std::int64_t b, std::int64_t h, std::int64_t cells)
      : plan_(plan), b_(b), h_(h), pairwise_(plan.shape().Tq <= cells && plan.shape().Tk <= cells) {
    rows_ = pairwise_ ? plan.shape().Tq : std::min(cells, plan.rows());
    columns_ = pairwise_ ? plan.shape().Tk : std::min(cells, plan.columns());
  }

  [[nodiscard]] Tensor shares() const {
    Tensor shares(DType::f32, {rows_, columns_});
    auto out = shares.values<float>().begin();
    for (std::int64_t r = 0; r < rows_; ++r) {
      for (std::int64_t c = 0; c < columns_; ++c) {
        *out++ = pairwise_ ? (plan_.visible(b_, h_, r, c) ? 1.0F : 0.0F) : block_share(r, c);
      }
    }
    return shares;
  }

  [[nodiscard]] std::int64_t cell_queries() const {
    return pairwise_ ? 1 : pairs_of(rows_, plan_.rows(), plan_.tile_size().queries);
  }
  [[nodiscard]] std::int64_t cell_keys() const {
    return pairwise_ ? 1 : pairs_of(columns_, plan_.columns(), plan_.tile_size().keys);
  }

 private:
  static std::int64_t pairs_of(std::int64_t cells, std::int64_t tiles, std::int64_t size) {
    return (tiles + cells - 1) / cells * size;
  }

  [[nodiscard]] float block_share(std::int64_t r, std::int64_t c) const {
    const TileSize& size = plan_.tile_size();
    const auto extent = [](std::int64_t tile, std::int64_t side, std::int64_t whole) {
      return std::min(side, whole - tile * side);
    };
    std::int64_t kept = 0;
    std::int64_t all = 0;
    for (std::int64_t row = begin_of(r, rows_, plan_.rows()); row < begin_of(r + 1, rows_, plan_.rows()); ++row) {
      for (std::int64_t column = begin_of(c, columns_, plan_.columns());
           column < begin_of(c + 1, columns_, plan_.columns()); ++column) {
        kept += plan_.pairs_kept(b_, h_, row, column);
        all += extent(row, size.queries, plan_.shape().Tq) * extent(column, size.keys, plan_.shape().Tk);
      }
    }
    return all == 0 ? 0 : static_cast<float>(static_cast<double>(kept) / static_cast<double>(all));
  }

  const TilePlan& plan_;
  std::int64_t b_, h_;
  bool pairwise_;
  std::int64_t rows_ = 0, columns_ = 0;
};

/// Whether any tile of a row of tiles shows query `i` something.
bool sees_anything(const TilePlan& plan, std::int64_t b, std::int64_t h, std::int64_t i) {
  const std::int64_t row = i / plan.tile_size().queries;
  const KeyRange columns = plan.columns_of(b, h, row);
  for (std::int64_t column = columns.begin; column < columns.end; ++column) {
    const TileClass kind = plan.tile(b, h, row, column);
    if (kind == TileClass::full) return true;
    if (kind == TileClass::skip) continue;
    const auto words = plan.bits(b, h, row, column)
                           .subspan(static_cast<std::size_t>((i % plan.tile_size().queries) * plan.words_per_row()),
                                    static_cast<std::size_t>(plan.words_per_row()));
    if (std::ranges::any_of(words, [](std::uint64_t word) { return word != 0; })) return true;
  }
  return false;
}

void find_blind_rows(const TilePlan& plan, std::int64_t b, std::int64_t h, MaskMapReply& reply) {
  for (std::int64_t i = 0; i < plan.shape().Tq; ++i) {
    if (sees_anything(plan, b, h, i)) continue;
    ++reply.blind_rows;
    if (reply.first_blind.size() < kNamed) reply.first_blind.push_back(i);
  }
}

std::string sentence_of(const MaskMapReply& reply) {
  const std::string blind = reply.blind_rows == 0 ? "Every query sees something."
                            : reply.blind_rows == 1
                                ? fmt::format("Query {} sees nothing: its output is 0.", reply.first_blind.front())
                                : fmt::format("{} queries see nothing, the first is {}: their outputs are 0.",
                                              reply.blind_rows, reply.first_blind.front());
  return fmt::format("{:.2f} % of the pairs are kept, {:.2f} % of the tiles are computed. {}", 100 * reply.coverage,
                     100 * reply.cost, blind);
}

void require_drawable(const MaskMapRequest& request) {
  const auto within = [](std::string_view field, std::int64_t value, std::int64_t count) {
    if (value >= count) api_detail::refuse(field, fmt::format("0 to {} for a map", count - 1), std::to_string(value));
  };
  within("batch_entry", request.batch_entry, request.batch);
  within("head", request.head, request.heads);
}

MaskMapReply answer_mask(api_detail::StudioState& /*needs none*/, const MaskMapRequest& request,
                         const StudioWatch& watch) {
  require_drawable(request);
  MaskMapRequest asked = request;
  if (asked.mask.empty()) asked.mask = "all";
  const MaskReply found = mask(asked, [&](std::int64_t done, std::int64_t rows) {
    if (watch && watch("rows of tiles", {.done = done, .total = rows}) == Proceed::stop) {
      throw Cancelled("mask: stopped");
    }
  });
  const TilePlan& plan = found.plan;
  const Map map(plan, request.batch_entry, request.head, request.cells);
  MaskMapReply reply;
  static_cast<MaskFigures&>(reply) = mask_figures(found);
  reply.cell_queries = map.cell_queries();
  reply.cell_keys = map.cell_keys();
  reply.share = map.shares();
  find_blind_rows(plan, request.batch_entry, request.head, reply);
  reply.sentence = sentence_of(reply);
  for (const Word& word : mask_words()) {
    std::string example = mask_sample(word.word, plan.shape());
    if (example.size() > kLongExample) example.clear();
    reply.words.push_back(
        {std::string(word.word), std::string(word.form), std::string(word.meaning), std::move(example)});
  }
  return reply;
}

}  // namespace

const Fields<MaskMapRequest>& mask_map_fields() {
  static const Fields<MaskMapRequest> kFields = [] {
    constexpr std::int64_t kMostCells = 1024;
    Fields<MaskMapRequest> fields;
    fields.add(api_detail::mask_fields_within({.least = 1, .longest = kLongest}));
    fields.add(&MaskMapRequest::cells,
               {.name = "cells", .meaning = "Rows and columns of the map, at most", .least = 1, .most = kMostCells});
    fields.add(&MaskMapRequest::head,
               {.name = "head", .meaning = "Whose map, where heads differ", .least = 0, .most = std::int64_t{1} << 40});
    fields.add(&MaskMapRequest::batch_entry, {.name = "batch_entry",
                                              .meaning = "Whose map, where batch entries differ",
                                              .least = 0,
                                              .most = std::int64_t{1} << 40});
    return fields;
  }();
  return kFields;
}

const Members<MaskMapReply>& members_of(const MaskMapReply* /*type*/) {
  using R = MaskMapReply;
  static const auto kMembers =
      Members<R>("MaskMapReply")
          .add(members_of(static_cast<const MaskFigures*>(nullptr)))
          .add(&R::cell_queries, "cell_queries", "Queries of a cell, at most")
          .add(&R::cell_keys, "cell_keys", "Keys of a cell, at most")
          .add(&R::share, "share", "f32 [rows, columns]: share of a cell's pairs that is kept")
          .add(&R::blind_rows, "blind_rows", "Queries that see nothing")
          .add(&R::first_blind, "first_blind", "Eight of them at most")
          .add(&R::sentence, "sentence", "All of it in words")
          .add(&R::words, "words", "Of the mask language; an example that would be long is left out");
  return kMembers;
}

api_detail::Answerer api_detail::mask_question() {
  return answerer<MaskMapRequest, MaskMapReply>(
      "mask", "Who sees whom, and which tiles are computed.", mask_map_fields(), answer_mask,
      {R"j({"mask": "causal & window(512)"})j", R"j({"mask": "causal", "tq": 8, "tk": 6})j"});
}

}  // namespace qkv
