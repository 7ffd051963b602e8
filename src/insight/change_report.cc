// What interventions do, as tables and pictures.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/counted.h"
#include "core/listed.h"
#include "insight/report_text.h"
#include "qkv/insight/change.h"

namespace qkv {
namespace {

using insight::left_in;

constexpr std::size_t kMostPlaces = 24;  // of a table; of a longer text those that change most
constexpr int kTokenColumn = 16;

std::string listed_interventions(const ChangeQuestion& question) {
  const std::string all = core::joined(question.interventions, [](const auto& each) { return to_string(each); });
  return all.empty() ? "nothing changed" : all;
}

std::string heading_of(const ChangeQuestion& question, const std::string& model) {
  std::string text = fmt::format("{}: {}\n", model, listed_interventions(question));
  if (question.from_text) text += fmt::format("from the text “{}”\n", *question.from_text);
  if (question.from_example) text += fmt::format("from example {}\n", *question.from_example);
  return text;
}

std::string pair_text(const PairChange& pair, std::string_view what) {
  return fmt::format("\n{}: {:.4f} → {:.4f}\n", what, pair.before, pair.after);
}

std::string score_row(const TokenChange& token, std::string_view note) {
  return fmt::format("{} {:>7.4f} → {:<7.4f} {:>8.3f} → {:<8.3f} {:>6} → {:<6} {}\n",
                     left_in(token.shown, kTokenColumn), token.before.probability, token.after.probability,
                     token.before.logit, token.after.logit, token.before.rank, token.after.rank, note);
}

std::string score_header() {
  return fmt::format("{} {:^17} {:^19} {:^15}\n", left_in("token", kTokenColumn), "probability", "logit", "rank");
}

std::string moved_logits(const std::vector<TokenChange>& tokens, std::string_view word) {
  std::string text = fmt::format("logits {} most:", word);
  for (const TokenChange& token : tokens) {
    text += fmt::format(" {} {:+.2f}", token.shown, token.after.logit - token.before.logit);
  }
  return text + "\n";
}

std::string places_table(const std::vector<std::string>& tokens, const std::vector<double>& values,
                         std::string_view name, double unchanged) {
  std::vector<std::size_t> order(values.size());
  std::iota(order.begin(), order.end(), 0);
  std::string text;
  if (order.size() > kMostPlaces) {
    const auto far = [&](std::size_t n) { return std::abs(values[n] - unchanged); };
    std::ranges::sort(order, [&](std::size_t a, std::size_t b) { return far(a) != far(b) ? far(a) > far(b) : a < b; });
    order.resize(kMostPlaces);
    std::ranges::sort(order);
    text = fmt::format("\nThe {} of {} places that change most\n", kMostPlaces, values.size());
  }
  text += fmt::format("\nplace  {} {}\n", left_in("token", kTokenColumn), name);
  for (const std::size_t n : order) {
    text += fmt::format("{:>5}  {} {:.4f}\n", n, left_in(tokens[n], kTokenColumn), values[n]);
  }
  return text;
}

std::string answer_table(const TextChange& change) {
  std::string text = fmt::format("\nWhat is said at {} “{}”\n\n{}", change.place,
                                 change.tokens[static_cast<std::size_t>(change.place)], score_header());
  text += score_row(*change.answer, change.is_expected ? "expected" : "");
  if (change.against) {
    text += score_row(*change.against, "against");
    const auto less = [&](TokenScore TokenChange::* when) {
      return ((*change.answer).*when).logit - ((*change.against).*when).logit;
    };
    text += fmt::format("{} {:17} {:>8.3f} → {:<8.3f}\n", left_in("difference", kTokenColumn), "",
                        less(&TokenChange::before), less(&TokenChange::after));
  }
  text += "\nProbabilities that change most\n\n" + score_header();
  for (const TokenChange& token : change.moved) text += score_row(token, "");
  text += "\n" + moved_logits(change.risen, "risen") + moved_logits(change.fallen, "fallen");
  return text + places_table(change.tokens, change.divergence, "KL(before, after), nats", 0);
}

}  // namespace

std::string change_table(const TextChange& change, const ChangeQuestion& question, const std::string& model) {
  const std::string text = heading_of(question, model);
  if (change.pair) return text + pair_text(*change.pair, "The cosine of picture and text");
  if (change.answer) return insight::without_trailing_spaces(text + answer_table(change));
  return insight::without_trailing_spaces(
      text + fmt::format("\nThe text's vector: cosine {:.4f} of before and after\n", *change.vector_cosine) +
      places_table(change.tokens, change.state_cosines, "cosine of the last state", 1));
}

std::string change_table(const LossChange& change, const ChangeQuestion& question, const std::string& model) {
  std::string text = heading_of(question, model);
  if (change.pair) return text + pair_text(*change.pair, core::counted(change.texts, "pair") + "; mean cosine");
  if (change.vector_cosine) {
    return text + fmt::format("\n{}; cosine of before and after, mean:\nvectors {:.4f}, last states {:.4f}\n",
                              core::counted(change.texts, "text"), *change.vector_cosine, *change.state_cosine);
  }
  text += fmt::format("\n{}, {} asked for, {} of them scored\n\n", core::counted(change.texts, "text"),
                      core::counted(change.asked, "token"), change.scored);
  text += fmt::format("{:<12} {:>9} {:>9} {:>9}\n", "", "before", "after", "change");
  text += fmt::format("{:<12} {:>9.4f} {:>9.4f} {:>+9.4f}  nats a token\n", "mean loss", change.loss_before,
                      change.loss_after, change.loss_after - change.loss_before);
  text += fmt::format("{:<12} {:>8.2f}% {:>8.2f}% {:>+8.2f}%\n", "accuracy", 100 * change.accuracy_before,
                      100 * change.accuracy_after, 100 * (change.accuracy_after - change.accuracy_before));
  return text + fmt::format("{} of {} with a larger loss\n", change.worse, core::counted(change.texts, "text"));
}

std::string sweep_table(const Sweep& sweep) {
  constexpr std::size_t kShown = 5;
  std::string text;
  for (const SweepMap& map : sweep.maps) {
    const std::vector<double> changes = map.changes.to_vector();
    std::vector<std::size_t> order(changes.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    const auto end = order.begin() + static_cast<std::ptrdiff_t>(std::min(kShown, order.size()));
    const auto size_at = [&](std::size_t n) { return std::abs(changes[n]); };
    std::ranges::partial_sort(order, end, [&](std::size_t a, std::size_t b) {
      return size_at(a) != size_at(b) ? size_at(a) > size_at(b) : a < b;
    });
    text += fmt::format("the largest, {}:", map.name);
    for (auto n = order.begin(); n != end; ++n) {
      const std::size_t row = *n / map.columns.size();
      const std::size_t column = *n % map.columns.size();
      text += fmt::format(
          "{} {}.{} {:+.4f}", n == order.begin() ? "" : ",", map.rows[row],
          map.name == "resid_post" ? fmt::format("{} “{}”", column, map.columns[column]) : map.columns[column],
          changes[*n]);
    }
    text += "\n";
  }
  return text;
}

Panel sweep_panel(const Sweep& sweep, const std::string& title) {
  Panel panel{.title = title, .heatmaps = {}};
  double largest = 1e-6;
  for (const SweepMap& map : sweep.maps) {
    for (const double change : map.changes.to_vector()) largest = std::max(largest, std::abs(change));
  }
  for (const SweepMap& map : sweep.maps) {
    const bool is_places = map.name == "resid_post";
    Heatmap heatmap;
    heatmap.title = is_places ? sweep.measure : fmt::format("{}, {}", map.name, sweep.measure);
    heatmap.values = map.changes;
    heatmap.row_labels = map.rows;
    heatmap.column_labels = map.columns;
    heatmap.row_axis = "layer";
    heatmap.column_axis = is_places ? "place" : "head";
    heatmap.value_name = "change";
    heatmap.colours = ColourMap::diverging;
    heatmap.low = -largest;
    heatmap.high = largest;
    panel.heatmaps.push_back(std::move(heatmap));
  }
  return panel;
}

}  // namespace qkv
