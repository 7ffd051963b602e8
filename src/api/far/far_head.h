// The head that the page Far looks at, and those that are kept.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "api/far/far_pyramid.h"
#include "api/heads/model_run.h"
#include "api/studio/shared_work.h"
#include "qkv/api/far.h"
#include "qkv/api/studio.h"

namespace qkv::api_detail {

class StudioState;

/// One head with its probe, its words and its tiles.
class FarHead {
 public:
  /// Throws InvalidArgument naming the field.
  FarHead(StudioState& state, const FarRequest& request);

  [[nodiscard]] const Probe& probe() const noexcept { return *probe_; }
  [[nodiscard]] std::int64_t h() const noexcept { return h_; }
  [[nodiscard]] std::string query_word(std::int64_t i) const { return word(queries_, i); }
  [[nodiscard]] std::string key_word(std::int64_t j) const { return word(keys_, j); }
  [[nodiscard]] FarPyramid& pyramid() noexcept { return *pyramid_; }
  /// Everything but the overview.
  [[nodiscard]] const FarReply& described() const noexcept { return described_; }
  /// The tile of the top level from every n-th query; made once.
  [[nodiscard]] FarTile estimate(const ProbeWatch& watch);
  /// A tile from every n-th query, n at most the side of a cell.
  [[nodiscard]] FarTile sampled(const FarPlaceOfTile& place, std::int64_t every, const ProbeWatch& watch) const;
  [[nodiscard]] FarTile exact(const FarPlaceOfTile& place, const ProbeWatch& watch);
  /// A band of the walk, in the cells of the top level.
  [[nodiscard]] FarTile band(std::int64_t row, const ProbeWatch& watch);
  /// An upper bound of its memory.
  [[nodiscard]] std::size_t bytes() const;

 private:
  [[nodiscard]] std::string word(const std::vector<std::string>& words, std::int64_t place) const;
  void take_model(StudioState& state, const FarRequest& request);
  void take_shown(const ShownProbe& shown);
  void take_planted(const FarRequest& request);
  void describe();

  std::shared_ptr<const ModelRun> run_;
  Tensor q_, k_;  // of what is planted
  std::vector<std::string> queries_, keys_;
  std::vector<std::uint8_t> planted_;  // of all places, which of `keys_`
  std::int64_t h_ = 0;
  Mask mask_;
  std::unique_ptr<Probe> probe_;
  std::unique_ptr<FarPyramid> pyramid_;
  FarReply described_;
  SharedWork<int, const FarTile> estimate_{{.count = 1, .bytes = 0},
                                           [](const FarTile& /*small*/) { return std::size_t{0}; }};
};

/// The heads that were looked at last, up to 512 MiB of them, and one in any case.
class FarHeads {
 public:
  FarHeads();

  [[nodiscard]] std::shared_ptr<FarHead> head(StudioState& state, const FarRequest& request);

 private:
  SharedWork<std::string, FarHead> heads_;
};

}  // namespace qkv::api_detail
