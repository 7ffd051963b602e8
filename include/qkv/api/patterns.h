// Who sees whom, and where tokens stand: the page Patterns.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "qkv/api/field.h"
#include "qkv/api/mask.h"
#include "qkv/api/member.h"
#include "qkv/tensor.h"

namespace qkv {

struct MaskMapRequest : MaskRequest {
  std::int64_t cells = 128;
  std::int64_t head = 0;
  std::int64_t batch_entry = 0;
};

/// A mask as a map: of each tile or block of tiles its class and the share of its pairs that is kept.
struct MaskMapReply : MaskFigures {
  std::int64_t cell_queries = 0, cell_keys = 0;  // pairs of a cell: 1 where each pair is drawn
  Tensor share;                                  // f32 [rows, columns]
  std::int64_t blind_rows = 0;
  std::vector<std::int64_t> first_blind;  // eight at most
  std::string sentence;
  std::vector<MaskWordShown> words;  // without an example where it would be long
};

struct PositionsRequest {
  std::string kind = "sinusoidal";
  std::int64_t tokens = 64;
  std::int64_t d = 32;
  double base = 10000;
  std::int64_t heads = 8;
  std::int64_t head = 0;
  std::int64_t buckets = 32;
  std::int64_t max_distance = 128;
};

struct PositionsReply {
  std::string title;
  std::string sentence;
  std::string formula;
  Tensor table;  // f64 [rows, columns]: what stands at each position, or is added to each pair
  std::string rows, columns;
  Tensor by_distance;               // f64 [tokens]: how alike, or by how much less, at each distance
  std::string distance_name;        // what that is
  std::vector<double> frequencies;  // radians a token, of sinusoidal and rotary ones
  std::vector<double> slopes;       // of ALiBi, a head each
};

[[nodiscard]] const Fields<MaskMapRequest>& mask_map_fields();
[[nodiscard]] const Fields<PositionsRequest>& positions_fields();

[[nodiscard]] const Members<MaskMapReply>& members_of(const MaskMapReply* reply);
[[nodiscard]] const Members<PositionsReply>& members_of(const PositionsReply* reply);

}  // namespace qkv
