#include "kernels/emulated_amx.h"

#include "kernels/cpu/amx_engine.h"
#include "kernels/cpu/emulated_registers.h"
#include "kernels/cpu/worker.h"

namespace qkv::kernels::cpu {
namespace amx {

// NOLINTNEXTLINE(misc-use-internal-linkage): own_symbols.cmake looks for its namespace
struct EmulatedF16Tiles : F16, EmulatedRegisters {
  template <int kSums, int kLeft, int kRight>
  static void multiply() {
    multiply_f16<kSums, kLeft, kRight>();
  }
};

namespace {

using Emulated = Worker<Engine<Products<EmulatedF16Tiles>>>;

void run(const Settings& settings, const Task& task, std::byte* scratch) {
  const HeldTiles<EmulatedRegisters> tiles;
  Emulated::run(settings, task, scratch);
}

}  // namespace
}  // namespace amx

const Target kEmulatedF16 = {.name = "emulated AMX-FP16",
                             .blocks_a_task = amx::Emulated::blocks_a_task,
                             .worker_bytes = amx::Emulated::worker_bytes,
                             .run = amx::run,
                             .merge = amx::Emulated::merge};

}  // namespace qkv::kernels::cpu
