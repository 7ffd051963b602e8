#include "cases/ragged.h"

#include <array>
#include <bit>
#include <cmath>
#include <random>
#include <sstream>
#include <vector>

#include "cases/run.h"
#include "cases/stretches.h"
#include "qkv/backward.h"
#include "qkv/gradient_probe.h"

namespace qkv::cases {
namespace {

// A document: some queries and keys of an entry, and where they lie if they are a window.
struct Share {
  Stretch queries;
  Stretch keys;
  std::vector<MatrixWindow> within = {};
};

bool fits(const AttentionOptions& options, const MaskShape& shape) {
  try {
    options.mask.validate(shape);
    options.bias.validate(shape);
    return true;
  } catch (const InvalidArgument&) {
    return false;
  }
}

enum class Documents : std::uint8_t { shorter, windows };

std::vector<Share> shares_of(const Case& one, const AttentionOptions& options, Documents are) {
  std::mt19937_64 engine(one.seed + 2);
  std::vector<Share> shares;
  for (std::int64_t n = 0; n < one.B; ++n) {
    Share share = {.queries = {.count = static_cast<std::int64_t>(engine() % static_cast<std::uint64_t>(one.Tq + 1))},
                   .keys = {.count = static_cast<std::int64_t>(engine() % static_cast<std::uint64_t>(one.Tk + 1))}};
    if (!fits(options, {.B = one.B, .H = one.Hq(), .Tq = share.queries.count, .Tk = share.keys.count})) {
      share = {.queries = {.count = one.Tq}, .keys = {.count = one.Tk}};
    }
    if (are == Documents::windows) {
      const auto any_of = [&](std::int64_t extent) {
        const std::vector<Stretch> all = stretches_of(extent, engine);
        return all[engine() % all.size()];
      };
      const Stretch queries = any_of(share.queries.count);
      const Stretch keys = any_of(share.keys.count);
      share = {queries, keys, {window_of(share.queries.count, share.keys.count, queries, keys)}};
    }
    shares.push_back(share);
  }
  return shares;
}

Ragged ragged_of(const std::vector<Share>& shares) {
  Ragged ragged = {.q_offsets = {0}, .k_offsets = {0}};
  for (const Share& share : shares) {
    ragged.q_offsets.push_back(ragged.q_offsets.back() + share.queries.count);
    ragged.k_offsets.push_back(ragged.k_offsets.back() + share.keys.count);
  }
  return ragged;
}

// Copies axis 2 of an entry of `from` to axis 2 of the one entry of `to`, from `begin` on.
void copy_rows(const TensorView& from, std::int64_t b, std::int64_t begin, const MutableTensorView& to) {
  std::vector<double> row(static_cast<std::size_t>(from.dim(3)));
  for (std::int64_t h = 0; h < from.dim(1); ++h) {
    for (std::int64_t t = 0; t < from.dim(2); ++t) {
      from.load_row(std::array{b, h, t}, row);
      to.store_row(std::array{std::int64_t{0}, h, begin + t}, row);
    }
  }
}

Tensor packed(const TensorView& x, const std::vector<Share>& shares, Stretch Share::* rows) {
  std::int64_t length = 0;
  for (const Share& share : shares) length += (share.*rows).count;
  Tensor tensor(x.dtype(), {1, x.dim(1), length, x.dim(3)});
  std::int64_t begin = 0;
  for (std::size_t n = 0; n < shares.size(); ++n) {
    copy_rows(rows_of(x, shares[n].*rows), static_cast<std::int64_t>(n), begin, tensor);
    begin += (shares[n].*rows).count;
  }
  return tensor;
}

Tensor normal(DType dtype, const Shape& shape, std::uint64_t seed) {
  std::mt19937_64 engine(seed);
  std::normal_distribution<double> draw;
  std::vector<double> values(static_cast<std::size_t>(shape.product()));
  for (double& value : values) value = draw(engine);
  return Tensor(values, shape).to(dtype);
}

bool same_bits(const TensorView& a, const TensorView& b) {
  const std::vector<double> left = a.to_vector();
  const std::vector<double> right = b.to_vector();
  for (std::size_t n = 0; n < left.size(); ++n) {
    const bool both_nan = std::isnan(left[n]) && std::isnan(right[n]);
    if (!both_nan && std::bit_cast<std::uint64_t>(left[n]) != std::bit_cast<std::uint64_t>(right[n])) return false;
  }
  return left.size() == right.size();
}

struct Results {
  AttentionResult forward;
  AttentionGradients backward;
};

Results run(const TensorView& q, const TensorView& k, const TensorView& v, const TensorView& d_out,
            const AttentionOptions& options) {
  Results results{.forward = attention(q, k, v, options), .backward = {}};
  results.backward = attention_backward(d_out, q, k, v, results.forward.out, results.forward.lse, options);
  return results;
}

// A gradient summed over documents: what it should be, and how large its terms are.
struct Sum {
  std::string name;
  std::vector<double> values;
  std::vector<double> sizes;

  void add(const Tensor& gradient) {
    const std::vector<double> terms = gradient.to_vector();
    values.resize(terms.size());
    sizes.resize(terms.size());
    for (std::size_t n = 0; n < terms.size(); ++n) {
      values[n] += terms[n];
      sizes[n] += std::fabs(terms[n]);
    }
  }

  // Each term and the sum are rounded to f32 once.
  [[nodiscard]] bool is_near(const Tensor& got) const {
    const std::vector<double> numbers = got.to_vector();
    for (std::size_t n = 0; n < numbers.size(); ++n) {
      const double error = std::fabs(numbers[n] - values[n]);
      if (std::isfinite(values[n]) && !(error <= 2 * 0x1p-24 * sizes[n] + 0x1p-149)) return false;
    }
    return true;
  }
};

class RaggedCase {
 public:
  RaggedCase(const Case& one, Documents are)
      : one_(one),
        inputs_(Inputs::of(one)),
        shares_(shares_of(one, inputs_.options, are)),
        ragged_(ragged_of(shares_)),
        d_out_(normal(one.dtype, {one.B, one.Hq(), one.Tq, one.Dv}, one.seed + 1)) {}

  [[nodiscard]] std::string fault_on(const std::string& target) const {
    AttentionOptions options = inputs_.options;
    options.target = target;
    options.threads = one_.threads;
    if (one_.seed % 4 == 2) options.plans = std::make_shared<MaskPlans>();
    AttentionOptions whole = options;
    whole.ragged = ragged_;
    for (const Share& share : shares_)
      whole.within.insert(whole.within.end(), share.within.begin(), share.within.end());
    const Results got =
        run(packed(inputs_.q.view(), shares_, &Share::queries), packed(inputs_.k.view(), shares_, &Share::keys),
            packed(inputs_.v.view(), shares_, &Share::keys), packed(d_out_, shares_, &Share::queries), whole);
    std::vector<Sum> sums = empty_sums(got.backward);
    for (std::int64_t n = 0; n < one_.B; ++n) {
      const Results expected = batched(n, options);
      const std::string name = first_difference(n, got, expected);
      if (!name.empty()) return in_words(target, n, name);
      for (std::size_t s = 0; s < sums.size(); ++s) sums[s].add(shared(expected.backward, s));
    }
    for (std::size_t s = 0; s < sums.size() && one_.specials == 0; ++s) {
      if (!sums[s].is_near(shared(got.backward, s))) return target + ": " + sums[s].name + " is not that of the batch";
    }
    return {};
  }

 private:
  static std::vector<Sum> empty_sums(const AttentionGradients& gradients) {
    std::vector<Sum> sums;
    sums.reserve(gradients.d_bias.size() + 1);
    for (std::size_t n = 0; n < gradients.d_bias.size(); ++n) {
      sums.push_back({.name = "d_bias[" + std::to_string(n) + "]", .values = {}, .sizes = {}});
    }
    if (!gradients.d_sinks.empty()) sums.push_back({.name = "d_sinks", .values = {}, .sizes = {}});
    return sums;
  }

  static const Tensor& shared(const AttentionGradients& gradients, std::size_t n) {
    return n < gradients.d_bias.size() ? gradients.d_bias[n] : gradients.d_sinks;
  }

  // All entries in the share of this one; the others' d_out is 0.
  [[nodiscard]] Results batched(std::int64_t b, AttentionOptions options) const {
    const Share& share = shares_[static_cast<std::size_t>(b)];
    options.within = share.within;
    return run(rows_of(inputs_.q.view().view(), share.queries), rows_of(inputs_.k.view().view(), share.keys),
               rows_of(inputs_.v.view().view(), share.keys), d_out_of(b), options);
  }

  // Of a result that a document has to itself.
  [[nodiscard]] std::string first_difference(std::int64_t b, const Results& got, const Results& expected) const {
    const auto n = static_cast<std::size_t>(b);
    const auto differs = [&](const Tensor& packed, const std::vector<std::int64_t>& offsets, const Tensor& own) {
      return !same_bits(packed.view().select(0, 0).slice(1, offsets[n], offsets[n + 1]), own.view().select(0, b));
    };
    const auto& [q, k] = ragged_;
    if (differs(got.forward.out, q, expected.forward.out)) return "out";
    if (differs(got.forward.lse, q, expected.forward.lse)) return "lse";
    if (differs(got.backward.d_k, k, expected.backward.d_k)) return "d_k";
    if (differs(got.backward.d_v, k, expected.backward.d_v)) return "d_v";
    const bool same_d_q = !differs(got.backward.d_q, q, expected.backward.d_q);
    return same_d_q || is_near_d_q(b, got.backward.d_q, expected) ? "" : "d_q";
  }

  // Sums of the same terms in two orders.
  [[nodiscard]] bool is_near_d_q(std::int64_t b, const Tensor& got, const Results& expected) const {
    const Share& share = shares_[static_cast<std::size_t>(b)];
    const std::int64_t queries = share.queries.count;
    const std::int64_t keys = share.keys.count;
    const Tensor d_out = d_out_of(b);
    const TensorView q = rows_of(inputs_.q.view().view(), share.queries);
    const TensorView k = rows_of(inputs_.k.view().view(), share.keys);
    const TensorView v = rows_of(inputs_.v.view().view(), share.keys);
    AttentionOptions options = inputs_.options;
    options.within = share.within;
    const GradientProbe probe(d_out, q, k, v, expected.forward.out, expected.forward.lse, options);
    const std::int64_t begin = ragged_.q_offsets[static_cast<std::size_t>(b)];
    for (std::int64_t h = 0; h < one_.Hq(); ++h) {
      for (std::int64_t i = 0; i < queries; ++i) {
        const std::vector<double> d_raw = probe.row({b, h}, i, Stage::raw).to_vector();
        for (std::int64_t d = 0; d < one_.D; ++d) {
          double size = 0;
          for (std::int64_t j = 0; j < keys; ++j) {
            const double term = d_raw[static_cast<std::size_t>(j)];
            if (term != 0) size += std::fabs(term * k.at({b, h / one_.group, j, d}));
          }
          const double ours = got.at({0, h, begin + i, d});
          const double theirs = expected.backward.d_q.at({b, h, i, d});
          const double bound = 2 * static_cast<double>(keys) * 0x1p-24 * size + 2 * unit() * std::fabs(theirs);
          const bool both_none = !std::isfinite(ours) && !std::isfinite(theirs);
          if (!both_none && std::isfinite(size) && !(std::fabs(ours - theirs) <= bound + kLeast)) return false;
        }
      }
    }
    return true;
  }

  static constexpr double kLeast = 0x1p-24;  // f16's

  [[nodiscard]] double unit() const {
    return one_.dtype == DType::f16 ? 0x1p-11 : one_.dtype == DType::bf16 ? 0x1p-8 : 0x1p-24;
  }

  [[nodiscard]] Tensor d_out_of(std::int64_t b) const {
    const Stretch& queries = shares_[static_cast<std::size_t>(b)].queries;
    Tensor d_out(one_.dtype, {one_.B, one_.Hq(), queries.count, one_.Dv});
    copy_rows(rows_of(d_out_.view(), queries), b, 0, MutableTensorView(d_out).slice(0, b, b + 1));
    return d_out;
  }

  [[nodiscard]] std::string in_words(const std::string& target, std::int64_t n, const std::string& name) const {
    const Share& share = shares_[static_cast<std::size_t>(n)];
    std::ostringstream text;
    text << target << ": " << name << " of document " << n << " of a ragged batch, " << share.queries.count << " x "
         << share.keys.count << (share.within.empty() ? "" : " in a window") << ", is not that of the batch";
    return text.str();
  }

  const Case& one_;
  Inputs inputs_;
  std::vector<Share> shares_;
  Ragged ragged_;
  Tensor d_out_;
};

}  // namespace

std::string ragged_fault(const Case& one) {
  for (const Documents are : {Documents::shorter, Documents::windows}) {
    const RaggedCase ragged(one, are);
    for (const std::string& target : targets(one.dtype)) {
      std::string fault = ragged.fault_on(target);
      if (!fault.empty()) return fault;
    }
  }
  return {};
}

}  // namespace qkv::cases
