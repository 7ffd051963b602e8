// Pages of keys and values, and how many sequences hold each.
#pragma once

#include <cstdint>
#include <vector>

#include "qkv/kv_cache.h"

namespace qkv::kv_detail {

/// Pages of `page_tokens` tokens: k [pages, Hk, page_tokens, D], v, and their scales in i8. A contiguous cache is a
/// store whose pages are its sequences.
class Store {
 public:
  /// Throws InvalidArgument naming `function` and the field of the format at fault.
  Store(std::string_view function, const KvFormat& format, std::int64_t pages, std::int64_t page_tokens);

  [[nodiscard]] const KvFormat& format() const noexcept { return format_; }  // with Dv
  [[nodiscard]] std::int64_t pages() const noexcept { return static_cast<std::int64_t>(owners_.size()); }
  [[nodiscard]] std::int64_t page_tokens() const noexcept { return page_tokens_; }
  [[nodiscard]] std::int64_t page_bytes() const noexcept { return page_bytes_; }
  [[nodiscard]] std::int64_t free_pages() const noexcept { return static_cast<std::int64_t>(free_.size()); }
  [[nodiscard]] std::int64_t owners(std::int32_t page) const { return owners_[static_cast<std::size_t>(page)]; }

  /// A free page with one owner. There must be one.
  [[nodiscard]] std::int32_t take();
  void share(std::int32_t page) { ++owners_[static_cast<std::size_t>(page)]; }
  void drop(std::int32_t page);

  /// The first `tokens` tokens of a page of a store of the same format.
  void copy(const Store& from, std::int32_t from_page, std::int32_t to_page, std::int64_t tokens);
  /// Moves `tokens` tokens of a page, from token `first` on, to its beginning.
  void move_to_begin(std::int32_t page, std::int64_t first, std::int64_t tokens);
  /// Rounds token t of k [Hk, T, D] and of v [Hk, T, Dv] into a page.
  void write(const TensorView& k, const TensorView& v, std::int64_t t, std::int32_t page, std::int64_t token);

  [[nodiscard]] KvBuffers buffers() const { return {k_, v_, k_scales_, v_scales_}; }

 private:
  KvFormat format_;
  std::int64_t page_tokens_;
  std::int64_t page_bytes_ = 0;
  Tensor k_;
  Tensor v_;
  Tensor k_scales_;
  Tensor v_scales_;
  std::vector<std::int64_t> owners_;
  std::vector<std::int32_t> free_;
};

}  // namespace qkv::kv_detail
