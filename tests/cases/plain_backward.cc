#include <algorithm>
#include <cmath>

#include "cases/gradients.h"
#include "cases/plain.h"
#include "cases/rounding.h"
#include "kernels/lse_rounding.h"
#include "mask/bias_node.h"

namespace qkv::cases {
namespace {

using Floats = std::vector<float>;

Floats floats_of(const Placed& x) {
  const std::vector<double> wide = x.view().view().to_vector();
  return {wide.begin(), wide.end()};
}

// The largest of sums of roundings, each of which is evenly spread within its bound: a third of the bounds' squares is
// the square of a sum's deviation, and the largest of n sums is about sqrt(2 ln n) deviations.
double largest_sum(const std::vector<double>& squares) {
  if (squares.empty()) return 0;
  const double deviations = std::sqrt(2 * std::log(static_cast<double>(squares.size())) / 3);
  return std::max(1.0, deviations) * std::sqrt(*std::ranges::max_element(squares));
}

// The sums that make a gradient, and the squares of what rounding one pair may do to each.
struct Sums {
  explicit Sums(std::size_t size) : values(size), squares(size) {}

  void add(std::size_t first, float factor, double error, std::span<const float> row) {
    for (std::size_t d = 0; d < row.size(); ++d) {
      values[first + d] += factor * row[d];
      const double part = error * static_cast<double>(row[d]);
      squares[first + d] += part * part;
    }
  }

  [[nodiscard]] double luck() const { return largest_sum(squares); }

  Floats values;
  std::vector<double> squares;
};

// The same of a term of a bias, whose sums weigh pairs as only it knows. What a row's pairs have in common adds up
// within the row; the rest is each pair's own.
struct TermSums {
  const bias_detail::TermNode* term;
  std::vector<double> values;
  std::vector<double> row;  // of errors in common
  std::vector<double> squares;

  TermSums(const bias_detail::TermNode* node, const MaskShape& shape)
      : term(node),
        values(static_cast<std::size_t>(node->gradient_shape(shape).product())),
        row(values),
        squares(row) {}

  [[nodiscard]] double luck() const { return largest_sum(squares); }
};

// What a pair's row brings to its rounding.
struct RowSizes {
  double unit;    // of a weight: exp of a score at its largest, and of lse
  double values;  // of what d_weight - delta is summed from, keys left out
  double common;  // by how much more the errors of its pairs add up than if they were independent
};

class PlainBackward {
 public:
  PlainBackward(const Case& one, const Inputs& inputs, const Upstream& upstream)
      : one_(one),
        options_(inputs.options),
        numbers_(inputs),
        row_(plain_call(one, inputs, numbers_)),
        sizes_(one, inputs, numbers_),
        q_(numbers_.q.begin(), numbers_.q.end()),
        k_(numbers_.k.begin(), numbers_.k.end()),
        v_(numbers_.v.begin(), numbers_.v.end()),
        out_(floats_of(upstream.out)),
        lse_(floats_of(upstream.lse)),
        d_out_(floats_of(upstream.d_out)),
        d_lse_(floats_of(upstream.d_lse)),
        d_q_(q_.size()),
        d_k_(k_.size()),
        d_v_(v_.size()),
        d_sinks_(options_.sinks.size()),
        d_scores_(static_cast<std::size_t>(one.Tk)),
        errors_(d_scores_),
        shared_(d_scores_) {
    if (!upstream.has_d_lse) std::ranges::fill(d_lse_, 0.0F);
    for (const bias_detail::TermNode* term : bias_detail::term_nodes(options_.bias)) {
      d_bias_.emplace_back(term, one.shape());
    }
  }

  PlainGradients run() {
    for_each_row(one_, [&](const Row& row) { run(row); });
    PlainGradients result = summed();
    for (std::size_t n = 0; n < result.luck.size(); ++n) {
      double largest = 0;
      for (const double value : result.gradients[n].values) largest = std::max(largest, std::fabs(value));
      result.luck[n] += common_ * largest;
    }
    return result;
  }

 private:
  PlainGradients summed() const {
    PlainGradients result;
    const auto add = [&](const Sums& sums, float scale, DType dtype) {
      Gradient gradient = {.name = {}, .dtype = dtype, .values = {}};
      for (const float sum : sums.values) gradient.values.push_back(rounded(sum * scale, dtype));
      result.gradients.push_back(std::move(gradient));
      result.luck.push_back(sums.luck() * std::fabs(scale));
    };
    add(d_q_, row_.scale(), one_.dtype);
    add(d_k_, row_.scale(), one_.dtype);
    add(d_v_, 1, one_.dtype);
    for (const TermSums& sums : d_bias_) {
      result.gradients.push_back({.name = {}, .dtype = DType::f32, .values = sums.values});
      result.luck.push_back(sums.luck());
    }
    if (!options_.sinks.empty()) add(d_sinks_, 1, DType::f32);
    return result;
  }

  void run(const Row& row) {
    row_.score(row);
    static_cast<void>(row_.weigh(row));
    const std::size_t place = place_of(row.b, row.h, row.i, one_.Hq(), one_.Tq, 1);
    const std::span<const float> d_out = row_of(d_out_, place, one_.Dv);
    const std::span<const float> out = row_of(out_, place, one_.Dv);
    float delta = -d_lse_[place];
    const double size = sizes_.read(row).size;
    const auto given = static_cast<double>(lse_[place]);
    by_lse_ = kernels::is_fine_enough({.given = given, .terms = size});
    // score - lse is rounded: below -104 no weight is left of it, and what a large score brings is in `size`.
    const double lse = std::isfinite(given) ? std::min(std::fabs(given), 104.0) : 0;
    RowSizes sizes = {.unit = (4 + size + lse) * kUnit, .values = std::fabs(d_lse_[place]), .common = common_share()};
    // exp's own error, and that of log2(e) in f32, are much the same for all pairs.
    common_ = std::max(common_, (4 + lse / 4) * kUnit);
    for (std::size_t d = 0; d < out.size(); ++d) {
      delta += d_out[d] * out[d];
      sizes.values += std::fabs(d_out[d] * out[d]);
    }
    for (std::int64_t j = 0; j < one_.Tk; ++j) run_pair(row, j, d_out, delta, sizes);
    for (TermSums& sums : d_bias_) add_to(sums, row);
    if (options_.sinks.empty()) return;
    const auto h = static_cast<std::size_t>(row.h);
    const float weight = by_lse_ ? std::exp(static_cast<float>(options_.sinks[h]) - lse_[place]) : row_.sink_weight();
    constexpr float kOne = 1;
    d_sinks_.add(h, -weight * delta, sizes.unit * sizes.values * static_cast<double>(weight), {&kOne, 1});
  }

  // Of equal values, every pair's d_weight is rounded alike: n errors add up to n of them, where independent ones come
  // to the root of n.
  [[nodiscard]] bool has_equal_values() const { return one_.values == Values::equal || one_.v == Layout::one_row; }

  [[nodiscard]] double common_share() const {
    if (!has_equal_values()) return 1;
    const auto seen = std::ranges::count_if(row_.scores(), [](float x) { return x != -INFINITY; });
    return std::sqrt(static_cast<double>(seen));
  }

  void run_pair(const Row& row, std::int64_t j, std::span<const float> d_out, float delta, RowSizes sizes) {
    const auto n = static_cast<std::size_t>(j);
    d_scores_[n] = errors_[n] = shared_[n] = 0;
    if (row_.scores()[n] == -INFINITY) return;
    const std::size_t query = place_of(row.b, row.h, row.i, one_.Hq(), one_.Tq, 1);
    const std::size_t key = place_of(row.b, row.h / one_.group, j, one_.Hk, one_.Tk, 1);
    const std::span<const float> value = row_of(v_, key, one_.Dv);
    const float kept = row_.kept()[n];
    const double delta_error = 4 * kUnit * sizes.values;
    float d_weight = 0;
    for (std::size_t d = 0; d < value.size(); ++d) {
      d_weight += d_out[d] * value[d];
      sizes.values += std::fabs(d_out[d] * value[d] * kept);
    }
    const float weight = by_lse_ ? std::exp(row_.scores()[n] - lse_[query]) : row_.weights()[n];
    const float d_score = weight * (d_weight * kept - delta);
    // exp has no numbers below the smallest normal one.
    const double error = sizes.unit * static_cast<double>(weight) + 0x1p-126;
    d_scores_[n] = static_cast<double>(d_score);
    // Steps of d_weight, delta and their product below the smallest normal number.
    const double steps = 0x1p-150 * (1 + 2 * static_cast<double>(weight) * static_cast<double>(one_.Dv + 1));
    errors_[n] = error * sizes.values + steps;
    shared_[n] = static_cast<double>(weight) * delta_error;
    const float d_raw = rounded(d_score * row_.slopes()[n], one_.dtype);
    const auto width = static_cast<std::size_t>(one_.D);
    d_q_.add(query * width, d_raw, errors_[n] * sizes.common, row_of(k_, key, one_.D));
    d_k_.add(key * width, d_raw, errors_[n], row_of(q_, query, one_.D));
    d_v_.add(key * static_cast<std::size_t>(one_.Dv), rounded(weight * kept, one_.dtype),
             error * static_cast<double>(kept), d_out);
  }

  void add_to(TermSums& sums, const Row& row) {
    each_cell(*sums.term, row, d_scores_, bias_detail::kBlock,
              [&](std::size_t at, double cell) { sums.values[at] += cell; });
    std::ranges::fill(sums.row, 0);
    each_cell(*sums.term, row, has_equal_values() ? errors_ : shared_, bias_detail::kBlock,
              [&](std::size_t at, double cell) { sums.row[at] += cell; });
    std::ranges::transform(sums.squares, sums.row, sums.squares.begin(),
                           [](double sum, double error) { return sum + error * error; });
    if (has_equal_values()) return;
    each_cell(*sums.term, row, errors_, 1, [&](std::size_t at, double cell) { sums.squares[at] += cell * cell; });
  }

  // Calls body(element, gradient) for what each run of `keys` pairs of a row adds to the elements of a term.
  template <class Body>
  void each_cell(const bias_detail::TermNode& term, const Row& row, const std::vector<double>& d_scores,
                 std::int64_t keys, const Body& body) {
    for (std::int64_t j = 0; j < one_.Tk; j += keys) {
      const Tile tile = {.b = row.b,
                         .h = row.h,
                         .i_begin = row.i,
                         .i_end = row.i + 1,
                         .j_begin = j,
                         .j_end = std::min(j + keys, one_.Tk)};
      const bias_detail::GradientWindow window = term.gradient_window(tile, one_.shape());
      cells_.assign(static_cast<std::size_t>(window.cells()), 0);
      term.add_gradient(tile, d_scores.data() + j, 0, cells_.data(), one_.shape());
      for (std::int64_t cell = 0; cell < window.cells(); ++cell) {
        const std::int64_t at = window.offset + cell / window.columns * window.row_stride + cell % window.columns;
        body(static_cast<std::size_t>(at), cells_[static_cast<std::size_t>(cell)]);
      }
    }
  }

  static std::span<const float> row_of(const Floats& rows, std::size_t n, std::int64_t width) {
    return std::span(rows).subspan(n * static_cast<std::size_t>(width), static_cast<std::size_t>(width));
  }

  const Case& one_;
  const AttentionOptions& options_;
  Numbers numbers_;
  PlainRow row_;
  ScoreReader sizes_;
  Floats q_;
  Floats k_;
  Floats v_;
  Floats out_;
  Floats lse_;
  Floats d_out_;
  Floats d_lse_;
  Sums d_q_;
  Sums d_k_;
  Sums d_v_;
  Sums d_sinks_;
  std::vector<TermSums> d_bias_;
  std::vector<double> d_scores_;  // of a row
  std::vector<double> errors_;    // what rounding may do to each
  std::vector<double> shared_;    // and to all of the row alike, since delta is rounded once
  std::vector<double> cells_;
  double common_ = 0;
  bool by_lse_ = true;  // the row's weights
};

}  // namespace

PlainGradients run_plain_backward(const Case& one, const Inputs& inputs, const Upstream& upstream) {
  return PlainBackward(one, inputs, upstream).run();
}

}  // namespace qkv::cases
