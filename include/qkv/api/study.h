// The measurements of `qkv bench`.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "qkv/api/drawing.h"
#include "qkv/api/field.h"
#include "qkv/api/member.h"
#include "qkv/study/bottleneck.h"
#include "qkv/study/positions.h"
#include "qkv/study/variants.h"

namespace qkv {

/// Kinds of attention over the same inputs.
struct VariantsBench {
  VariantSetup setup;
  std::string tokens = "256:4096";  // one length, or the first and the last, doubled from one to the next
  std::string data = "random";
  std::optional<int> threads;
};

/// Decoders with each kind of positions, trained on short examples and tested on longer ones.
struct PositionsBench {
  PositionSetup setup;
  std::vector<std::string> kinds;            // empty: all
  std::optional<std::int64_t> train_length;  // default: the task's own
  std::vector<std::int64_t> test_lengths;    // empty: 1, 2, 4 and 8 times that
};

/// The two models of the box, or two that are trained, on texts of 1 to `to` letters.
struct BottleneckBench {
  std::string out;  // trains two models and writes them there; empty: measures those of the box
  BottleneckSetup training;
  std::int64_t to = 32;
  std::int64_t texts = 256;
};

[[nodiscard]] const Fields<VariantsBench>& variants_bench_fields();
[[nodiscard]] const Fields<PositionsBench>& positions_bench_fields();
[[nodiscard]] const Fields<BottleneckBench>& bottleneck_bench_fields();

/// The setup with kinds and lengths. Throws InvalidArgument naming the field, before minutes of training.
[[nodiscard]] PositionSetup position_setup(const PositionsBench& request);

/// run_positions(). Throws Error, which says why, where no training came to its end.
[[nodiscard]] std::vector<PositionResult> found_positions(const PositionSetup& setup, const PositionWatch& watch = {});

/// The setup with lengths, data and threads. Throws InvalidArgument naming the field, before minutes of measuring, also
/// for a mask that cannot be read or does not fit one of the lengths.
[[nodiscard]] VariantSetup variant_setup(const VariantsBench& request);
/// Charts of time, memory and error over the length.
[[nodiscard]] std::vector<Drawing> variants_drawings(const VariantSetup& setup, const std::vector<VariantCost>& costs);

struct VariantFigures {
  std::int64_t tokens = 0;
  std::string variant;
  std::optional<double> seconds;
  std::optional<std::int64_t> runs, bytes;
  std::optional<double> rms_error, max_error;
  std::optional<std::optional<double>> pairs, tiles;  // null if they have no meaning, left out if it was skipped
  std::string skipped;
};

/// What `qkv bench variants --json` prints.
struct VariantsFigures {
  std::int64_t heads = 0, head_dim = 0;
  bool causal = false;
  std::string dtype;
  std::int64_t threads = 0;
  std::string data;
  std::uint64_t seed = 0;
  std::int64_t window = 0, stride = 0, block = 0, sampled_rows = 0;
  std::vector<VariantFigures> results;
};

struct PositionFigures {
  std::string positions, addressing;
  std::int64_t parameters = 0;
  std::optional<double> loss, seconds;
  std::optional<std::vector<double>> accuracy;
  std::string failed;
};

/// What `qkv bench positions --json` prints.
struct PositionsFigures {
  std::string task, unit;
  std::int64_t train_length = 0;
  std::vector<std::int64_t> test_lengths;
  std::int64_t layers = 0, d_model = 0, heads = 0, steps = 0, batch = 0;
  double learning_rate = 0;
  std::int64_t examples = 0;
  std::uint64_t seed = 0;
  std::int64_t trained_places = 0;
  std::vector<PositionFigures> results;
};

struct BottleneckSizes {
  std::int64_t vector = 0, attention = 0;
};

struct BottleneckShares {
  double letters = 0, texts = 0;
};

struct BottleneckLength {
  std::int64_t length = 0;
  BottleneckShares vector, attention;
};

/// What `qkv bench bottleneck --json` prints, and the card of its models.
struct BottleneckFigures {
  BottleneckSizes parameters;
  std::int64_t longest = 0, steps = 0, batch = 0;
  double learning_rate = 0;
  std::uint64_t seed = 0;
  std::vector<BottleneckLength> lengths;
};

struct BottleneckFound {
  BottleneckModels models;
  std::vector<BottleneckPoint> points;
  BottleneckFigures figures;
};

/// Measures the models of the box, or trains two and writes them with a card of these figures. Throws InvalidArgument
/// naming the field, Error for a place that cannot be written, and Cancelled, with nothing written, if the watch
/// stopped it.
[[nodiscard]] BottleneckFound found_bottleneck(const BottleneckBench& request, const BottleneckWatch& watch = {});

/// Without bytes of the heap, which only a program that counts its own allocations knows.
[[nodiscard]] VariantsFigures answer(const VariantsBench& request);
/// Trains all kinds. Throws as position_setup() and found_positions().
[[nodiscard]] PositionsFigures answer(const PositionsBench& request);
[[nodiscard]] BottleneckFigures answer(const BottleneckBench& request);

[[nodiscard]] VariantsFigures variants_figures(const VariantSetup& setup, const std::vector<VariantCost>& costs);
[[nodiscard]] PositionsFigures positions_figures(const PositionSetup& setup,
                                                 const std::vector<PositionResult>& results);
[[nodiscard]] BottleneckFigures bottleneck_figures(const BottleneckModels& models, const BottleneckSetup& setup,
                                                   const std::vector<BottleneckPoint>& points);

[[nodiscard]] Members<VariantFigures> describe(const VariantFigures* figures);
[[nodiscard]] Members<VariantsFigures> describe(const VariantsFigures* figures);
[[nodiscard]] Members<PositionFigures> describe(const PositionFigures* figures);
[[nodiscard]] Members<PositionsFigures> describe(const PositionsFigures* figures);
[[nodiscard]] Members<BottleneckSizes> describe(const BottleneckSizes* sizes);
[[nodiscard]] Members<BottleneckShares> describe(const BottleneckShares* shares);
[[nodiscard]] Members<BottleneckLength> describe(const BottleneckLength* length);
[[nodiscard]] Members<BottleneckFigures> describe(const BottleneckFigures* figures);

}  // namespace qkv
