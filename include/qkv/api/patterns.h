// Where tokens stand: of the page Patterns.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "qkv/api/field.h"
#include "qkv/api/member.h"
#include "qkv/tensor.h"

namespace qkv {

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

[[nodiscard]] const Fields<PositionsRequest>& positions_fields();

[[nodiscard]] Members<PositionsReply> describe(const PositionsReply* reply);

}  // namespace qkv
