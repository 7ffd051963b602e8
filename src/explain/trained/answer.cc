#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <ranges>

#include "explain/formula.h"
#include "explain/numbers.h"
#include "explain/trained/path.h"
#include "insight/asked_text.h"
#include "insight/logit_parts.h"

namespace qkv::explain_detail {
namespace {

using namespace math;

constexpr std::size_t kGuesses = 5;

// The tokens that a joined text reads before those of the example.
std::int64_t rows_before(const Ran& ran) {
  const bool is_joined = ran.batch.layout == BatchLayout::joined;
  return is_joined ? static_cast<std::int64_t>(ran.example.source.size()) : 0;
}

std::size_t place_of(const Ran& ran, const ChosenHead& chosen, std::optional<std::size_t> query) {
  if (query && *query < ran.example.tokens.size()) return *query;
  const auto& labels = ran.example.labels;
  const std::vector<bool> asked = ran.trained.asked(ran.example);  // perhaps for an answer that nobody gave
  const auto is_unknown = [&](std::size_t place) { return place < asked.size() && asked[place] && !labels[place]; };
  const auto is_asked = [&](std::size_t place) {
    return place < labels.size() && (labels[place] || is_unknown(place));
  };
  for (const std::size_t place : std::views::reverse(chosen.queries)) {
    if (is_asked(place)) return place;
  }
  return insight::asked_place(ran.trained, ran.example);
}

// What the output map reads: y is what the last block gives.
Term read_vector(const Ran& ran) {
  const Term y = name("y");
  const Term last = ran.trace.contains(stack_of(ran.trained) + "ln_final") ? call("LN", y) : y;
  const NetworkParts parts = ran.trained.model().parts();
  const Encoder* encoder = parts.decoder == nullptr ? parts.encoder : nullptr;
  if (encoder == nullptr || encoder->options().head != EncoderHead::transform) return last;
  const EncoderOptions& options = encoder->options();
  return call("LN", call(name_of(options.head_activation.value_or(options.activation)), call("Linear", last)));
}

bool is_tied(const Model& model) {
  const NetworkParts parts = model.parts();
  return parts.decoder != nullptr ? parts.decoder->options().tied : parts.encoder->options().tied;
}

Term scores_formula(const Ran& ran) {
  const Model& model = ran.trained.model();
  const Term product = row({name(is_tied(model) ? "E" : "W"), op("·"), read_vector(ran)});
  const auto with_bias = [](const Term& scores) { return row({scores, op("+"), name("b")}); };
  const Decoder* const decoder = model.parts().decoder;
  if (decoder == nullptr) {
    const EncoderOptions& options = model.parts().encoder->options();
    const bool has_bias = options.head == EncoderHead::transform && options.head_bias;
    return has_bias ? with_bias(product) : product;
  }
  const auto digits = [](double value) { return number(fmt::format("{:.4g}", value)); };
  const DecoderOptions& options = decoder->options();
  Term scores = options.output_scale ? row({digits(*options.output_scale), op("·"), product}) : product;
  if (options.output_bias) scores = with_bias(scores);
  if (!options.logit_softcap) return scores;
  const Term cap = digits(*options.logit_softcap);
  return row({cap, op("·"), call("tanh", fraction(scores, cap))});
}

}  // namespace

std::string stack_of(const TextModel& trained) {
  const std::optional<SiteScope> tokens = trained.model().scope_of(AttentionSite::tokens);
  return tokens ? tokens->stack : trained.model().scope_of(AttentionSite::source)->stack;
}

std::vector<double> scores_at(const Tensor& logits, const Answer& answer, std::int64_t text) {
  return logits.view().select(0, text).select(0, answer.row).to_vector();
}

Answer answer_of(const Ran& ran, const ChosenHead& chosen, std::optional<std::size_t> query,
                 const TensorView& probabilities) {
  const Tokenizer& vocabulary = ran.trained.tokenizer();
  Answer answer{.place = place_of(ran, chosen, query), .at = {}, .text = {}};
  answer.row = rows_before(ran) + static_cast<std::int64_t>(answer.place);
  const auto& labels = ran.example.labels;
  answer.is_expected = answer.place < labels.size() && labels[answer.place].has_value();
  if (answer.is_expected) {
    answer.token = *labels[answer.place];
  } else {
    const std::vector<double> row = probabilities.select(0, static_cast<std::int64_t>(answer.place)).to_vector();
    answer.token =
        static_cast<std::int32_t>(std::max_element(row.begin(), row.begin() + vocabulary.size()) - row.begin());
  }
  answer.at = texts_of(vocabulary, ran.example.tokens)[answer.place];
  answer.text = texts_of(vocabulary, {answer.token}).front();
  return answer;
}

Section answer_step(const Ran& ran, const Answer& answer) {
  const std::vector<double> scores = scores_at(ran.trace[stack_of(ran.trained) + "logits"], answer);
  const std::vector<double> probabilities = softmax_of(scores);
  const Tokenizer& vocabulary = ran.trained.tokenizer();
  Section step;
  step.id = "answer";
  step.title = fmt::format("The answer at {} “{}”", ran.first + answer.place, answer.at);
  step.text = fmt::format("The final vector is multiplied by {}; softmax turns the scores (logits) into probabilities.",
                          is_tied(ran.trained.model()) ? "the token embeddings" : "the output map");
  step.formulas = {row({name("z"), op("="), scores_formula(ran)}),
                   row({name("p"), op("="), call("softmax", name("z"))})};
  step.shape = fmt::format("[vocabulary] = [{}]", scores.size());
  std::vector<std::size_t> order(static_cast<std::size_t>(vocabulary.size()));
  std::iota(order.begin(), order.end(), 0U);
  std::ranges::sort(
      order, [&](std::size_t a, std::size_t b) { return scores[a] != scores[b] ? scores[a] > scores[b] : a < b; });
  Table table{"The likeliest tokens", {"token", "logit", "probability", ""}, {}};
  for (std::size_t n = 0; n < order.size(); ++n) {
    const bool is_answer = order[n] == static_cast<std::size_t>(answer.token);
    if (n >= kGuesses && !is_answer) continue;
    const auto token = static_cast<std::int32_t>(order[n]);
    table.rows.push_back({word(texts_of(vocabulary, {token}).front()), rounded(scores[order[n]], 3),
                          rounded(probabilities[order[n]]),
                          word(is_answer && answer.is_expected ? fmt::format("expected, place {}", n + 1) : "")});
  }
  step.tables = {std::move(table)};
  return step;
}

}  // namespace qkv::explain_detail
