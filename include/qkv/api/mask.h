// What a mask shows, what it costs in tiles, and how it looks; and all words of the mask language.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "qkv/api/field.h"
#include "qkv/api/member.h"
#include "qkv/mask.h"
#include "qkv/picture/heatmap.h"
#include "qkv/tensor.h"
#include "qkv/tile_plan.h"

namespace qkv {

/// A mask over a shape; without a mask, every word of the language over it.
struct MaskRequest {
  std::string mask;
  std::int64_t tq = 512;
  std::int64_t tk = 512;
  std::int64_t batch = 1;
  std::int64_t heads = 1;
  std::string tile = "64";
  bool map = false;
  std::int64_t cells = 64;                        // rows and columns of a drawing or map, at most
  std::optional<std::int64_t> head, batch_entry;  // whose; drawings show all that differ
};

[[nodiscard]] const Fields<MaskRequest>& mask_fields();

struct MaskReply {
  std::string text;  // of the mask
  bool varies_by_batch = false;
  bool varies_by_head = false;
  TilePlan plan;
};

/// Plans the mask. Throws MaskSyntaxError, and InvalidArgument for a tile of no size, a mask that does not fit, a head
/// or batch entry that there is not, and a map of more than 131,072 queries or keys.
[[nodiscard]] MaskReply mask(const MaskRequest& request);

/// The heads and batch entries that differ, eight at most, or those that the request names. Throws InvalidArgument for
/// a shape without pairs.
[[nodiscard]] Panel picture_of(const MaskReply& reply, const MaskRequest& request);

/// The mask, its shape, its coverage and its tiles, in lines of at most `width` columns.
[[nodiscard]] std::string as_text(const MaskReply& reply, int width);

struct MaskExtents {
  std::int64_t batch = 0, heads = 0;
  std::int64_t tq = 0, tk = 0;
  std::int64_t tile_queries = 0, tile_keys = 0;
};

struct MaskCounts {
  std::int64_t pairs_kept = 0, pairs_total = 0;
  double coverage = 0;  // share of pairs kept
  std::int64_t skip = 0, full = 0, partial = 0, tiles = 0;
  double cost = 0;  // share of tiles that are computed
};

struct MaskWordShown {
  std::string word, form, meaning;
  std::string example;  // one that fits the shape
};

/// One head of a mask, drawn in cells: pairs, tiles or blocks of tiles.
struct MaskMap {
  std::int64_t cell_queries = 0, cell_keys = 0;  // 1 where each pair is drawn
  Tensor share;                                  // f32 [rows, columns]
  std::int64_t blind_rows = 0;
  std::vector<std::int64_t> first_blind;  // eight at most
  std::string sentence;
};

/// The figures of a mask.
struct MaskFigures : MaskExtents, MaskCounts {
  std::string mask;                  // as it was read
  std::optional<MaskMap> map;        // where the request has it
  std::vector<MaskWordShown> words;  // without an example where it would be long
};

/// Of the plan of the request.
[[nodiscard]] MaskFigures mask_figures(const MaskReply& reply, const MaskRequest& request);

/// A word of the language with the figures of its example.
struct MaskWordFigures : MaskWordShown, MaskCounts {};

struct MaskWordList : MaskExtents {
  std::vector<MaskWordFigures> words;
};

/// Every word of the language over the request's shape; its mask is not looked at.
[[nodiscard]] MaskWordList mask_word_list(const MaskRequest& request);

[[nodiscard]] std::string as_text(const MaskWordList& list, int width);

/// MaskFigures, or MaskWordList of a request without a mask.
[[nodiscard]] AnyReply answer(const MaskRequest& request);

[[nodiscard]] Members<MaskExtents> describe(const MaskExtents* extents);
[[nodiscard]] Members<MaskCounts> describe(const MaskCounts* counts);
[[nodiscard]] Members<MaskWordShown> describe(const MaskWordShown* word);
[[nodiscard]] Members<MaskMap> describe(const MaskMap* map);
[[nodiscard]] Members<MaskFigures> describe(const MaskFigures* figures);
[[nodiscard]] Members<MaskWordFigures> describe(const MaskWordFigures* word);
[[nodiscard]] Members<MaskWordList> describe(const MaskWordList* list);

}  // namespace qkv
