// Small pictures of attention's operations, with the numbers of a bench: a dot product and its angle, a matrix product,
// a mixture of values, the reshape into heads, and queries of another text.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "qkv/explain/bench.h"

namespace qkv {

/// q · k = |q| |k| cos θ, of the chosen query and one key.
struct DotPicture {
  std::int64_t key = 0;
  std::string query_name, key_name;
  Tensor q, k;            // f64 [D]
  Tensor products, sums;  // f64 [D]: q_c k_c, and their sum so far
  double dot = 0;
  double q_length = 0, k_length = 0;
  std::optional<double> cosine;  // none if one of the lengths is 0
  std::optional<double> degrees;
  Formula by_numbers, by_angle;
  std::string sentence;
};
/// Throws InvalidArgument naming `key`.
[[nodiscard]] DotPicture dot_picture(const Bench& bench, std::int64_t key);
/// The key with the largest weight of the chosen query.
[[nodiscard]] std::int64_t heaviest_key(const Bench& bench);

/// Q K^T cell by cell.
struct ProductPicture {
  std::vector<std::string> queries, keys;
  Tensor products;  // f64 [Tq, Tk, D]: q_ic k_jc
  Tensor sums;      // f64 [Tq, Tk, D]: up to and with c; the last is the cell
  std::string sentence;
};
inline constexpr std::int64_t kPictureExtent = 8;
/// nullopt if Tq, Tk or D is larger than kPictureExtent.
[[nodiscard]] std::optional<ProductPicture> product_picture(const Bench& bench);

/// The values mixed in shares of the reader's choice instead of the softmax's.
struct MixPicture {
  Tensor masses;   // f64 [Tk]
  Tensor shares;   // f64 [Tk]: of 1
  Tensor path;     // f64 [Tk, Dv]: the mixture so far
  Tensor mixture;  // f64 [Dv]
  Formula formula;
  std::string sentence;
};
/// `masses` [Tk], at least 0 and not all 0; empty() stands for the weights of the chosen query. Throws
/// InvalidArgument naming `masses`. Without masses, nullopt for more than 12 keys, or if the query sees none.
[[nodiscard]] std::optional<MixPicture> mix_picture(const Bench& bench, const Tensor& masses);

/// [T, H d] -> [T, H, d] -> [H, T, d], by split_heads().
struct SplitPicture {
  std::int64_t tokens = 0, heads = 0, width = 0;
  Tensor places;  // i64 [H, T, d]: which number of [T, H d] stands there, counted row by row
  std::string sentence;
};
[[nodiscard]] SplitPicture split_picture(const Bench& bench);

/// The weights of queries over keys.
struct AskedPicture {
  std::vector<std::string> queries, keys;
  Tensor weights;  // f64 [Tq, Tk]
  std::string sentence;
};
/// Of the bench's own queries and keys, without mask and bias.
[[nodiscard]] std::optional<AskedPicture> self_picture(const Bench& bench);
/// Of another text's queries and the bench's keys. A word of the bench keeps its query, any other word's is drawn from
/// its letters. nullopt without words, and where self_picture() is: for one of several heads, more than 12 queries, or
/// cross-attention. Throws InvalidArgument naming `other` for more than 12 words.
[[nodiscard]] std::optional<AskedPicture> cross_picture(const Bench& bench, const std::vector<std::string>& words);

}  // namespace qkv
