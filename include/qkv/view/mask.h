// What a mask shows, what it costs in tiles, and how it looks; and all words of the mask language.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "qkv/mask.h"
#include "qkv/picture/heatmap.h"
#include "qkv/tile_plan.h"
#include "qkv/view/field.h"

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

/// {"mask", "shape", "tile", "pairs", "tiles"}
[[nodiscard]] std::string as_json(const MaskReply& reply);

/// A word of the language as an example over the request's shape.
struct MaskWordReply {
  Word word;
  std::string example;
  TileCounts counts;
};

/// Every word of the language; the request's mask is not looked at.
[[nodiscard]] std::vector<MaskWordReply> mask_word_list(const MaskRequest& request);

[[nodiscard]] std::string as_text(const MaskRequest& request, const std::vector<MaskWordReply>& words, int width);
[[nodiscard]] std::string as_json(const MaskRequest& request, const std::vector<MaskWordReply>& words);

}  // namespace qkv
