// A target that multiplies bf16 in a way of its own, and leaves the other types to another.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "kernels/cpu/backward_worker.h"
#include "kernels/cpu/in_order.h"
#include "kernels/cpu/row_products.h"
#include "kernels/cpu/targets.h"
#include "kernels/cpu/workers.h"

namespace qkv::kernels::cpu {

/// What a target leaves to `kOther`: calls of its functions, for copies of its pointers would be made when the program
/// starts, by instructions that the processor need not have. `Own` is a type of the target's namespace, whose
/// functions these are.
template <const Target& kOther, class Own>
class LeftTo {
 public:
  static std::int64_t blocks_a_task(const Forward& call) { return kOther.blocks_a_task(call); }

  static std::size_t worker_bytes(const Forward& call) { return kOther.worker_bytes(call); }

  static void run(const Settings& settings, const Task& task, std::byte* scratch) {
    kOther.run(settings, task, scratch);
  }

  static void merge(const Settings& settings, const Task& task, std::span<const KeptStates> kept, std::byte* scratch) {
    kOther.merge(settings, task, kept, scratch);
  }

  static void multiply(const float* q, const float* k, std::int64_t queries, std::int64_t keys, std::int64_t D,
                       float* scores) {
    kOther.multiply(q, k, queries, keys, D, scores);
  }

  static void weigh(const float* shift, const float* factor, std::int64_t keys, const float* scores, float* weights) {
    kOther.weigh(shift, factor, keys, scores, weights);
  }

  static constexpr BackwardTarget backward() {
    return {.columns_a_task = columns_a_task,
            .d_q_floats = d_q_floats,
            .worker_bytes = backward_bytes,
            .largest_key = largest_key,
            .sum_rows = sum_rows,
            .run = run_backward,
            .finish = finish};
  }

 private:
  static std::int64_t columns_a_task(const Forward& call) { return kOther.backward.columns_a_task(call); }

  static std::int64_t d_q_floats(const Forward& call) { return kOther.backward.d_q_floats(call); }

  static std::size_t backward_bytes(const Forward& call) { return kOther.backward.worker_bytes(call); }

  static void largest_key(const Settings& settings, const BackwardTask& task, float* largest) {
    kOther.backward.largest_key(settings, task, largest);
  }

  static void sum_rows(const Settings& settings, const BackwardTask& task, std::int64_t block, const float* largest_key,
                       RowSums& sums, std::byte* scratch) {
    kOther.backward.sum_rows(settings, task, block, largest_key, sums, scratch);
  }

  static void run_backward(const Settings& settings, const BackwardTask& task, std::byte* scratch) {
    kOther.backward.run(settings, task, scratch);
  }

  static void finish(const Settings& settings, const BackwardTask& task, std::byte* scratch) {
    kOther.backward.finish(settings, task, scratch);
  }
};

/// What does not go through the forward pass's workers. The backward pass of bf16 is that of `Gradients`, done while a
/// `Unit` lives.
template <const Target& kOther, class Gradients, class Unit>
class Beside : public LeftTo<kOther, Gradients> {
  using Own = BackwardWorker<Gradients>;

 public:
  static constexpr BackwardTarget backward() {
    return {.columns_a_task = columns_a_task,
            .d_q_floats = d_q_floats,
            .worker_bytes = worker_bytes,
            .largest_key = largest_key,
            .sum_rows = sum_rows,
            .run = run,
            .finish = finish};
  }

 private:
  static bool is_own(const Forward& call) { return call.dtype == DType::bf16; }

  static std::int64_t columns_a_task(const Forward& call) {
    return (is_own(call) ? Own::columns_a_task : kOther.backward.columns_a_task)(call);
  }

  static std::int64_t d_q_floats(const Forward& call) {
    return (is_own(call) ? Own::d_q_floats : kOther.backward.d_q_floats)(call);
  }

  static std::size_t worker_bytes(const Forward& call) {
    return (is_own(call) ? Own::worker_bytes : kOther.backward.worker_bytes)(call);
  }

  static void largest_key(const Settings& settings, const BackwardTask& task, float* largest) {
    kOther.backward.largest_key(settings, task, largest);
  }

  static void sum_rows(const Settings& settings, const BackwardTask& task, std::int64_t block, const float* largest_key,
                       RowSums& sums, std::byte* scratch) {
    if (!is_own(*settings.call)) {
      return kOther.backward.sum_rows(settings, task, block, largest_key, sums, scratch);
    }
    [[maybe_unused]] const Unit unit;
    Own::sum_rows(settings, task, block, largest_key, sums, scratch);
  }

  static void run(const Settings& settings, const BackwardTask& task, std::byte* scratch) {
    if (!is_own(*settings.call)) return kOther.backward.run(settings, task, scratch);
    [[maybe_unused]] const Unit unit;
    Own::run(settings, task, scratch);
  }

  static void finish(const Settings& settings, const BackwardTask& task, std::byte* scratch) {
    (is_own(*settings.call) ? Own::finish : kOther.backward.finish)(settings, task, scratch);
  }
};

/// The forward pass of bf16: `ManyProducts` for blocks of queries, `FewProducts` for fewer.
template <const Target& kOther, class ManyProducts, class FewProducts>
class Bf16Forward {
  using Many = Worker<InOrder<ManyProducts>>;
  using Few = Worker<InOrder<FewProducts>>;

 public:
  static std::int64_t blocks_a_task(const Forward& call) {
    return (is_own(call) ? Many::blocks_a_task : kOther.blocks_a_task)(call);
  }

  static std::size_t worker_bytes(const Forward& call) {
    std::size_t bytes = kOther.worker_bytes(call);
    if (!is_own(call)) return bytes;
    for (const std::size_t own : {Many::worker_bytes(call), Few::worker_bytes(call)}) bytes = own > bytes ? own : bytes;
    return bytes;
  }

  static void run(const Settings& settings, const Task& task, std::byte* scratch) {
    const Forward& call = *settings.call;
    if (!is_own(call)) return kOther.run(settings, task, scratch);
    const std::int64_t lanes = lanes_of(settings, task).value_or(kTile);
    if (FewProducts::takes(call)) return (lanes <= Few::kMostLanes ? Few::run : Many::run)(settings, task, scratch);
    const bool few = lanes <= RowProducts<typename FewProducts::Simd>::kMostLanes;
    (few ? kOther.run : Many::run)(settings, task, scratch);
  }

 private:
  static bool is_own(const Forward& call) { return call.dtype == DType::bf16 && holds(call, DType::bf16); }
};

/// For a target whose instructions need no unit that has to be switched on.
struct NoUnit {};

/// The target `name` of pairs of bf16, which leaves the other types to `kOther`.
template <const Target& kOther, class ManyProducts, class FewProducts, class Gradients>
constexpr Target bf16_target(const char* name) {
  using Forwards = Bf16Forward<kOther, ManyProducts, FewProducts>;
  using Rest = Beside<kOther, Gradients, NoUnit>;
  return {.name = name,
          .blocks_a_task = Forwards::blocks_a_task,
          .worker_bytes = Forwards::worker_bytes,
          .run = Forwards::run,
          .merge = Rest::merge,
          .multiply = Rest::multiply,
          .weigh = Rest::weigh,
          .backward = Rest::backward()};
}

}  // namespace qkv::kernels::cpu
