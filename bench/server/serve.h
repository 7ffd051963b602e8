// A program that times attention on command: one JSON object a line on stdin, one answer a line on stdout.
//
//   {"do": "load", "q": FILE, "k": FILE, "v": FILE, "dtype": "bf16"}
//       reads f32 .npy files and rounds them; "d_out": FILE as well where gradients are to be timed. "i8" leaves them
//       in f32: the engine quantizes k and v to 8 bits, with scales of its own
//   {"do": "prepare", "call": "backward", "mask": "causal()", "dense_bias": false, "dropout": 0.1, "threads": 1}
//       call: forward, backward, or both: a backward and the forward before it; no bias and no dropout if left out;
//       "lengths": [16, 64, …]: only so many rows of each batch entry are there, and the engine may take them end to
//       end
//   {"do": "time", "repeats": 3}
//       {"seconds": of one call, the mean over the repeats}
//   {"do": "save", "files": [FILE, …]}
//       writes the last results as f32 .npy: out, or d_q, d_k and d_v
//   {"do": "memory"}
//       {"peak_growth": bytes that one call adds to the process, "results": bytes of results that it allocates,
//        "scratch": bytes of its scratch by the engine's own account, "seconds": of the call}
//
// A request that cannot be met is answered {"error": why}.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "qkv/tensor.h"

namespace qkv::bench {

enum class Call { forward, backward, both };

struct Problem {
  Tensor q;               // [B, Hq, Tq, D]
  Tensor k;               // [B, Hk, Tk, D]
  Tensor v;               // [B, Hk, Tk, Dv]
  Tensor d_out;           // [B, Hq, Tq, Dv]; empty for Call::forward
  bool i8_cache = false;  // the engine quantizes k and v to 8 bits; here they are f32
  Call call = Call::forward;
  std::string mask = "all()";
  bool dense_bias = false;  // [Tq, Tk] of random numbers
  double dropout = 0;
  std::vector<std::int64_t> lengths;  // of each batch entry; none: all of it
  int threads = 1;
};

/// What is timed: prepare does whatever can be done before the values of q, k and v are known.
class Engine {
 public:
  virtual ~Engine() = default;
  virtual void prepare(const Problem& problem) = 0;
  /// One whole call: forward into an out that prepare has allocated; gradients into tensors that the call allocates.
  /// `problem` is the one that was prepared.
  virtual void run(const Problem& problem) = 0;
  /// Called after each timed row of runs: threads that spin while they wait for the next one stop that.
  virtual void rest() {}
  /// Of the last run: out, or d_q, d_k and d_v.
  [[nodiscard]] virtual std::vector<TensorView> results(const Problem& problem) const = 0;
  /// Of those and others, what the last run allocated.
  [[nodiscard]] virtual std::int64_t allocated_result_bytes() const { return 0; }
  /// What the engine says that a run allocates for itself; 0 where it does not say.
  [[nodiscard]] virtual std::int64_t scratch_bytes(const Problem&) const { return 0; }
};

/// Answers requests until stdin ends.
void serve(Engine& engine);

}  // namespace qkv::bench
