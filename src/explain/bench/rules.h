// What each number of the bench is made of, as patterns of names.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "qkv/explain/bench.h"

namespace qkv::explain_detail {

/// Where a number stands.
struct BenchPlace {
  std::string matrix;
  std::int64_t row = 0;
  std::int64_t column = 0;
};

/// "weights:1,2"; throws InvalidArgument naming `of` for what is no such name, or lies outside of the matrix.
[[nodiscard]] BenchPlace place_named(const Bench& bench, std::string_view name);

/// Numbers of a matrix seen from one at row i and column j: the row is i, j, the chosen query (q), 0, or every one (*).
struct Pattern {
  std::string matrix;
  char row = 'i';
  char column = 'j';
};

/// What a matrix's numbers are made of; the patterns of a sum of products stand in pairs.
struct Rule {
  std::vector<Pattern> sources;
  bool is_products = false;
};

/// No sources: an input, or none of the bench.
[[nodiscard]] Rule rule_of(const Bench& bench, std::string_view matrix);

/// The scores that the softmax reads: the last of scaled, softcapped, biased and masked that there is.
[[nodiscard]] std::string last_scores(const Bench& bench);

[[nodiscard]] std::vector<std::string> sources_of(const Bench& bench, const BenchPlace& place);
[[nodiscard]] std::vector<std::string> uses_of(const Bench& bench, const BenchPlace& place);

}  // namespace qkv::explain_detail
