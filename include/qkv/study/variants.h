// Attention's variants over one set of inputs: what each costs, and how far its result is from exact attention.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "qkv/mask.h"
#include "qkv/picture/chart.h"

namespace qkv {

enum class InputData : std::uint8_t {
  random,  // every number standard normal by itself: no token is nearer to another
  local,   // queries and keys drift along the sequence, so that neighbours are alike
};
/// "random", "local"
[[nodiscard]] std::string_view name_of(InputData data) noexcept;

struct VariantSetup {
  std::int64_t from = 256;
  std::int64_t to = 4096;
  std::int64_t heads = 8;
  std::int64_t head_dim = 64;
  bool causal = false;
  int threads = 1;
  std::uint64_t seed = 1;
  int repeats = 5;
  InputData data = InputData::random;
  std::int64_t window = 256;
  std::int64_t stride = 64;
  std::int64_t block = 64;
  std::vector<std::string> masks = {};                  // more patterns, in the mask language
  std::uint64_t memory_limit = std::uint64_t{4} << 30;  // of the standard variant's matrix, in bytes

  /// One length at `from`, at each doubling of it, and at `to`.
  [[nodiscard]] std::vector<std::int64_t> lengths() const;
};

struct VariantCost {
  std::int64_t tokens = 0;
  std::string variant;
  std::string skipped;                // why it was not run; the rest is then empty
  double seconds = 0;                 // median
  int runs = 0;                       // that were timed
  std::optional<std::int64_t> bytes;  // none where nobody counted them
  double largest_error = 0;           // over the sampled rows
  double relative_error = 0;          // root of the mean square, over that of the exact rows
  std::optional<double> pairs;        // share of the T x T pairs that count; none for linear attention
  std::optional<double> tiles;        // share of the 64 x 64 tiles computed
};

/// The names in the order in which they are run: exact, standard, linear elu+1, linear softmax, window, strided,
/// block-sparse, then the masks as given.
[[nodiscard]] std::vector<std::string> variant_names(const VariantSetup& setup);

struct VariantWatch {
  std::function<void(const std::string&)> about_to = [](const std::string&) {};  // told what is going to run
  std::function<void(std::int64_t)> measured = [](std::int64_t) {};              // told of a length that is done
  std::function<bool()> stopped = [] { return false; };  // asked between runs; true leaves the rest out
  /// Runs what it is given, and says how many bytes were held on the heap at most while it ran: a program knows its own
  /// allocator. Empty: nobody counts.
  std::function<std::int64_t(const std::function<void()>&)> peak_bytes = {};
};

/// Every variant at every length, as far as the watch lets it.
[[nodiscard]] std::vector<VariantCost> run_variants(const VariantSetup& setup, const VariantWatch& watch = {});

/// For people, in at most 80 columns.
[[nodiscard]] std::string variants_table(const VariantSetup& setup, const std::vector<VariantCost>& costs);

struct VariantChart {
  std::string name;  // of its file: time, memory or error
  Chart chart;
};
/// Over the length, a line for each variant.
[[nodiscard]] std::vector<VariantChart> variants_charts(const VariantSetup& setup,
                                                        const std::vector<VariantCost>& costs);

/// How many rows of each head the errors are taken over, at most.
inline constexpr std::int64_t kSampledRows = 16;

}  // namespace qkv
