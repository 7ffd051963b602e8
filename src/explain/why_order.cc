// Why positions are needed: attention does not see order.
#include <fmt/format.h>

#include <numeric>

#include "explain/formula.h"
#include "explain/numbers.h"
#include "explain/sections.h"

namespace qkv::explain_detail {
namespace {

using namespace math;

std::vector<std::int64_t> reversed(std::int64_t count) {
  std::vector<std::int64_t> order(static_cast<std::size_t>(count));
  std::iota(order.rbegin(), order.rend(), 0);
  return order;
}

Tensor in_order(const Tensor& rows, const std::vector<std::int64_t>& order, int axis) {
  Tensor result(rows.dtype(), rows.shape());
  std::vector<double> row(static_cast<std::size_t>(rows.dim(-1)));
  const std::int64_t heads = axis == 0 ? 1 : rows.dim(1);
  for (std::int64_t h = 0; h < heads; ++h) {
    for (std::size_t i = 0; i < order.size(); ++i) {
      std::vector<std::int64_t> from = {order[i]};
      std::vector<std::int64_t> to = {static_cast<std::int64_t>(i)};
      if (axis == 2) from = {0, h, order[i]};
      if (axis == 2) to = {0, h, static_cast<std::int64_t>(i)};
      rows.view().load_row(from, row);
      result.store_row(to, row);
    }
  }
  return result;
}

Formula equivariance_formula() {
  const Term moved = row({name("Π"), name("X")});
  return row({call("Attention", moved), op("="), name("Π"), op("·"), call("Attention", name("X"))});
}

std::string difference_in_words(double difference) {
  return difference < 1e-9 ? fmt::format("only by rounding ({})", said(difference))
                           : fmt::format("by {}", said(difference));
}

// The same words backwards, with and without positions. The mask is left out: it is itself a notion of order.
Section own_text_why(const Scene& scene) {
  const DrawnModel& model = *scene.model;
  const std::vector<std::int64_t> order = reversed(scene.run->tq());
  std::vector<std::int64_t> same(order.size());
  std::iota(same.begin(), same.end(), 0);
  const auto moved_by = [&](DrawnModel::Encoding encoding) {
    const Tensor there = model.output_in_order(same, encoding);
    return largest_difference(in_order(there, order, 0), model.output_in_order(order, encoding));
  };
  const double without = moved_by(DrawnModel::Encoding::left_out);
  const double with = moved_by(DrawnModel::Encoding::as_chosen);
  Section why;
  why.id = "order";
  why.title = "Why positions? The same words backwards";
  why.text =
      "The text is run again with its words in reverse, without a mask. Without positions each word gets the very "
      "output "
      "that it had before, at its new place: attention is equivariant under permutations, it reads a bag of words. "
      "With "
      "positions the outputs differ.";
  why.formulas = {equivariance_formula()};
  why.tables.push_back(
      {"Largest difference of any output number, word for word",
       {"positions", "difference"},
       {{word("left out"), rounded(without)}, {word(std::string(name_of(scene.options->position))), rounded(with)}}});
  why.finding = fmt::format("backwards, the words' outputs differ {} without positions, {} with {}",
                            difference_in_words(without), difference_in_words(with), name_of(scene.options->position));
  if (scene.run->tq() == 1) {
    why.finding = "one token cannot show it: a text of one word reads the same backwards; try a longer one";
  }
  if (scene.options->position == Positions::none) {
    why.notes.emplace_back("No positions were asked for, so both lines say the same.");
  }
  return why;
}

// Keys and values move together: the sum over them does not care.
Section given_tensors_why(const Scene& scene) {
  const Run& run = *scene.run;
  AttentionOptions options = run.attention;
  options.mask = Mask();
  options.bias = Bias();
  options.dropout = std::nullopt;
  const std::vector<std::int64_t> order = reversed(run.tk());
  const Tensor before = attention(run.q, run.k, run.v, options).out;
  const Tensor after = attention(run.q, in_order(run.k, order, 2), in_order(run.v, order, 2), options).out;
  const double difference = largest_difference(before, after);
  Section why;
  why.id = "order";
  why.title = "Why positions? The same keys backwards";
  why.text =
      "Keys and values are given in reverse, together, without mask and bias. The sum over them does not care: what a "
      "query gets back depends on which keys there are, not on where they stand.";
  why.tables.push_back({"Largest difference of any output number",
                        {"keys and values", "difference"},
                        {{word("reversed together"), rounded(difference)}}});
  why.finding = run.tk() == 1 ? "one key cannot show it: reversed, it is the same; try more of them"
                              : fmt::format("with keys and values reversed together the output differs {}",
                                            difference_in_words(difference));
  return why;
}

}  // namespace

std::vector<Section> whys_about_order(const Scene& scene) {
  if (scene.model == nullptr || scene.model->is_cross()) return {given_tensors_why(scene)};
  return {own_text_why(scene)};
}

}  // namespace qkv::explain_detail
