// Why the mask comes before the softmax, why it is −∞, and what it must broadcast over.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "explain/formula.h"
#include "explain/numbers.h"
#include "explain/sections.h"

namespace qkv::explain_detail {
namespace {

using namespace math;

constexpr std::int64_t kMaskRows = 16;
constexpr double kRounding = 1e-9;  // sums nearer to 1 than this differ by rounding alone

struct Masked {
  Tensor before;  // softmax of the masked scores: right
  Tensor after;   // softmax of all scores, hidden weights then set to zero
};

Masked both_ways(const Run& run, const Mask& mask) {
  AttentionOptions options = run.attention;
  options.mask = mask;
  Masked both{run.stage(Stage::weights), {}};
  both.before = attention_stage(run.q, run.k, options, Stage::weights);
  options.mask = Mask();
  both.after = attention_stage(run.q, run.k, options, Stage::weights);
  const MaskShape shape = run.shape();
  std::size_t next = 0;
  for (std::int64_t h = 0; h < shape.H; ++h) {
    for (std::int64_t i = 0; i < shape.Tq; ++i) {
      for (std::int64_t j = 0; j < shape.Tk; ++j, ++next) {
        if (!mask.allows({0, h, i, j}, shape)) both.after.values<double>()[next] = 0;
      }
    }
  }
  return both;
}

double mass_of_query(const Tensor& weights, std::int64_t query) {
  const std::vector<double> row = weights.view().select(0, 0).select(0, 0).select(0, query).to_vector();
  return std::accumulate(row.begin(), row.end(), 0.0);
}

double renormalised_difference(const Masked& both) {
  const auto width = static_cast<std::size_t>(both.after.dim(3));
  const std::vector<double> after = both.after.to_vector();
  const std::vector<double> before = both.before.to_vector();
  double largest = 0;
  for (std::size_t at = 0; at < after.size(); at += width) {
    const double sum = std::accumulate(after.begin() + static_cast<std::ptrdiff_t>(at),
                                       after.begin() + static_cast<std::ptrdiff_t>(at + width), 0.0);
    if (sum == 0) continue;
    for (std::size_t j = at; j < at + width; ++j) largest = std::max(largest, std::abs(after[j] / sum - before[j]));
  }
  return largest;
}

// In f32, a hidden score that leads by 120 leaves nothing to renormalise.
Table lost_row_table() {
  constexpr float kLead = 120.0F;
  const float visible = std::exp(0.0F - kLead);
  const float hidden = std::exp(kLead - kLead);  // NOLINT(misc-redundant-expression)
  const float share = visible / (visible + hidden);
  const float renormalised = share / share;  // NOLINT(misc-redundant-expression)
  return {fmt::format("Two keys in f32: the visible one scores 0, the hidden one {:.0f}", static_cast<double>(kLead)),
          {"order", "weight of the visible key"},
          {{word("softmax, then mask"), rounded(static_cast<double>(share), 3)},
           {word("… then divide by the sum"), rounded(static_cast<double>(renormalised), 3)},
           {word("mask, then softmax"), rounded(softmax_of(std::vector<double>{0.0}).front(), 3)}}};
}

// What the finding says where both orders give the same rows.
std::string nothing_lost(const Run& run) {
  return run.tk() == 1 ? "one token cannot show it: a row of one key loses nothing to a mask; try a longer text"
                       : "this mask hides no weight of head 0 that softmax gave, so both orders agree here";
}

Section after_softmax_why(const Scene& scene) {
  const Run& run = *scene.run;
  const bool is_own = !run.attention.mask.is_all();
  const Mask mask = is_own ? run.attention.mask : causal();
  const Masked both = both_ways(run, mask);
  Section why;
  why.id = "mask-after-softmax";
  why.title = "Why mask before the softmax?";
  why.text = fmt::format(
      "The same scores, masked with `{}` in both orders. Set to zero after the softmax, hidden weights leave a hole: "
      "the "
      "row no longer sums to 1, and what is left still depends on scores that should not be known.",
      mask.to_string());
  Table table{"Head 0: sum of each row's weights", {"query", "masked after", "masked before"}, {}};
  double smallest = 1.0;
  for (std::int64_t i = 0; i < run.tq(); ++i) {
    const double after = mass_of_query(both.after, i);
    smallest = std::min(smallest, after);
    if (i >= kMaskRows) continue;
    table.rows.push_back({word(run.queries.tokens[static_cast<std::size_t>(i)]), rounded(after),
                          rounded(mass_of_query(both.before, i))});
  }
  if (run.tq() > kMaskRows) table.title += fmt::format(" (the first {})", kMaskRows);
  const double difference = renormalised_difference(both);
  why.tables = {std::move(table), lost_row_table()};
  why.notes.push_back(
      fmt::format("Dividing each row by its sum would mend these rows (largest difference {}), but not one whose "
                  "visible weights were "
                  "rounded away: that is 0 / 0.",
                  said(difference)));
  why.finding = smallest < 1.0 - kRounding
                    ? fmt::format("masked after the softmax, a row of head 0 sums to only {}", said(smallest, 3))
                    : nothing_lost(run);
  if (!is_own) why.notes.emplace_back("No mask was given, so the causal one is taken as the example.");
  return why;
}

double f32_weight(float own, float other) { return static_cast<double>(std::exp(own - std::max(own, other))); }

Section large_number_why(const Scene& scene) {
  const Run& run = *scene.run;
  AttentionOptions hidden = run.attention;
  hidden.mask = none();
  const std::vector<double> scores = run.stage(Stage::biased).view().select(0, 0).select(0, 0).select(0, 0).to_vector();
  std::vector<double> lowered;
  for (const double score : scores) lowered.push_back(static_cast<double>(static_cast<float>(score) - 1e9F));
  const Spread wrong = spread_of(softmax_of(lowered));
  const double right = attention_stage(run.q, run.k, hidden, Stage::weights).at({0, 0, 0, 0});
  const double half = static_cast<double>(static_cast<float>(Half(-1e9F)));
  const double half_difference = half - half;  // NOLINT(misc-redundant-expression)
  Section why;
  why.id = "minus-1e9";
  why.title = "Why −∞ and not −1e9?";
  why.text =
      "A large negative number looks like −∞ as long as the row has a visible key. In a row that sees nothing, all "
      "scores "
      "are lowered alike and softmax, which only sees differences, spreads the weight over keys that must not be seen. "
      "In f16 the number does not even exist.";
  why.tables.push_back({fmt::format("Every one of {} keys hidden", scores.size()),
                        {"hidden by", "largest weight of the row"},
                        {{word("score − 1e9, in f32"), rounded(wrong.largest)}, {word("−∞ (qkv)"), rounded(right)}}});
  why.tables.push_back({"What the numbers become",
                        {"expression", "value"},
                        {{word(fmt::format("{} − 1e9 in f32", said(scores.front()))), rounded(lowered.front(), 1)},
                         {word("−1e9 in f16"), rounded(half)},
                         {word("(−1e9) − max of the row, in f16"), rounded(half_difference)},
                         {word("exp(−1e9 − 0) in f32"), rounded(f32_weight(-1e9F, 0.0F))}}});
  why.notes.emplace_back(
      "In f32 a score near zero is lost when 1e9 is taken from it: neighbouring f32 numbers are 64 apart there, so the "
      "rows become exactly even.");
  why.finding = fmt::format("a row that sees nothing gets weights of {} each with −1e9, {} with −∞; in f16 −1e9 is {}",
                            said(wrong.largest, 3), said(right, 0), said(half));
  return why;
}

std::string refusal(const Mask& mask, const MaskShape& shape) {
  try {
    mask.validate(shape);
  } catch (const InvalidArgument& error) {
    return error.what();
  }
  return "accepted";
}

Section broadcast_why() {
  constexpr std::int64_t T = 3;
  const Tensor keep(std::vector<std::uint8_t>{1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 0, 0, 1, 0, 0, 1, 0, 0}, {2, T, T});
  const Mask by_head = dense(keep);
  const Mask by_batch = dense(keep.view().reshape({2, 1, T, T}));
  const MaskShape two_heads{2, 2, T, T};
  std::int64_t wrong = 0;
  for (std::int64_t b = 0; b < 2; ++b) {
    for (std::int64_t h = 0; h < 2; ++h) {
      for (std::int64_t i = 0; i < T; ++i) {
        for (std::int64_t j = 0; j < T; ++j) {
          const Place place{b, h, i, j};
          if (by_head.allows(place, two_heads) != by_batch.allows(place, two_heads)) ++wrong;
        }
      }
    }
  }
  Section why;
  why.id = "mask-shape";
  why.title = "Why give a batch's mask the shape [B, 1, Tq, Tk]?";
  why.text =
      "Shapes are matched from the right. A mask [B, Tq, Tk] therefore lines its batch up with the heads. With another "
      "number of heads that is an error; with the same number it is silently wrong.";
  why.tables.push_back({"A mask for two batch entries, the second of length 1",
                        {"given as", "heads", "outcome"},
                        {{word("[2, 1, 3, 3]"), whole(2), word("each batch entry has its own mask")},
                         {word("[2, 3, 3]"), whole(2), word(fmt::format("{} of 36 pairs wrong, silently", wrong))},
                         {word("[2, 3, 3]"), whole(4), word(refusal(by_head, {2, 4, T, T}))}}});
  why.finding =
      fmt::format("a mask [B, Tq, Tk] on as many heads as batch entries hides or shows {} of 36 pairs wrongly", wrong);
  return why;
}

}  // namespace

std::vector<Section> whys_about_masking(const Scene& scene) {
  return {after_softmax_why(scene), large_number_why(scene), broadcast_why()};
}

}  // namespace qkv::explain_detail
