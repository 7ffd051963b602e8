// Which positions generalise: a decoder of each kind, trained on short examples of a task and examined on longer ones.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "qkv/model/decoder.h"
#include "qkv/picture/chart.h"

namespace qkv {

struct PositionSetup {
  std::string task = "previous";
  std::vector<Positions> kinds;
  std::int64_t train_length = 0;           // in the task's unit, as are those of the tests
  std::vector<std::int64_t> test_lengths;  // rising
  std::int64_t layers = 2;
  std::int64_t d_model = 64;
  std::int64_t heads = 4;
  std::int64_t steps = 1000;
  std::int64_t batch = 32;
  double learning_rate = 3e-3;
  std::int64_t examples = 256;  // held out, of each length
  std::uint64_t seed = 1;
};

struct PositionResult {
  Positions kind = Positions::none;
  std::string failed;  // why training ended; the rest is then empty
  std::int64_t parameters = 0;
  double loss = 0;             // of the last step
  double seconds = 0;          // of training
  std::vector<double> shares;  // of the answers that are as expected, in [0, 1], at each test length
};

struct PositionWatch {
  std::function<void(const std::string&)> doing = [](const std::string&) {};  // told what is going on, after each step
  std::function<bool()> stopped = [] { return false; };                       // true leaves this kind and the rest out
  std::function<void(const PositionResult&)> done = [](const PositionResult&) {};
};

/// "absolute" if it says where a token is, "relative" if how far two are apart; "-" for none.
[[nodiscard]] std::string_view addressing_of(Positions kind);

/// What the lengths of its task count, such as "letters".
[[nodiscard]] std::string unit_of(const PositionSetup& setup);

/// Places of the longest text, its source included: of training, and of training and tests. A table of learned
/// positions has a row for each of these.
[[nodiscard]] std::int64_t trained_places(const PositionSetup& setup);
[[nodiscard]] std::int64_t all_places(const PositionSetup& setup);

/// Each kind in turn, as far as the watch lets it. A pure function of the setup but for `seconds`. Throws
/// InvalidArgument as make_task() and the models do.
[[nodiscard]] std::vector<PositionResult> run_positions(const PositionSetup& setup, const PositionWatch& watch = {});

/// For people, in at most 80 columns if the test lengths are at most four.
[[nodiscard]] std::string positions_table(const PositionSetup& setup, const std::vector<PositionResult>& results);
/// A line for each kind over the length; at least one result must not have failed.
[[nodiscard]] Chart positions_chart(const PositionSetup& setup, const std::vector<PositionResult>& results);

}  // namespace qkv
