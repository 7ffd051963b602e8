// A program that times attention on command: one JSON object a line on stdin, one answer a line on stdout.
//
//   {"do": "load", "q": FILE, "k": FILE, "v": FILE, "dtype": "bf16"}   reads f32 .npy files and rounds them
//   {"do": "prepare", "mask": "causal()", "dense_bias": false, "threads": 1}
//   {"do": "time", "repeats": 3}           {"seconds": of one call, the mean over the repeats}
//   {"do": "save", "out": FILE}            writes the last result as an f32 .npy
//   {"do": "memory"}                       {"peak_growth": bytes that one call adds to the process,
//                                           "scratch": of these, by the engine's own account}
//
// A request that cannot be met is answered {"error": why}.
#pragma once

#include <cstdint>
#include <string>

#include "qkv/tensor.h"

namespace qkv::bench {

struct Problem {
  Tensor q;  // [B, Hq, Tq, D]
  Tensor k;  // [B, Hk, Tk, D]
  Tensor v;  // [B, Hk, Tk, D]
  std::string mask = "all()";
  bool dense_bias = false;  // [Tq, Tk] of random numbers
  int threads = 1;
};

/// What is timed: prepare does whatever can be done before the values of q, k and v are known.
class Engine {
 public:
  virtual ~Engine() = default;
  virtual void prepare(const Problem& problem) = 0;
  /// One whole call, into results that prepare has allocated. `problem` is the one that was prepared.
  virtual void run(const Problem& problem) = 0;
  /// The result of the last run, [B, Hq, Tq, D].
  [[nodiscard]] virtual TensorView out() const = 0;
  /// What the engine says that a run allocates for itself; 0 where it does not say.
  [[nodiscard]] virtual std::int64_t scratch_bytes(const Problem&) const { return 0; }
};

/// Answers requests until stdin ends.
void serve(Engine& engine);

}  // namespace qkv::bench
