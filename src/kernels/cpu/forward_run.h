// A forward call with its tasks, which are made once.
#pragma once

#include <cstddef>
#include <span>

#include "kernels/cpu/task_list.h"

namespace qkv::kernels::cpu {

/// The segments of the call must outlive the run. Until run() they may change, but for their shapes and dtypes.
class ForwardRun {
 public:
  /// With `threads` workers, or as many as there are tasks for.
  ForwardRun(const Target& target, const Forward& call, int threads);
  ForwardRun(const ForwardRun&) = delete;
  ForwardRun& operator=(const ForwardRun&) = delete;

  /// Bytes that run() needs; 64-byte alignment.
  [[nodiscard]] std::size_t scratch_bytes() const;

  /// Writes out and lse of every segment. `scratch` has scratch_bytes() bytes, aligned to 64. Allocates nothing. The
  /// result does not depend on `threads`. Online softmax: Milakov and Gimelshein 2018; tiling: Dao et al. 2022;
  /// rescaling only where the maximum grew by a factor: Shah et al. 2024.
  void run(std::span<std::byte> scratch);

 private:
  const Target& target_;
  const Forward call_;
  TaskList tasks_;
  int workers_;
  std::size_t worker_bytes_;
};

}  // namespace qkv::kernels::cpu
