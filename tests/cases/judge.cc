#include "cases/judge.h"

#include <algorithm>
#include <cmath>
#include <sstream>

#include "cases/plain.h"
#include "cases/rounding.h"
#include "cases/scores.h"

namespace qkv::cases {
namespace {

constexpr double kFloatMax = 0x1p127;

double most_of(DType dtype) { return dtype == DType::f16 ? 65504 : 0x1.FEp127; }

struct Bound {
  bool any = false;  // f32 cannot hold what lies between q, k and the result: nothing is promised
  bool any_out = false;
  double out = 0;
  double lse = 0;
};

// First order, with u = 2^-24: a score is off by (D + 8) u of its terms' sizes, a softcap by 8 u of itself; a weight,
// relative to the row's sum, by twice that and exp's 4 u and Tk + 8 roundings; it may be rounded to the storage type.
// However wrong the weights are, they add up to 1: an output is never farther off than twice the largest value.
// The matrix unit of bf16 takes numbers below 2^-126 as 0.
Bound bound_of(const Case& one, const RowScores& scores, double largest_qk) {
  const auto D = static_cast<double>(one.D);
  const auto Tk = static_cast<double>(one.Tk);
  const double dropout = 1 / (1 - one.dropout);
  Bound bound;
  bound.any = std::max(scores.size, scores.raw_size) >= kFloatMax;
  bound.any_out = bound.any || scores.value * dropout * (Tk + 64) * 0x1p10 >= kFloatMax;
  const double cap = one.softcap > 0 ? 8 * kUnit * std::min(one.softcap, scores.size) : 0;
  const double score = (D + 8) * kUnit * scores.size + cap + D * 0x1p-125 * largest_qk;
  const double weight = std::expm1(std::min(2 * score, 50.0)) + (Tk + 12) * kUnit +
                        (one.dtype == DType::f32 ? 0 : 2 * unit_of(one.dtype));
  bound.out = std::min(weight, 2.0) * scores.value * dropout + Tk * (0x1p-118 * scores.value + 0x1p-126) * dropout;
  bound.lse = score + (Tk + 12) * kUnit + kUnit * scores.size;
  return bound;
}

bool is_near(double got, double expected, double bound, double unit, double least, double most) {
  if (std::isnan(expected) || std::isnan(got)) return std::isnan(expected) && std::isnan(got);
  const double slack = bound + unit * std::fabs(expected) + least;
  if (std::isinf(got) || std::isinf(expected)) {
    if (got == expected) return true;
    // A finite result may round to infinity, or stay below it, where the type ends.
    const double finite = std::isinf(expected) ? got : expected;
    const double infinite = std::isinf(expected) ? expected : got;
    return std::isfinite(finite) && (finite > 0) == (infinite > 0) && std::fabs(finite) + slack >= most;
  }
  return std::fabs(got - expected) <= slack;
}

std::string words(std::string_view target, std::string_view what, const Row& row, std::int64_t d, double got,
                  double expected, double bound) {
  std::ostringstream text;
  text.precision(9);
  text << target << ": " << what << "[b=" << row.b << ", h=" << row.h << ", i=" << row.i;
  if (d >= 0) text << ", d=" << d;
  text << "] is " << got << ", the reference says " << expected << " give or take " << bound;
  return text.str();
}

// What rounding each part's lse to f32 does to its share of the result.
void allow_for_merging(const RowScores& scores, double dropout, Bound& bound) {
  const double rounding = kUnit * (scores.size + 16);
  const double share = std::expm1(std::min(2 * (bound.lse + rounding), 50.0));
  bound.out += std::min(share, 2.0) * scores.value / (1 - dropout);
  bound.lse += rounding;
}

// Whose results are judged: those of one call, or merged ones.
enum class Of : std::uint8_t { call, merged };

// A judged case: what all targets are held against.
class Judge {
 public:
  explicit Judge(const Case& one)
      : Judge(
            one,
            [&one](std::string_view target, const Inputs& inputs) { return run_on(target, one, inputs, one.threads); },
            Of::call) {}

  Judge(const Case& one, const RunOn& run, Of of)
      : one_(one), of_(of), inputs_(Inputs::of(one)), numbers_(inputs_), reference_(run_reference(inputs_)) {
    out_ = reference_.out.to_vector();
    lse_ = reference_.lse.to_vector();
    for (const std::string& target : targets_of(one)) {
      runs_.push_back(run(target, inputs_));
      outs_.push_back(runs_.back().out.view().view().to_vector());
      lses_.push_back(runs_.back().lse.view().view().to_vector());
    }
  }

  std::string by_row() {
    std::string fault = guards();
    ScoreReader reader(one_, inputs_, numbers_);
    const double largest_qk = largest(numbers_.q) + largest(numbers_.k);
    for_each_row(one_, [&](const Row& row) {
      if (!fault.empty()) return;
      const RowScores& scores = reader.read(row);
      size_ = std::max(size_, scores.size);
      const double scale = std::fabs(inputs_.options.scale.value_or(1));
      Bound bound = bound_of(one_, scores, largest_qk * scale);
      if (of_ == Of::merged) allow_for_merging(scores, one_.dropout, bound);
      for (std::size_t n = 0; n < runs_.size() && fault.empty(); ++n) fault = row_fault(n, row, scores, bound);
    });
    return fault;
  }

  Verdict by_plain() {
    Verdict verdict = {.fault = by_row()};
    if (!verdict.fault.empty()) return verdict;
    const PlainResult plain = run_plain(plain_call(one_, inputs_, numbers_));
    const double times = one_.softcap > 0 ? 3 : 2;
    // Where a result is made of few numbers, the plain loops may be right by luck: rounding one score at its largest,
    // exp, and the result.
    const double luck = (4 + size_) * kUnit;
    const double plain_error = largest_error(plain.out, out_);
    const double out_bound = times * plain_error + (unit_of(one_.dtype) + luck) * largest(out_);
    const double lse_bound = times * largest_error(plain.lse, lse_) + luck + kUnit * largest(lse_);
    for (std::size_t n = 0; n < runs_.size(); ++n) {
      const double out_error = largest_error(outs_[n], out_);
      const double lse_error = largest_error(lses_[n], lse_);
      if (plain_error > 0) {
        verdict.times = n == 0 ? out_error / plain_error : std::max(verdict.times, out_error / plain_error);
      }
      if (out_error <= out_bound && lse_error <= lse_bound) continue;
      std::ostringstream text;
      text << name(n) << ": out is off by " << out_error << " of at most " << out_bound << ", lse by " << lse_error
           << " of at most " << lse_bound;
      verdict.fault = text.str();
    }
    return verdict;
  }

 private:
  [[nodiscard]] std::string name(std::size_t n) const { return targets_of(one_)[n]; }

  std::string guards() const {
    for (std::size_t n = 0; n < runs_.size(); ++n) {
      if (!runs_[n].gaps_untouched()) return name(n) + ": wrote between or around the elements of out or lse";
    }
    return {};
  }

  static double largest(const std::vector<double>& values) {
    double most = 0;
    for (const double value : values) most = std::max(most, std::isfinite(value) ? std::fabs(value) : 0);
    return most;
  }

  static double largest_error(const std::vector<double>& got, const std::vector<double>& expected) {
    double most = 0;
    for (std::size_t n = 0; n < got.size(); ++n) {
      if (got[n] == expected[n]) continue;
      const double error = std::fabs(got[n] - expected[n]);
      most = std::isnan(error) ? kInfinity : std::max(most, error);
    }
    return most;
  }

  std::string row_fault(std::size_t n, const Row& row, const RowScores& scores, const Bound& bound) const {
    if (bound.any) return {};
    const std::size_t first = place_of(row.b, row.h, row.i, one_.Hq(), one_.Tq, 1);
    if (!is_near(lses_[n][first], lse_[first], bound.lse, 2 * kUnit, 0x1p-149, kFloatMax)) {
      return words(name(n), "lse", row, -1, lses_[n][first], lse_[first], bound.lse);
    }
    if (bound.any_out) return {};
    for (std::int64_t d = 0; d < one_.Dv; ++d) {
      const std::size_t at = first * static_cast<std::size_t>(one_.Dv) + static_cast<std::size_t>(d);
      const double got = outs_[n][at];
      const double least = least_of(one_.dtype) * (1 + static_cast<double>(one_.Tk));
      if (is_near(got, out_[at], bound.out, unit_of(one_.dtype), least, most_of(one_.dtype))) continue;
      if (std::isnan(got) && std::isinf(out_[at]) && has_faint_infinity(row, scores, d)) continue;
      return words(name(n), "out", row, d, got, out_[at], bound.out);
    }
    return {};
  }

  // An infinite value whose weight is above 0 in f64 and 0 in f32: inf or 0 * inf.
  bool has_faint_infinity(const Row& row, const RowScores& scores, std::int64_t d) const {
    for (std::int64_t j = 0; j < one_.Tk; ++j) {
      const std::size_t place = place_of(row.b, row.h / one_.group, j, one_.Hk, one_.Tk, one_.Dv);
      const bool infinite = std::isinf(numbers_.v[place + static_cast<std::size_t>(d)]);
      if (infinite && scores.dropped[static_cast<std::size_t>(j)] < 0x1p-100) return true;
    }
    return false;
  }

  const Case& one_;
  Of of_;
  Inputs inputs_;
  Numbers numbers_;
  AttentionResult reference_;
  std::vector<double> out_;
  std::vector<double> lse_;
  std::vector<Written> runs_;
  std::vector<std::vector<double>> outs_;
  std::vector<std::vector<double>> lses_;
  double size_ = 0;  // of the terms of the largest score
};

}  // namespace

std::string fault_by_row(const Case& one) { return Judge(one).by_row(); }

std::string merged_fault_by_row(const Case& one, const RunOn& run) { return Judge(one, run, Of::merged).by_row(); }

Verdict judge_by_plain(const Case& one) { return Judge(one).by_plain(); }

}  // namespace qkv::cases
