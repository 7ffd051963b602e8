// Plans of masks, kept for the calls that share them.
#pragma once

#include <cstdint>
#include <memory>

#include "qkv/mask.h"
#include "qkv/tile_plan.h"

namespace qkv {

/// The plans of masks in tiles of 64 x 64. Each is made by the first call that asks for it, and kept for those after
/// it: the layers of a model, or a backward pass after its forward pass. A mask is known again as a copy, and causal(),
/// window() and what & and | make of such masks also by their meaning. Keeps what it has made until it is destroyed, so
/// have one for each batch. Safe to use from several threads.
class MaskPlans {
 public:
  MaskPlans();
  MaskPlans(const MaskPlans&) = delete;
  MaskPlans& operator=(const MaskPlans&) = delete;
  ~MaskPlans();

  /// The plan of `mask` over `shape`, valid as long as this object. Allocates a plan that was not there. Throws as
  /// TilePlan does.
  [[nodiscard]] const TilePlan& of(const Mask& mask, const MaskShape& shape);
  /// The plan of entry `b` of the shape's B alone, over that entry's own Tq and Tk: documents of a ragged batch. One
  /// for all entries if the mask does not vary by batch entry.
  [[nodiscard]] const TilePlan& of_entry(const Mask& mask, std::int64_t b, const MaskShape& shape);

  /// How many plans were made.
  [[nodiscard]] std::int64_t made() const;

 private:
  struct Kept;

  std::unique_ptr<Kept> kept_;
};

}  // namespace qkv
