#include "cases/random_case.h"

#include <array>
#include <vector>

namespace qkv::cases {
namespace {

class Bytes {
 public:
  explicit Bytes(std::span<const std::uint8_t> bytes) : bytes_(bytes) {}

  std::int64_t next() {
    if (place_ == bytes_.size()) return 0;
    return bytes_[place_++];
  }
  std::int64_t below(std::int64_t n) { return next() % n; }
  bool one_in(std::int64_t n) { return next() % n == n - 1; }

 private:
  std::span<const std::uint8_t> bytes_;
  std::size_t place_ = 0;
};

// Mostly near the edges of vectors and tiles.
std::int64_t length_from(Bytes& bytes) {
  constexpr std::array<std::int64_t, 12> kEdges = {1, 2, 4, 8, 16, 32, 48, 64, 80, 128, 192, 256};
  if (bytes.one_in(3)) return bytes.below(200);
  const std::int64_t edge = kEdges[static_cast<std::size_t>(bytes.below(12))];
  return edge + bytes.below(3) - 1;
}

std::int64_t width_from(Bytes& bytes) {
  constexpr std::array<std::int64_t, 12> kWidths = {1, 2, 3, 8, 15, 16, 17, 32, 64, 80, 128, 320};
  if (bytes.one_in(3)) return 1 + bytes.below(140);
  return kWidths[static_cast<std::size_t>(bytes.below(12))];
}

// Widths and queries that the kernels of i8 take: others fall back to f32.
void cut_for_i8(Bytes& bytes, Case& one) {
  one.Tq = 1 + bytes.below(3);
  one.D = 64 * (1 + bytes.below(4));
  one.Dv = 64 * (1 + bytes.below(3));
}

Layout layout_from(Bytes& bytes) { return static_cast<Layout>(bytes.below(kLayouts)); }

// What the reference's pairs and the tests' elements cost, in the time of one product.
std::int64_t work_of(const Case& one) {
  const std::int64_t pairs = one.B * one.Hq() * one.Tq * one.Tk * (one.D + one.Dv + 60);
  const std::int64_t elements = one.B * (one.Hq() * one.Tq + one.Hk * one.Tk) * (one.D + one.Dv);
  return pairs + 40 * elements;
}

// Edges meet in small calls as in large ones, and a million calls shall end: one in sixteen is large.
void keep_small(Case& one, bool large) {
  while (work_of(one) > (large ? 6'000'000 : 600'000)) {
    if (one.B > 1) {
      --one.B;
    } else if (one.Hk > 1) {
      --one.Hk;
    } else if (one.group > 1) {
      --one.group;
    } else if (one.D > 64) {
      one.D = 64;
    } else if (one.Dv > 64) {
      one.Dv = 64;
    } else {
      (one.Tq > one.Tk ? one.Tq : one.Tk) /= 2;
    }
  }
}

using Change = std::function<void(Case&)>;

// From the boldest to the smallest.
std::vector<Change> simpler(const Case& one) {
  std::vector<Change> changes;
  const auto set = [&](auto member, auto value) {
    if (one.*member != value) changes.push_back([member, value](Case& other) { other.*member = value; });
  };
  const Case plain;
  set(&Case::mask, plain.mask);
  set(&Case::bias, plain.bias);
  set(&Case::sinks, plain.sinks);
  set(&Case::softcap, plain.softcap);
  set(&Case::dropout, plain.dropout);
  set(&Case::scale, plain.scale);
  set(&Case::values, plain.values);
  set(&Case::poison, plain.poison);
  set(&Case::cache, plain.cache);
  set(&Case::threads, plain.threads);
  for (const auto layout : {&Case::q, &Case::k, &Case::v, &Case::out}) set(layout, Layout::dense);
  const auto reduce = [&](auto member, std::int64_t least) {
    const std::int64_t now = one.*member;
    for (const std::int64_t less : {least, now / 2, now - 1}) {
      if (less >= least && less < now) set(member, less);
    }
  };
  reduce(&Case::specials, 0);
  for (const auto extent : {&Case::B, &Case::Hk, &Case::group, &Case::Tq, &Case::Tk, &Case::D, &Case::Dv}) {
    reduce(extent, 1);
  }
  set(&Case::dtype, plain.dtype);
  set(&Case::seed, plain.seed);
  return changes;
}

}  // namespace

Case case_from(std::span<const std::uint8_t> source) {
  Bytes bytes(source);
  Case one;
  one.dtype = std::array{DType::f32, DType::bf16, DType::f16}[static_cast<std::size_t>(bytes.below(3))];
  one.B = 1 + bytes.below(3);
  one.Hk = 1 + bytes.below(3);
  one.group = 1 + bytes.below(8);
  one.Tq = length_from(bytes);
  one.Tk = length_from(bytes);
  if (bytes.one_in(6)) {
    one.Tq = 1 + bytes.below(bytes.one_in(2) ? 4 : 20);
    one.Tk = 1000 + 8 * bytes.next() + bytes.below(20);
  }
  one.D = width_from(bytes);
  one.Dv = bytes.one_in(2) ? width_from(bytes) - (bytes.one_in(20) ? 1 : 0) : one.D;
  one.mask = masks()[static_cast<std::size_t>(bytes.below(static_cast<std::int64_t>(masks().size())))].name;
  const auto bias = static_cast<std::size_t>(bytes.below(static_cast<std::int64_t>(2 * biases().size())));
  if (bias < biases().size()) one.bias = biases()[bias].name;
  one.scale = static_cast<Scale>(bytes.below(kScales));
  if (bytes.one_in(3)) one.softcap = static_cast<double>(1 + bytes.below(50)) / 2;
  if (bytes.one_in(3)) one.dropout = static_cast<double>(1 + bytes.below(98)) / 100;
  one.sinks = static_cast<Sinks>(bytes.below(kSinks));
  one.q = layout_from(bytes);
  one.k = layout_from(bytes);
  one.v = layout_from(bytes);
  one.out = static_cast<Layout>(bytes.below(3));
  if (bytes.one_in(2)) one.values = static_cast<Values>(bytes.below(kValues));
  if (bytes.one_in(3)) one.specials = 1 + bytes.below(12);
  one.poison = bytes.one_in(2);
  one.threads = 1 + static_cast<int>(bytes.below(3));
  if (bytes.one_in(4)) one.cache = static_cast<Cache>(1 + bytes.below(kCaches - 1));
  if (one.cache == Cache::i8 && bytes.one_in(2)) cut_for_i8(bytes, one);
  for (int n = 0; n < 4; ++n) one.seed = one.seed * 256 + static_cast<std::uint64_t>(bytes.next());
  keep_small(one, bytes.one_in(16));
  return one;
}

Case shrunk(Case failing, const std::function<std::string(const Case&)>& fault) {
  bool smaller = true;
  while (smaller) {
    smaller = false;
    for (const Change& change : simpler(failing)) {
      Case other = failing;
      change(other);
      if (fault(other).empty()) continue;
      failing = other;
      smaller = true;
      break;
    }
  }
  return failing;
}

}  // namespace qkv::cases
