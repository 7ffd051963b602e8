#include "qkv/kv_cache.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>
#include <set>

#include "cache/kv_round.h"
#include "cache/kv_store.h"
#include "core/counted.h"

namespace qkv {
namespace {

std::int64_t pages_for(std::int64_t tokens, std::int64_t page_tokens) {
  return tokens / page_tokens + (tokens % page_tokens != 0);
}

void require_count(std::string_view argument, std::int64_t count) {
  if (count >= 0 && count <= std::numeric_limits<std::int32_t>::max()) return;
  throw InvalidArgument("KvCache", argument, "0 to 2147483647", std::to_string(count));
}

void require_numbers(std::string_view argument, const TensorView& x) {
  if (is_floating(x.dtype())) return;
  throw InvalidArgument("KvCache::append", argument, "f64, f32, f16 or bf16", name_of(x.dtype()));
}

// `leading` is B, or nothing for one sequence.
void require_tokens(const Dims& leading, const TensorView& k, const TensorView& v, const KvFormat& format) {
  require_numbers("k", k);
  require_numbers("v", v);
  Shape wanted = leading;
  wanted.push_back(format.Hk);
  wanted.push_back(k.rank() == leading.rank() + 3 ? k.dim(-2) : 0);
  wanted.push_back(format.D);
  if (k.shape() != wanted) {
    const std::string front = leading.rank() == 0 ? "" : fmt::format("{}, ", leading[0]);
    throw InvalidArgument("KvCache::append", "k", fmt::format("[{}{}, T, {}]", front, format.Hk, format.D),
                          k.shape().to_string());
  }
  wanted[wanted.rank() - 1] = *format.Dv;
  if (v.shape() != wanted) {
    throw InvalidArgument("KvCache::append", "v", wanted.to_string(), v.shape().to_string());
  }
}

void require_finite(std::string_view argument, const TensorView& x) {
  const std::optional<std::string> unbounded = kv_detail::find_unbounded(x);
  if (unbounded) throw InvalidArgument("KvCache::append", argument, "finite numbers for a cache of i8", *unbounded);
}

}  // namespace

KvCache::KvCache(const KvCacheOptions& options) {
  require_count("B", options.B);
  require_count("capacity", options.capacity);
  store_ = std::make_shared<kv_detail::Store>("KvCache", options.format, options.B, options.capacity);
  for (std::int64_t b = 0; b < options.B; ++b) sequences_.push_back({.pages = {store_->take()}});
}

KvCache::KvCache(const KvPages& pages, std::int64_t B) : kind_(Kind::paged), store_(pages.store_) {
  require_count("B", B);
  sequences_.resize(static_cast<std::size_t>(B));
}

KvCache& KvCache::operator=(KvCache&& other) noexcept {
  KvCache taken(std::move(other));
  std::swap(kind_, taken.kind_);
  std::swap(store_, taken.store_);
  std::swap(sequences_, taken.sequences_);
  return *this;
}

KvCache::~KvCache() {
  for (const Sequence& sequence : sequences_) {
    for (const std::int32_t page : sequence.pages) store_->drop(page);
  }
}

const KvCache::Sequence& KvCache::sequence(std::string_view function, std::int64_t b) const {
  if (b >= 0 && b < B()) return sequences_[static_cast<std::size_t>(b)];
  throw InvalidArgument(function, "b", fmt::format("0 <= b < {}", B()), std::to_string(b));
}

std::vector<std::int64_t> KvCache::lengths() const {
  std::vector<std::int64_t> lengths;
  for (const Sequence& sequence : sequences_) lengths.push_back(sequence.length);
  return lengths;
}

std::int64_t KvCache::capacity(std::int64_t b) const {
  const Sequence& one = sequence("KvCache::capacity", b);
  const std::int64_t page = store_->page_tokens();
  if (kind_ == Kind::contiguous) return page;
  const std::int64_t held = static_cast<std::int64_t>(one.pages.size()) * page;
  const bool must_copy = one.length < held && store_->owners(one.pages.back()) > 1;
  if (must_copy && store_->free_pages() == 0) return one.length;
  return held + (store_->free_pages() - (must_copy ? 1 : 0)) * page;
}

void KvCache::reserve(std::int64_t capacity) {
  if (kind_ == Kind::contiguous && capacity > store_->page_tokens()) move_into(capacity);
}

void KvCache::shrink(std::int64_t capacity) {
  if (kind_ == Kind::paged) return;
  for (const Sequence& sequence : sequences_) capacity = std::max(capacity, sequence.length);
  if (capacity < store_->page_tokens()) move_into(capacity);
}

void KvCache::move_into(std::int64_t capacity) {
  KvCache other({.format = store_->format(), .B = B(), .capacity = capacity});
  for (std::size_t n = 0; n < sequences_.size(); ++n) other.copy_sequence(n, *this, n);
  *this = std::move(other);
}

void KvCache::copy_sequence(std::size_t n, const KvCache& from, std::size_t from_n) {
  const Sequence& source = from.sequences_[from_n];
  Sequence& copy = sequences_[n];
  copy.length = source.length;
  copy.forgotten = source.forgotten;
  store_->copy(*from.store_, source.pages.front(), copy.pages.front(), source.length);
}

std::int64_t KvCache::bytes() const {
  std::set<std::int32_t> held;
  for (const Sequence& sequence : sequences_) held.insert(sequence.pages.begin(), sequence.pages.end());
  return static_cast<std::int64_t>(held.size()) * store_->page_bytes();
}

// Pages needed for these sequences to grow by `tokens` each: new pages, and copies of shared ones.
std::int64_t KvCache::pages_wanted(std::int64_t first, std::int64_t count, std::int64_t tokens) const {
  std::int64_t wanted = 0;
  std::map<std::int32_t, std::int64_t> written;  // partly filled pages: how many of these sequences write to each
  for (std::int64_t b = first; b < first + count; ++b) {
    const Sequence& one = sequences_[static_cast<std::size_t>(b)];
    wanted += pages_for(one.length + tokens, store_->page_tokens()) - static_cast<std::int64_t>(one.pages.size());
    if (tokens > 0 && one.length % store_->page_tokens() != 0) ++written[one.pages.back()];
  }
  for (const auto& [page, writers] : written) wanted += std::min(writers, store_->owners(page) - 1);
  return wanted;
}

void KvCache::require_held(std::string_view function, std::string_view argument, std::int64_t b,
                           std::int64_t tokens) const {
  const std::int64_t held = sequence(function, b).length;
  if (tokens >= 0 && tokens <= held) return;
  throw InvalidArgument(function, argument, fmt::format("0 to {}, the length of sequence {}", held, b),
                        std::to_string(tokens));
}

void KvCache::require_room(std::int64_t first, std::int64_t count, std::int64_t tokens) const {
  for (std::int64_t b = first; b < first + count; ++b) {
    const std::int64_t most = capacity(b);
    const std::int64_t length = sequences_[static_cast<std::size_t>(b)].length;
    if (tokens <= most - length) continue;
    throw InvalidArgument("KvCache::append", "k",
                          fmt::format("at most {} for sequence {}, which holds {} of {}",
                                      core::counted(most - length, "token"), b, length, most),
                          std::to_string(tokens));
  }
  if (kind_ == Kind::contiguous || pages_wanted(first, count, tokens) <= store_->free_pages()) return;
  throw InvalidArgument("KvCache::append", "k",
                        fmt::format("tokens for the {} pages that are free", store_->free_pages()),
                        fmt::format("{} for each of {} sequences, which take {} pages", tokens, count,
                                    pages_wanted(first, count, tokens)));
}

void KvCache::make_room(Sequence& sequence, std::int64_t tokens) {
  if (kind_ == Kind::contiguous || tokens == 0) return;
  const std::int64_t page_tokens = store_->page_tokens();
  const std::int64_t filled = sequence.length % page_tokens;
  if (filled != 0 && store_->owners(sequence.pages.back()) > 1) {
    const std::int32_t own = store_->take();
    store_->copy(*store_, sequence.pages.back(), own, filled);
    store_->drop(sequence.pages.back());
    sequence.pages.back() = own;
  }
  const auto pages = static_cast<std::size_t>(pages_for(sequence.length + tokens, page_tokens));
  while (sequence.pages.size() < pages) sequence.pages.push_back(store_->take());
}

void KvCache::append(const TensorView& k, const TensorView& v) {
  require_tokens({B()}, k, v, store_->format());
  append_from(0, k, v);
}

void KvCache::append(std::int64_t b, const TensorView& k, const TensorView& v) {
  static_cast<void>(sequence("KvCache::append", b));
  require_tokens({}, k, v, store_->format());
  append_from(b, k.unsqueeze(0), v.unsqueeze(0));
}

void KvCache::append_from(std::int64_t first, const TensorView& k, const TensorView& v) {
  const std::int64_t tokens = k.dim(2);
  require_room(first, k.dim(0), tokens);
  if (store_->format().dtype == DType::i8) {
    require_finite("k", k);
    require_finite("v", v);
  }
  for (std::int64_t n = 0; n < k.dim(0); ++n) {
    Sequence& one = sequences_[static_cast<std::size_t>(first + n)];
    make_room(one, tokens);
    const TensorView k_rows = k.select(0, n);
    const TensorView v_rows = v.select(0, n);
    for (std::int64_t t = 0; t < tokens; ++t, ++one.length) {
      const auto page = static_cast<std::size_t>(one.length / store_->page_tokens());
      store_->write(k_rows, v_rows, t, one.pages[page], one.length % store_->page_tokens());
    }
  }
}

void KvCache::truncate(std::int64_t b, std::int64_t length) {
  require_held("KvCache::truncate", "length", b, length);
  Sequence& one = sequences_[static_cast<std::size_t>(b)];
  one.length = length;
  if (length == 0) one.forgotten = 0;
  if (kind_ == Kind::contiguous) return;
  const auto pages = static_cast<std::size_t>(pages_for(length, store_->page_tokens()));
  for (; one.pages.size() > pages; one.pages.pop_back()) store_->drop(one.pages.back());
}

void KvCache::forget_first(std::int64_t b, std::int64_t count) {
  require_held("KvCache::forget_first", "count", b, count);
  Sequence& one = sequences_[static_cast<std::size_t>(b)];
  if (kind_ == Kind::contiguous) {
    store_->move_to_begin(one.pages.front(), count, one.length - count);
  } else {
    const std::int64_t pages = count / store_->page_tokens();
    for (std::int64_t n = 0; n < pages; ++n) store_->drop(one.pages[static_cast<std::size_t>(n)]);
    one.pages.erase(one.pages.begin(), one.pages.begin() + pages);
    count = pages * store_->page_tokens();
  }
  one.length -= count;
  one.forgotten += count;
}

KvCache KvCache::fork(std::span<const std::int64_t> sequences) const {
  for (const std::int64_t b : sequences) static_cast<void>(sequence("KvCache::fork", b));
  const auto count = static_cast<std::int64_t>(sequences.size());
  if (kind_ == Kind::paged) {
    KvCache forked(kind_, store_);
    for (const std::int64_t b : sequences) {
      forked.sequences_.push_back(sequences_[static_cast<std::size_t>(b)]);
      for (const std::int32_t page : forked.sequences_.back().pages) store_->share(page);
    }
    return forked;
  }
  KvCache forked({.format = store_->format(), .B = count, .capacity = store_->page_tokens()});
  for (std::size_t n = 0; n < sequences.size(); ++n) {
    forked.copy_sequence(n, *this, static_cast<std::size_t>(sequences[n]));
  }
  return forked;
}

KvCache KvCache::fork() const {
  std::vector<std::int64_t> every(sequences_.size());
  for (std::size_t b = 0; b < every.size(); ++b) every[b] = static_cast<std::int64_t>(b);
  return fork(every);
}

KvCacheView KvCache::view() const {
  KvCacheView view;
  view.buffers_ = store_->buffers();
  view.lengths_ = lengths();
  if (kind_ == Kind::contiguous) return view;
  for (const Sequence& sequence : sequences_) view.tables_.push_back(sequence.pages.data());
  return view;
}

}  // namespace qkv
