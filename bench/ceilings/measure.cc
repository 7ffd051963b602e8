#include "ceilings/measure.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <string_view>

#include "ceilings/loops.h"
#include "ceilings/rate.h"
#include "qkv/info.h"

namespace qkv::bench {
namespace {

constexpr std::int64_t kMebi = 1 << 20;
constexpr double kGiga = 1e9;

// Zeroed, page-aligned memory on large pages where the system grants them.
class Block {
 public:
  explicit Block(std::int64_t bytes) : bytes_(static_cast<std::size_t>(bytes)) {
    void* at = mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (at == MAP_FAILED) throw std::bad_alloc();
    madvise(at, bytes_, MADV_HUGEPAGE);
    std::memset(at, 0, bytes_);
    at_ = static_cast<std::byte*>(at);
  }
  Block(const Block&) = delete;
  Block& operator=(const Block&) = delete;
  ~Block() { munmap(at_, bytes_); }

  [[nodiscard]] std::byte* bytes() const { return at_; }
  [[nodiscard]] float* floats() const { return reinterpret_cast<float*>(at_); }

 private:
  std::size_t bytes_;
  std::byte* at_ = nullptr;
};

std::vector<std::unique_ptr<Block>> blocks(int count, std::int64_t bytes) {
  std::vector<std::unique_ptr<Block>> made;
  made.reserve(static_cast<std::size_t>(count));
  for (int i = 0; i < count; ++i) made.push_back(std::make_unique<Block>(bytes));
  return made;
}

bool offers(const std::vector<std::string_view>& needs) {
  const std::vector<std::string> offered = cpu_instructions();
  return std::ranges::all_of(needs,
                             [&](std::string_view need) { return std::ranges::find(offered, need) != offered.end(); });
}

struct Target {
  std::string name;
  VectorLoops loops;
};

std::vector<Target> targets() {
#if defined(__x86_64__)
  std::vector<Target> found = {{"sse2", baseline::vector_loops()}};
  if (offers({"avx2", "fma"})) found.push_back({"avx2", avx2::vector_loops()});
  if (offers({"avx512f", "avx512bw", "avx512dq", "avx512vl"})) found.push_back({"avx512", avx512::vector_loops()});
#else
  std::vector<Target> found = {{"neon", baseline::vector_loops()}};
#endif
  return found;
}

Ceiling fma(const Target& target, int threads) {
  const double rate = median_rate(threads, target.loops.fma_flops, [&](int) { target.loops.fma(); });
  return {"fma", target.name, "f32 multiply-add on registers", "GFLOP/s", threads, rate / kGiga};
}

Ceiling matmul(const Target& target, int threads) {
  constexpr std::int64_t kDepth = 256;
  const VectorLoops& loops = target.loops;
  const std::int64_t panel = kDepth * loops.matmul_columns;
  const std::int64_t panels = kMebi / 4 / panel;
  const auto a = blocks(threads, kDepth * loops.matmul_rows * 4);
  const auto b = blocks(threads, kMebi);
  const auto c = blocks(threads, loops.matmul_rows * loops.matmul_columns * 4);
  const std::int64_t work = 2 * kDepth * loops.matmul_rows * loops.matmul_columns * panels;
  const double rate = median_rate(threads, work, [&](int i) {
    for (std::int64_t p = 0; p < panels; ++p) {
      loops.matmul(a[i]->floats(), b[i]->floats() + p * panel, kDepth, c[i]->floats());
    }
  });
  return {"matmul", target.name, "f32 microkernel, A in L1, B (1 MiB) in L2", "GFLOP/s", threads, rate / kGiga};
}

Ceiling exp2(const Target& target, int threads) {
  constexpr std::int64_t kCount = 2048;
  const auto x = blocks(threads, kCount * 4);
  const auto out = blocks(threads, kCount * 4);
  const double rate =
      median_rate(threads, kCount, [&](int i) { target.loops.exp2(x[i]->floats(), kCount, out[i]->floats()); });
  return {"exp2", target.name, "polynomial of degree 5, f32 to f32 in L1", "G/s", threads, rate / kGiga};
}

Ceiling read(const Target& target, int threads, std::int64_t bytes_of_a_thread, const std::string& detail) {
  const auto from = blocks(threads, bytes_of_a_thread);
  std::vector<std::uint64_t> sums(static_cast<std::size_t>(threads));
  const double rate = median_rate(threads, bytes_of_a_thread, [&](int i) {
    reinterpret_cast<volatile std::uint64_t&>(sums[i]) = target.loops.read(from[i]->bytes(), bytes_of_a_thread);
  });
  const double mebibytes = static_cast<double>(bytes_of_a_thread) * threads / kMebi;
  return {"read", target.name, detail, "GB/s", threads, rate / kGiga, mebibytes};
}

std::int64_t cache_bytes(int name, std::int64_t otherwise) {
  const long bytes = sysconf(name);
  return bytes > 0 ? bytes : otherwise;
}

void read_all(const Target& target, int threads, std::vector<Ceiling>& into) {
  const std::int64_t l2 = cache_bytes(_SC_LEVEL2_CACHE_SIZE, kMebi);
  const std::int64_t l3 = cache_bytes(_SC_LEVEL3_CACHE_SIZE, 32 * kMebi);
  into.push_back(read(target, threads, l2 / 2, "half of L2 for each thread"));
  into.push_back(read(target, threads, std::min(8 * l2, l3 / 2) / threads, "in L3"));
  into.push_back(read(target, threads, 32 * kMebi / threads, "as much as K and V of shape E in i8"));
  into.push_back(read(target, threads, 64 * kMebi / threads, "as much as K and V of shape E in bf16"));
  into.push_back(read(target, threads, 128 * kMebi / threads, "as much as K and V of shape E in f32"));
  const std::int64_t physical = sysconf(_SC_PHYS_PAGES) * sysconf(_SC_PAGESIZE);
  const std::int64_t far = std::min({4 * l3, 2048 * kMebi, physical / 4}) / kMebi * kMebi;
  into.push_back(read(target, threads, far / threads, "memory"));
}

#if defined(__x86_64__)

Ceiling pairs_on_registers(int threads) {
  constexpr std::int64_t kSteps = 10'000;
  const double rate = median_rate(threads, kSteps * pairs::kStepFlops, [](int) { pairs::registers(kSteps); });
  return {"pairs", "avx512bf16", "multiply-add of pairs of bf16 on registers", "GFLOP/s", threads, rate / kGiga};
}

Ceiling tiles(int threads) {
  constexpr std::int64_t kSteps = 1000;
  const double rate = median_rate(threads, kSteps * amx::kStepFlops, [](int) {
    amx::configure();
    amx::registers(kSteps);
    amx::release();
  });
  return {"tiles", "amx", "bf16 on tile registers", "GFLOP/s", threads, rate / kGiga};
}

// b streams through 1 MiB in L2; a and the sums stay in L1.
Ceiling tiles_from_cache(int threads, std::int64_t steps, const std::string& name, const std::string& detail) {
  const std::int64_t panel = steps * amx::kStepBytes;
  const std::int64_t panels = kMebi / panel;
  const auto a = blocks(threads, panel);
  const auto b = blocks(threads, kMebi);
  constexpr std::int64_t kSums = 1024;  // 32 x 32
  constexpr std::int64_t kKept = 4;
  const auto c = blocks(threads, kKept * kSums * 4);
  const double rate = median_rate(threads, panels * steps * amx::kStepFlops, [&](int i) {
    amx::configure();
    for (std::int64_t p = 0; p < panels; ++p) {
      amx::block(a[i]->bytes(), b[i]->bytes() + p * panel, steps, c[i]->floats() + p % kKept * kSums);
    }
    amx::release();
  });
  return {name, "amx", detail, "GFLOP/s", threads, rate / kGiga};
}

Ceiling softmax_row(int threads) {
  constexpr std::int64_t kCount = 2048;
  const auto s = blocks(threads, kCount * 4);
  const auto p = blocks(threads, kCount * 2);
  const double rate = median_rate(threads, kCount, [&](int i) {
    static_cast<void>(
        amx::softmax_row(s[i]->floats(), kCount, 0.125F, 1.0F, reinterpret_cast<std::uint16_t*>(p[i]->bytes())));
  });
  return {"softmax row", "amx", "scale, exp2, sum, store as bf16, in L1", "G/s", threads, rate / kGiga};
}

bool has_pairs() { return offers({"avx512f", "avx512bw", "avx512vl", "avx512bf16"}); }

void measure_pairs(int threads, std::vector<Ceiling>& into) { into.push_back(pairs_on_registers(threads)); }

bool has_tiles() {
  return offers({"avx512f", "avx512bw", "avx512vl", "avx512bf16", "amx-tile", "amx-bf16"}) && amx::ask_permission();
}

void measure_tiles(int threads, std::vector<Ceiling>& into) {
  into.push_back(tiles(threads));
  into.push_back(tiles_from_cache(threads, 8, "tiles streamed", "bf16, K = 256, A in L1, B in L2"));
  into.push_back(tiles_from_cache(threads, 2, "tiles stored", "bf16, K = 64, A in L1, B in L2, C stored"));
  into.push_back(softmax_row(threads));
}

#else

bool has_pairs() { return false; }
void measure_pairs(int, std::vector<Ceiling>&) {}
bool has_tiles() { return false; }
void measure_tiles(int, std::vector<Ceiling>&) {}

#endif

}  // namespace

VectorLoops widest_loops() { return targets().back().loops; }

std::vector<Ceiling> measure_ceilings(const std::vector<int>& thread_counts) {
  std::vector<Ceiling> measured;
  const std::vector<Target> found = targets();
  const bool tiles_here = has_tiles();
  for (const int threads : thread_counts) {
    for (const Target& target : found) {
      measured.push_back(fma(target, threads));
      measured.push_back(matmul(target, threads));
      measured.push_back(exp2(target, threads));
    }
    if (has_pairs()) measure_pairs(threads, measured);
    if (tiles_here) measure_tiles(threads, measured);
    read_all(found.back(), threads, measured);
  }
  return measured;
}

}  // namespace qkv::bench
