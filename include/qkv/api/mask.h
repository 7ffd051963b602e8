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
#include "qkv/tile_plan.h"

namespace qkv {

struct MaskRequest {
  std::string mask;
  std::int64_t tq = 512;
  std::int64_t tk = 512;
  std::int64_t batch = 1;
  std::int64_t heads = 1;
  std::string tile = "64";
};

[[nodiscard]] const Fields<MaskRequest>& mask_fields();

struct MaskReply {
  std::string text;  // of the mask
  bool varies_by_batch = false;
  bool varies_by_head = false;
  TilePlan plan;
};

/// Plans the mask. Throws MaskSyntaxError, and InvalidArgument for a tile of no size or a mask that does not fit.
[[nodiscard]] MaskReply mask(const MaskRequest& request, const TilePlan::Watch& watch = {});

/// The heads and batch entries that differ, eight at most. Throws InvalidArgument for a shape without pairs.
[[nodiscard]] Panel picture_of(const MaskReply& reply);

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

/// The figures of a mask: what `qkv mask --json` prints, and what the studio's question `mask` begins with.
struct MaskFigures : MaskExtents, MaskCounts {
  std::string mask;  // as it was read
};

[[nodiscard]] MaskFigures mask_figures(const MaskReply& reply);

struct MaskWordShown {
  std::string word, form, meaning;
  std::string example;  // one that fits the shape
};

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

[[nodiscard]] const Members<MaskExtents>& members_of(const MaskExtents* extents);
[[nodiscard]] const Members<MaskCounts>& members_of(const MaskCounts* counts);
[[nodiscard]] const Members<MaskFigures>& members_of(const MaskFigures* figures);
[[nodiscard]] const Members<MaskWordShown>& members_of(const MaskWordShown* word);
[[nodiscard]] const Members<MaskWordFigures>& members_of(const MaskWordFigures* word);
[[nodiscard]] const Members<MaskWordList>& members_of(const MaskWordList* list);

}  // namespace qkv
