#include <fmt/format.h>

#include <limits>

#include "cache/kv_store.h"

namespace qkv {

KvPages::KvPages(const KvPagesOptions& options) {
  constexpr std::int64_t kStep = 16;
  constexpr std::int64_t kMost = std::numeric_limits<std::int32_t>::max();
  if (options.page_tokens < 1 || options.page_tokens % kStep != 0) {
    throw InvalidArgument("KvPages", "page_tokens", fmt::format("a multiple of {}", kStep),
                          std::to_string(options.page_tokens));
  }
  if (options.pages < 0 || options.pages > kMost) {
    throw InvalidArgument("KvPages", "pages", fmt::format("0 to {}", kMost), std::to_string(options.pages));
  }
  store_ = std::make_shared<kv_detail::Store>("KvPages", options.format, options.pages, options.page_tokens);
}

std::int64_t KvPages::pages() const noexcept { return store_->pages(); }
std::int64_t KvPages::page_tokens() const noexcept { return store_->page_tokens(); }
std::int64_t KvPages::free_pages() const noexcept { return store_->free_pages(); }
std::int64_t KvPages::bytes() const noexcept { return store_->pages() * store_->page_bytes(); }

}  // namespace qkv
