#include "text/growth.h"

#include <limits>
#include <string>

#include "qkv/error.h"

namespace qkv::text {
namespace {

constexpr std::size_t kNone = std::numeric_limits<std::size_t>::max();
thread_local std::size_t growth_limit = kNone;

}  // namespace

GrowthLimit::GrowthLimit(std::size_t bytes) noexcept : before_(growth_limit) {
  constexpr std::size_t kTimes = 64;
  constexpr std::size_t kSpare = std::size_t{1} << 20;
  if (before_ == kNone) growth_limit = kTimes * bytes + kSpare;
}

GrowthLimit::~GrowthLimit() { growth_limit = before_; }

void require_growth(std::size_t made) {
  if (made <= growth_limit) return;
  throw Error("tokenizer: expected stages that make at most " + std::to_string(growth_limit) +
              " bytes or tokens of this text, got more: its tokenizer.json repeats what grows a text");
}

}  // namespace qkv::text
