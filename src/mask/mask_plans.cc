#include "qkv/mask_plans.h"

#include <list>
#include <mutex>

#include "mask/batch_entry.h"
#include "mask/node.h"

namespace qkv {
namespace {

constexpr std::int64_t kEveryEntry = -1;

}  // namespace

struct MaskPlans::Kept {
  // What a plan is of: a mask over a shape, or one entry of it.
  struct Subject {
    Mask mask;
    MaskShape shape;
    std::int64_t entry;

    [[nodiscard]] bool is_same(const Subject& other) const {
      return shape.B == other.shape.B && shape.H == other.shape.H && shape.Tq == other.shape.Tq &&
             shape.Tk == other.shape.Tk && entry == other.entry && mask.node().is_same(other.mask.node());
    }

    [[nodiscard]] TilePlan plan() const {
      if (entry == kEveryEntry) return {mask, shape};
      return {batch_entry(mask, entry, shape.B), {.B = 1, .H = shape.H, .Tq = shape.Tq, .Tk = shape.Tk}};
    }
  };

  struct Plan {
    Subject subject;
    TilePlan plan;
  };

  const TilePlan& of(const Subject& subject) {
    const std::scoped_lock lock(mutex);
    for (const Plan& one : plans) {
      if (one.subject.is_same(subject)) return one.plan;
    }
    return plans.emplace_back(subject, subject.plan()).plan;
  }

  std::mutex mutex;
  std::list<Plan> plans;  // a list, so that references stay valid
};

MaskPlans::MaskPlans() : kept_(std::make_unique<Kept>()) {}
MaskPlans::~MaskPlans() = default;

const TilePlan& MaskPlans::of(const Mask& mask, const MaskShape& shape) {
  return kept_->of({.mask = mask, .shape = shape, .entry = kEveryEntry});
}

const TilePlan& MaskPlans::of_entry(const Mask& mask, std::int64_t b, const MaskShape& shape) {
  if (mask.varies_by_batch()) return kept_->of({.mask = mask, .shape = shape, .entry = b});
  return of(mask, {.B = 1, .H = shape.H, .Tq = shape.Tq, .Tk = shape.Tk});
}

std::int64_t MaskPlans::made() const {
  const std::scoped_lock lock(kept_->mutex);
  return static_cast<std::int64_t>(kept_->plans.size());
}

}  // namespace qkv
