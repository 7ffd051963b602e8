// One head of attention laid out on a bench: every matrix of the forward and the backward pass, and for each number
// what it is computed from and what is computed from it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "qkv/attention.h"
#include "qkv/explain.h"
#include "qkv/tensor.h"

namespace qkv {

/// What is laid out. Either q, k and v, or x and the three weights that make them.
struct BenchInputs {
  std::vector<std::string> queries;  // a name for each query
  std::vector<std::string> keys;     // and for each key
  Tensor x;                          // f64 [Tq, d_model]; empty() where q, k and v are given
  Tensor source;                     // f64 [Tk, d_model]: what keys and values come from; empty() in self-attention
  Tensor w_q, w_k, w_v;              // f64 [d_model, D], [d_model, D], [d_model, Dv]
  Tensor q, k, v;                    // [1, Hq, Tq, D], [1, Hk, Tk, D], [1, Hk, Tk, Dv]; of a drawn model beside x
  Tensor embedded, encoding;         // f64 [Tq, d_model]: what x is the sum of; may be empty()
  Tensor concat, w_o;                // f64 [Tq, Hq Dv] and [Hq Dv, d_model]: all heads, and what mixes them; likewise
  AttentionOptions options = {};
  std::int64_t head = 0;
  std::int64_t query = 0;  // whose row the steps speak of
  Tensor d_out;            // f64 [Tq, Dv], the loss's gradient with respect to the output; empty() without backward
};

/// A matrix of the forward or the backward pass. Its numbers are called NAME:ROW,COLUMN.
struct BenchMatrix {
  std::string name;     // "weights"
  std::string title;    // "α"
  std::string meaning;  // "weights: how much each query takes of each key"
  std::vector<std::string> rows;
  std::vector<std::string> columns;
  std::int64_t first_row = 0;                   // where only the query's row is kept: its number
  Tensor values;                                // f64 [rows, columns]
  std::optional<Tensor> hidden = std::nullopt;  // b8, the same shape: pairs that the mask forbids
  std::optional<Tensor> sums = std::nullopt;    // f64 [rows]: the sum of each row; only of weights and dS
  std::string role;                             // "input", "forward" or "backward"
  int decimals = 3;                             // 0 where all its numbers are whole
  Formula formula;
};

/// A step of the computation, in sentences about the chosen query.
struct BenchStep {
  std::string id;
  std::string title;
  std::string sentence;
  std::vector<Formula> formulas;
  std::vector<std::string> made;  // names of the matrices that it computes
  std::vector<std::string> used;  // and of those that it reads
  std::vector<BenchStep> inner = {};
};

/// One number written out.
struct BenchNumber {
  std::string name;             // "weights:1,2"
  std::string label;            // "α₂₃: cat reads sat"
  std::optional<double> value;  // none where it is not finite
  std::string shown;            // "0.4011", or "2.92 × 10⁻⁷, 1 in 3.4 million"
  std::string full;             // every digit
  Formula formula;
  std::string meaning;
  std::vector<std::string> sources;  // numbers that it is computed from; "q:1,*" is a whole row
  std::vector<std::string> uses;     // numbers that are computed from it
};

/// A common mistake, beside what is right.
struct BenchWrong {
  std::string id;
  std::string title;
  std::string sentence;
  std::string matrix;                         // which matrix is compared
  Tensor right;                               // f64 [rows, columns]
  Tensor wrong;                               // the same shape
  std::vector<std::int64_t> first;            // row and column of the first difference; empty if there is none
  std::string code;                           // the line of code that makes the mistake
  std::optional<Tensor> sums = std::nullopt;  // f64 [rows]: sums of the wrong rows that should be 1
};

/// The change of the loss after a small step of one input: as the gradient predicts it, and as it is.
struct BenchNudge {
  std::string name;
  double step = 0;
  double predicted = 0;
  double found = 0;
  std::string sentence;
};

/// Of a T x T matrix with more pairs than this only the query's row is kept.
inline constexpr std::int64_t kBenchPairs = 4096;

/// Runs the engine in f64 and keeps every matrix. Throws InvalidArgument naming q, k, v, x, w_q, w_k, w_v, head, query
/// or d_out.
class Bench {
 public:
  explicit Bench(BenchInputs inputs);

  [[nodiscard]] const BenchInputs& inputs() const noexcept { return inputs_; }
  [[nodiscard]] double scale() const;
  /// In the order in which they are made.
  [[nodiscard]] const std::vector<BenchMatrix>& matrices() const noexcept { return matrices_; }
  /// nullptr if no matrix has this name.
  [[nodiscard]] const BenchMatrix* find(std::string_view name) const;
  /// Throws InvalidArgument naming `of`, with the names that there are.
  [[nodiscard]] const BenchMatrix& matrix(std::string_view name) const;

  /// From the query to the output, and from the output's gradient to those of q and k; empty without d_out.
  [[nodiscard]] std::vector<BenchStep> steps() const;
  [[nodiscard]] std::vector<BenchStep> back_steps() const;
  /// Throws InvalidArgument naming `of` if the bench has no such number.
  [[nodiscard]] BenchNumber number(std::string_view name) const;

 private:
  BenchInputs inputs_;
  std::vector<BenchMatrix> matrices_;
};

/// Head `head` of the model that explain() draws for these options, from embeddings to its output. Throws as explain(),
/// and InvalidArgument naming head.
[[nodiscard]] BenchInputs drawn_bench(const ExplainOptions& options, std::int64_t head);

/// The ids of all mistakes, in the order in which they are shown.
[[nodiscard]] const std::vector<std::string>& bench_mistakes();

/// The mistake made with these inputs; for the forgotten scale, `d_k` is the width of the random queries. Throws
/// InvalidArgument naming `wrong`, with the ids, also if the mistake cannot be made with these inputs.
[[nodiscard]] BenchWrong bench_mistake(const Bench& bench, std::string_view id, std::int64_t d_k);

/// Adds `step` to one number of q, k, v, x, w_q, w_k or w_v. The loss is the sum of d_out * out. Throws InvalidArgument
/// naming `nudge`.
[[nodiscard]] BenchNudge bench_nudge(const Bench& bench, std::string_view name, double step);

}  // namespace qkv
