// A bound on what the stages of a tokenizer may make of a text: a file from elsewhere may double it forty times.
#pragma once

#include <cstddef>

namespace qkv::text {

/// While it lives, stages of this thread may make at most 64 bytes of each byte, and 1 MiB more. Limits do not nest:
/// the outermost one holds. NFKD, which grows a text most, makes 11 bytes of one.
class GrowthLimit {
 public:
  explicit GrowthLimit(std::size_t bytes) noexcept;
  GrowthLimit(const GrowthLimit&) = delete;
  GrowthLimit& operator=(const GrowthLimit&) = delete;
  GrowthLimit(GrowthLimit&&) = delete;
  GrowthLimit& operator=(GrowthLimit&&) = delete;
  ~GrowthLimit();

 private:
  std::size_t before_;
};

/// Throws Error if `made`, bytes or tokens, are more than the limit, if there is one.
void require_growth(std::size_t made);

}  // namespace qkv::text
