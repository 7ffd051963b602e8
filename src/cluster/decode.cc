#include <fmt/format.h>

#include <array>
#include <cstring>
#include <numeric>

#include "attention/check.h"
#include "attention/outputs.h"
#include "cluster/agreement.h"
#include "cluster/call.h"
#include "cluster/rows.h"
#include "cluster/sums.h"
#include "cluster/tags.h"
#include "qkv/cluster/attention.h"

namespace qkv {
namespace {

constexpr std::string_view kDecode = "decode";

// A partial result as bytes of a message: out, then lse.
struct Partial {
  Tensor out;
  Tensor lse;

  [[nodiscard]] std::vector<std::byte> packed() const {
    std::vector<std::byte> bytes(size());
    cluster::pack(lse, cluster::pack(out, bytes.data()));
    return bytes;
  }
  void read(const std::vector<std::byte>& bytes) { cluster::unpack(cluster::unpack(bytes.data(), out), lse); }
  [[nodiscard]] std::size_t size() const {
    return static_cast<std::size_t>(out.size()) * size_of(out.dtype()) +
           static_cast<std::size_t>(lse.size()) * size_of(lse.dtype());
  }
};

std::vector<std::int64_t> whole_lengths(const KvCacheView& cache, const AttentionOptions& options, int ranks) {
  const Check check(kDecode);
  if (options.within.empty() && ranks == 1) return cache.lengths();
  check.that(!options.within.empty(), "within", "where this rank's keys lie in each sequence", "none");
  const auto B = static_cast<std::size_t>(cache.B());
  check.that(
      options.within.size() == 1 || options.within.size() == B, "within",
      [&] { return fmt::format("one, or one for each of {} sequences", B); }, options.within.size());
  std::vector<std::int64_t> lengths;
  for (std::size_t b = 0; b < B; ++b) lengths.push_back(options.within[options.within.size() == 1 ? 0 : b].Tk);
  return lengths;
}

// Masks and biases are compared at places of the longest sequence alone; each rank's own call validates all of them.
cluster::Digest digest_of(const TensorView& q, const KvCacheView& cache, const AttentionOptions& options, int ranks) {
  const Check check(kDecode);
  check.that(q.rank() == 4, "q", "a shape [B, Hq, Tq, D]", q.shape());
  check.that(q.dim(0) == cache.B(), "q", [&] { return fmt::format("B = {} as the cache", cache.B()); }, q.shape());
  // Checks everything that the call itself would.
  static_cast<void>(decode_scratch_bytes(q, cache, options));
  AttentionOptions plain = options;
  plain.mask = {};
  plain.bias = {};
  cluster::Digest digest =
      cluster::digest_of(kDecode, {.options = plain, .shape = {.B = q.dim(0), .H = q.dim(1)}}, q.dtype(), {});
  digest.push_back({"mask's text", options.mask.to_string()});
  digest.push_back({"bias's text", options.bias.to_string()});
  digest.push_back({"lengths", fmt::format("{}", fmt::join(whole_lengths(cache, options, ranks), ", "))});
  digest.push_back({"shapes", fmt::format("q {}, Hk = {}, Dv = {}, keys of {}", q.shape().to_string(), cache.Hk(),
                                          cache.Dv(), name_of(cache.dtype()))});
  digest.push_back({"q", cluster::hash_text(q)});
  return digest;
}

// All tokens of each sequence are somewhere.
void require_all_tokens(Transport& transport, const KvCacheView& cache, const AttentionOptions& options) {
  std::vector<std::byte> own(cache.lengths().size() * sizeof(std::int64_t));
  if (!own.empty()) std::memcpy(own.data(), cache.lengths().data(), own.size());
  const auto said = transport.gather(0, own);
  cluster::agree(transport, kDecode, [&]() -> cluster::Digest {
    if (transport.rank() != 0) return {};
    const std::vector<std::int64_t> wanted = whole_lengths(cache, options, transport.size());
    std::vector<std::int64_t> held(wanted.size());
    for (const std::vector<std::byte>& bytes : said) {
      for (std::size_t b = 0; b < held.size(); ++b) {
        std::int64_t tokens = 0;
        std::memcpy(&tokens, bytes.data() + b * sizeof(tokens), sizeof(tokens));
        held[b] += tokens;
      }
    }
    for (std::size_t b = 0; b < held.size(); ++b) {
      Check(kDecode).that(
          held[b] == wanted[b], "cache",
          [&] { return fmt::format("{} tokens of sequence {} on all ranks", wanted[b], b); }, held[b]);
    }
    return {};
  });
}

// Up the tree to rank 0.
void merge_over_ranks(Transport& transport, Partial& own, std::optional<int> threads) {
  const auto merge = [&](const std::vector<std::byte>& bytes) {
    Partial other = {.out = Tensor(own.out.dtype(), own.out.shape()), .lse = Tensor(own.lse.dtype(), own.lse.shape())};
    other.read(bytes);
    const MutableTensorView out = own.out;
    const MutableTensorView lse = own.lse;
    const std::array parts = {PartialAttention{out, lse}, PartialAttention{other.out, other.lse}};
    merge_attention_into(out, lse, parts, threads);
  };
  cluster::send_up(transport, cluster::kDecodeTag, own.size(), [&] { return own.packed(); }, merge);
}

}  // namespace

AttentionResult decode(Transport& transport, const TensorView& q, const KvCacheView& cache,
                       const AttentionOptions& options) {
  cluster::agree(transport, kDecode, [&] { return digest_of(q, cache, options, transport.size()); });
  require_all_tokens(transport, cache, options);
  return cluster::or_give_up(transport, [&] {
    AttentionOptions own = options;
    own.watch = cluster::living(transport, options.watch);
    if (transport.rank() != 0) own.sinks = {};  // they count once
    const DType sums = lse_dtype(q.dtype());
    Partial partial = {.out = Tensor(sums, {q.dim(0), q.dim(1), q.dim(2), cache.Dv()}),
                       .lse = Tensor(DType::f64, {q.dim(0), q.dim(1), q.dim(2)})};
    decode_into(partial.out, partial.lse, q, cache, own);
    merge_over_ranks(transport, partial, options.threads);
    std::vector<std::byte> bytes(partial.size());
    if (transport.rank() == 0) bytes = partial.packed();
    transport.broadcast(0, bytes);
    partial.read(bytes);
    return AttentionResult{.out = partial.out.to(q.dtype()), .lse = cluster::stored_lse(partial.lse, sums)};
  });
}

}  // namespace qkv
