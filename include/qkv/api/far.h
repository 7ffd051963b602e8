// One head over a text of any length, as tiles that are looked at from near and from far: the page Far.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "qkv/api/field.h"
#include "qkv/api/member.h"
#include "qkv/tensor.h"

namespace qkv {

/// Which head: of a model over a long text; without a model, of the probe that the studio was opened with; else of
/// drawn numbers in which a few queries have one key of high weight planted far away, under words that are made up.
struct FarRequest {
  std::string model, text;  // without a text, the file that the studio was opened with
  std::string site;
  std::int64_t layer = 0;
  std::int64_t head = 0;
  std::int64_t tokens = 131072;
  std::string mask = "causal";
  std::int64_t seed = 1;
};

/// The side of a tile, in cells.
inline constexpr std::int64_t kFarTile = 256;

/// A tile of cells. Mean and largest weight are the base-2 logarithms of the weights, -inf for 0, and precise to 1 %.
struct FarTile {
  std::int64_t level = 0;  // a cell has 2^level queries and keys, fewer at the ends
  std::int64_t row = 0;    // of the tile
  std::int64_t column = 0;
  std::int64_t i_begin = 0, i_end = 0, j_begin = 0, j_end = 0;
  std::int64_t every = 1;              // only every n-th query was looked at
  std::optional<Tensor> mean = {};     // f16 [rows, columns]; null where the mask hides all
  std::optional<Tensor> largest = {};  // f16
  std::optional<Tensor> visible = {};  // u8: 0 for none of the cell's pairs, 255 for all
  std::vector<std::string> queries = {}, keys = {};
};

struct FarLevel {
  std::int64_t level = 0;
  std::int64_t side = 1;
  std::int64_t rows = 0;
  std::int64_t columns = 0;
  std::string made;  // "probed", "walked" or "folded"
};

struct FarNeedle {
  std::int64_t query = 0;
  std::int64_t key = 0;
  std::string word;
};

struct FarReply {
  std::string title;
  std::int64_t queries = 0;
  std::int64_t keys = 0;
  std::string mask;
  std::int64_t layers = 1;
  std::int64_t heads = 1;
  std::string site;
  std::vector<std::string> sites;
  std::vector<FarNeedle> needles;
  std::vector<FarLevel> levels;
  std::int64_t base = 0;
  FarTile overview;
  std::vector<std::string> cautions;
};

struct FarTileRequest : FarRequest {
  std::int64_t level = 0;
  std::int64_t row = 0;
  std::int64_t column = 0;
  std::int64_t every = 1;
};

struct FarWalkRequest : FarRequest {
  std::optional<std::int64_t> band;
};

struct FarRowRequest : FarRequest {
  std::int64_t query = 0;
  std::int64_t count = 8;
  std::string at;
};

struct FarKey {
  std::int64_t key = 0;
  std::string word;
  double weight = 0;
};

struct FarRowReply {
  std::int64_t query = 0;
  std::string word;
  std::int64_t visible = 0;
  std::vector<FarKey> top = {}, at = {};
  double entropy = 0, normalised_entropy = 0, distance = 0, mass = 0;
  std::string sentence = {};
};

struct FarLargestRequest : FarRequest {
  std::string area;
};

/// A pair of a query and a key.
struct FarLargestReply {
  std::int64_t query = 0;
  std::string query_word;
  std::int64_t key = 0;
  std::string key_word;
  double weight = 0;
};

struct FarFindRequest : FarRequest {
  std::string word;
  std::int64_t most = 100;
};

struct FarPlace {
  std::int64_t key = 0;
  std::string context;
};

struct FarFindReply {
  std::int64_t count = 0;
  std::vector<FarPlace> places;
};

[[nodiscard]] const Fields<FarRequest>& far_fields();
[[nodiscard]] const Fields<FarTileRequest>& far_tile_fields();
[[nodiscard]] const Fields<FarWalkRequest>& far_walk_fields();
[[nodiscard]] const Fields<FarRowRequest>& far_row_fields();
[[nodiscard]] const Fields<FarLargestRequest>& far_largest_fields();
[[nodiscard]] const Fields<FarFindRequest>& far_find_fields();

[[nodiscard]] Members<FarTile> describe(const FarTile* tile);
[[nodiscard]] Members<FarLevel> describe(const FarLevel* level);
[[nodiscard]] Members<FarNeedle> describe(const FarNeedle* needle);
[[nodiscard]] Members<FarReply> describe(const FarReply* reply);
[[nodiscard]] Members<FarKey> describe(const FarKey* key);
[[nodiscard]] Members<FarRowReply> describe(const FarRowReply* reply);
[[nodiscard]] Members<FarLargestReply> describe(const FarLargestReply* reply);
[[nodiscard]] Members<FarPlace> describe(const FarPlace* place);
[[nodiscard]] Members<FarFindReply> describe(const FarFindReply* reply);

}  // namespace qkv
