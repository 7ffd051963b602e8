// Passes that go on from a state that an earlier one left: what lies below a change is not computed again.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "qkv/autograd/variable.h"

namespace qkv::nn {

/// Where a stack goes on.
struct Resumption {
  std::string stack;       // as a trace names it: "", "decoder."
  std::int64_t first = 0;  // the block that runs first; of as many as there are blocks, none does
  Variable state;          // [B, T, d_model]: what that block reads
};

/// While it lives, passes of its thread skip what these stacks have below; a trace has none of that, and an edit of it
/// throws as one that met nothing. What stands before a stack, its embeddings, runs all the same.
class Resumed {
 public:
  explicit Resumed(std::vector<Resumption> stacks);
  Resumed(const Resumed&) = delete;
  Resumed& operator=(const Resumed&) = delete;
  ~Resumed();

 private:
  std::vector<Resumption> stacks_;
  const std::vector<Resumption>* before_;
};

/// Of the stack that runs in the current scope; null where it runs whole.
[[nodiscard]] const Resumption* resumption_of_scope();

}  // namespace qkv::nn
