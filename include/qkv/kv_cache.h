// Keys and values of earlier steps, kept for the next: contiguous or in pages. docs/kv-cache.md shows how to use them.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "qkv/tensor.h"

namespace qkv {

namespace kv_detail {
class Store;
}

/// The format of a token: for each of Hk heads, a row of D elements for its key and one of Dv for its value. dtype f64,
/// f32, f16, bf16 or i8; only f64 queries can use f64. In i8 each row has its own f32 scale: element = scale * integer,
/// scale = max|x| / 127, integers rounded to nearest, ties to even.
/// So the error of an element is at most half its scale.
struct KvFormat {
  std::int64_t Hk = 1;
  std::int64_t D = 1;
  std::optional<std::int64_t> Dv = std::nullopt;  // default: D
  DType dtype = DType::f32;
};

/// What the keys and values of a token take, with the scales of i8.
[[nodiscard]] std::int64_t token_bytes(const KvFormat& format) noexcept;

/// Borrowed keys and values, as a cache or a serving engine keeps them. Axes in any order of memory: a buffer that lies
/// as [pages, page_tokens, Hk, D] is passed as a view transposed to [pages, Hk, page_tokens, D]. Rows are dense.
struct KvBuffers {
  TensorView k;              // [B or pages, Hk, tokens, D]
  TensorView v;              // [B or pages, Hk, tokens, Dv]
  TensorView k_scales = {};  // f32 [B or pages, Hk, tokens] where k is i8, any strides, 0 too; else none
  TensorView v_scales = {};
};

/// A read-only view of a cache that it does not own: buffers and page table must outlive it unchanged. Cheap to make;
/// copies only the lengths.
class KvCacheView {
 public:
  /// Sequence b is the first lengths[b] tokens of entry b. Throws InvalidArgument naming a sequence whose length
  /// exceeds the buffers, or what is wrong with the buffers.
  KvCacheView(const KvBuffers& buffers, std::vector<std::int64_t> lengths);
  /// Token j of sequence b is token j % page_tokens of page page_table[b, j / page_tokens]; page_table is i32
  /// [B, max_pages], and only the entries that lengths[b] needs are read. Throws InvalidArgument as above, and
  /// naming a sequence and its table entry that is not a page.
  KvCacheView(const KvBuffers& buffers, const TensorView& page_table, std::vector<std::int64_t> lengths);

  [[nodiscard]] std::int64_t B() const noexcept { return static_cast<std::int64_t>(lengths_.size()); }
  [[nodiscard]] std::int64_t Hk() const { return buffers_.k.dim(1); }
  [[nodiscard]] std::int64_t D() const { return buffers_.k.dim(3); }
  [[nodiscard]] std::int64_t Dv() const { return buffers_.v.dim(3); }
  [[nodiscard]] DType dtype() const noexcept { return buffers_.k.dtype(); }
  [[nodiscard]] std::int64_t length(std::int64_t b) const;
  [[nodiscard]] const std::vector<std::int64_t>& lengths() const noexcept { return lengths_; }
  [[nodiscard]] const KvBuffers& buffers() const noexcept { return buffers_; }
  /// The pages of sequence b in order, as many as its length needs; null if the cache is contiguous.
  [[nodiscard]] const std::int32_t* pages(std::int64_t b) const;

  /// The keys [Hk, length, D] or values [Hk, length, Dv] of sequence b as a new tensor of a floating dtype.
  [[nodiscard]] Tensor keys(std::int64_t b, DType dtype = DType::f32) const;
  [[nodiscard]] Tensor values(std::int64_t b, DType dtype = DType::f32) const;

 private:
  friend class KvCache;
  KvCacheView() = default;

  KvBuffers buffers_;
  std::vector<std::int64_t> lengths_;
  std::vector<const std::int32_t*> tables_;  // of each sequence; empty if the cache is contiguous
};

struct KvPagesOptions {
  KvFormat format = {};
  std::int64_t pages = 0;
  std::int64_t page_tokens = 64;  // a multiple of 16
};

/// A fixed number of pages that any number of caches share; copies are the same pool. A cache and its pool are not safe
/// to use from several threads at once.
class KvPages {
 public:
  /// Allocates all pages. Throws InvalidArgument naming the option.
  explicit KvPages(const KvPagesOptions& options);

  [[nodiscard]] std::int64_t pages() const noexcept;
  [[nodiscard]] std::int64_t page_tokens() const noexcept;
  [[nodiscard]] std::int64_t free_pages() const noexcept;
  /// Memory of all pages, with their scales.
  [[nodiscard]] std::int64_t bytes() const noexcept;

 private:
  friend class KvCache;
  std::shared_ptr<kv_detail::Store> store_;
};

struct KvCacheOptions {
  KvFormat format = {};
  std::int64_t B = 1;
  std::int64_t capacity = 0;  // tokens a sequence
};

/// B sequences, each of its own length. Move-only; fork() copies.
class KvCache {
 public:
  /// Contiguous: allocates [B, Hk, capacity, D] and [B, Hk, capacity, Dv]. Throws InvalidArgument naming the option.
  explicit KvCache(const KvCacheOptions& options);
  /// Empty sequences that take pages as they grow and give them back when they shrink or end (Kwon et al. 2023).
  KvCache(const KvPages& pages, std::int64_t B);
  KvCache(const KvCache&) = delete;
  KvCache& operator=(const KvCache&) = delete;
  KvCache(KvCache&& other) noexcept = default;
  KvCache& operator=(KvCache&& other) noexcept;
  ~KvCache();

  [[nodiscard]] std::int64_t B() const noexcept { return static_cast<std::int64_t>(sequences_.size()); }
  [[nodiscard]] std::int64_t length(std::int64_t b) const { return sequence("KvCache::length", b).length; }
  [[nodiscard]] std::vector<std::int64_t> lengths() const;
  /// How many tokens of sequence b came before the first that is here: what forget_first() has taken.
  [[nodiscard]] std::int64_t forgotten(std::int64_t b) const { return sequence("KvCache::forgotten", b).forgotten; }
  /// The length that sequence b can grow to if no other grows.
  [[nodiscard]] std::int64_t capacity(std::int64_t b) const;
  /// Makes room for `capacity` tokens of each sequence: a contiguous cache of less moves into new storage, which is
  /// allocated; pages are taken as sequences grow.
  void reserve(std::int64_t capacity);
  /// Moves a contiguous cache of more into new storage for `capacity` tokens of each sequence, or for its longest.
  void shrink(std::int64_t capacity);
  /// Memory of the cache, with scales: all of its storage, or the pages that its sequences hold, shared pages once.
  [[nodiscard]] std::int64_t bytes() const;

  /// Appends T tokens to every sequence: k [B, Hk, T, D] and v [B, Hk, T, Dv], any floating dtypes and strides, rounded
  /// to the cache's. Throws InvalidArgument, before anything is written, if shapes disagree or there is no room,
  /// and for a NaN or an infinity in i8, which cannot hold it.
  void append(const TensorView& k, const TensorView& v);
  /// The same for one sequence: k [Hk, T, D] and v [Hk, T, Dv].
  void append(std::int64_t b, const TensorView& k, const TensorView& v);
  /// Forgets the tokens from `length` on; pages that hold no others go back to the pool. Of length 0 a sequence begins
  /// anew: forgotten(b) is 0.
  void truncate(std::int64_t b, std::int64_t length);
  /// Forgets the first `count` tokens, for layers whose window no longer reaches them; the rest are tokens 0, 1, … of
  /// what is left. Contiguous storage is moved; a paged cache forgets whole pages alone, so up to page_tokens - 1 less.
  void forget_first(std::int64_t b, std::int64_t count);

  /// A cache whose sequence n continues sequences[n] of this one; a sequence may be named more than once. Pages are
  /// shared until one of their owners appends to a page, which then copies it; contiguous storage is copied.
  [[nodiscard]] KvCache fork(std::span<const std::int64_t> sequences) const;
  [[nodiscard]] KvCache fork(std::int64_t b) const { return fork(std::span(&b, 1)); }
  [[nodiscard]] KvCache fork() const;

  /// Valid until the next append, truncate or move.
  [[nodiscard]] KvCacheView view() const;
  operator KvCacheView() const { return view(); }  // NOLINT(google-explicit-constructor): as a tensor is a view

 private:
  struct Sequence {
    std::vector<std::int32_t> pages;
    std::int64_t length = 0;
    std::int64_t forgotten = 0;
  };
  enum class Kind : std::uint8_t { contiguous, paged };

  KvCache(Kind kind, std::shared_ptr<kv_detail::Store> store) : kind_(kind), store_(std::move(store)) {}
  [[nodiscard]] const Sequence& sequence(std::string_view function, std::int64_t b) const;
  void move_into(std::int64_t capacity);
  void copy_sequence(std::size_t n, const KvCache& from, std::size_t from_n);
  void append_from(std::int64_t first, const TensorView& k, const TensorView& v);
  void require_held(std::string_view function, std::string_view argument, std::int64_t b, std::int64_t tokens) const;
  void require_room(std::int64_t first, std::int64_t count, std::int64_t tokens) const;
  [[nodiscard]] std::int64_t pages_wanted(std::int64_t first, std::int64_t count, std::int64_t tokens) const;
  void make_room(Sequence& sequence, std::int64_t tokens);

  Kind kind_ = Kind::contiguous;
  std::shared_ptr<kv_detail::Store> store_;
  std::vector<Sequence> sequences_;
};

}  // namespace qkv
