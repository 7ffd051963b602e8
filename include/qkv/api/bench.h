// One head of attention on a bench: the page Step by step, and a number of it written out.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "qkv/api/field.h"
#include "qkv/api/member.h"
#include "qkv/explain/bench.h"

namespace qkv {

/// Matrices are texts, "1,0;0,1": rows by semicolons, numbers by commas. Where neither q nor x is given, and no model,
/// it is the figure of the chapter on self-attention: three tokens, d_k = 2.
struct BenchRequest {
  std::string tokens, context;
  std::string q, k, v;
  std::string x, source, w_q, w_k, w_v;
  std::string mask, bias;
  std::optional<double> scale, softcap;
  std::optional<std::int64_t> query;  // the second, or the only one
  std::string d_out, move;
  std::string wrong;
  std::int64_t wrong_d = 0;
  std::string nudge;
  std::string model, text, second;
  std::optional<std::int64_t> example;
  std::string set;  // numbers of that head's q, k and v: "q:7,3:0.5; k:2,5:0.7"
  std::string site;
  std::int64_t layer = 0;
  std::int64_t head = 0;
  std::optional<std::uint64_t> seed;
  std::int64_t heads = 2;
  std::int64_t d_model = 8;
  std::optional<std::int64_t> kv_heads, d_k, d_v;
  std::string positions = "sinusoidal";

  [[nodiscard]] bool operator==(const BenchRequest&) const = default;
};

struct BenchReply {
  std::string title;
  std::vector<std::string> queries, keys;
  std::int64_t query = 0;
  std::int64_t d_k = 0, d_v = 0;
  double scale = 0;
  std::vector<BenchMatrix> matrices;
  Tensor times_uniform;  // f32 [rows, columns], as the weights: how many times what they would be if all keys were read
                         // alike
  std::vector<BenchStep> steps, back;
  std::vector<std::string> remarks;
  std::optional<BenchWrong> wrong;
  std::optional<BenchNudge> nudge;
  std::vector<std::string> cautions;
};

struct NumberRequest : BenchRequest {
  std::string of;
};

[[nodiscard]] const Fields<BenchRequest>& bench_fields();
[[nodiscard]] const Fields<NumberRequest>& number_fields();

[[nodiscard]] Members<BenchReply> describe(const BenchReply* reply);
[[nodiscard]] Members<BenchMatrix> describe(const BenchMatrix* matrix);
[[nodiscard]] Members<BenchStep> describe(const BenchStep* step);
[[nodiscard]] Members<BenchNumber> describe(const BenchNumber* number);
[[nodiscard]] Members<BenchWrong> describe(const BenchWrong* wrong);
[[nodiscard]] Members<BenchNudge> describe(const BenchNudge* nudge);
[[nodiscard]] Members<Formula> describe(const Formula* formula);

}  // namespace qkv
