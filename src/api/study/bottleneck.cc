#include "qkv/api/bottleneck.h"

#include <fmt/format.h>

#include <algorithm>

#include "api/fields/refuse.h"
#include "api/studio/studio_questions.h"
#include "qkv/study/bottleneck.h"

namespace qkv {
namespace {

using api_detail::StudioState;

constexpr std::int64_t kMostLetters = 40;

std::string letter_of(std::int64_t id) { return {static_cast<char>('a' + id)}; }

BottleneckAnswer answer_of(const SequenceToSequence& model, const Written& written, const Tensor& ids) {
  BottleneckAnswer answer{.parameters = parameter_count(model.parameters()),
                          .letters = {},
                          .right = {},
                          .rights = 0,
                          .sure = Tensor(DType::f64, {ids.dim(1)})};
  for (std::int64_t t = 0; t < ids.dim(1); ++t) {
    const auto letter = static_cast<std::int64_t>(written.tokens.at({0, t}));
    answer.letters.push_back(letter_of(letter));
    answer.right.push_back(letter == static_cast<std::int64_t>(ids.at({0, t})));
    answer.rights += answer.right.back() ? 1 : 0;
    answer.sure.values<double>()[static_cast<std::size_t>(t)] = written.probabilities.at({0, t, letter});
  }
  return answer;
}

Tensor stacked_states(const SequenceToSequence& model, const Tensor& ids) {
  const NoGradient constant;
  Tensor states(DType::f64, {ids.dim(1), model.options().width});
  auto to = states.values<double>().begin();
  for (const Variable& state : model.encode(ids)) {
    const std::vector<double> numbers = state.value().to_vector();
    to = std::ranges::copy(numbers, to).out;
  }
  return states;
}

// Of all that letters can do to the vector after letter s, the part of each: squares add up to the whole.
Tensor shares_of(const Tensor& dependence) {
  Tensor share = dependence;
  const std::int64_t length = dependence.dim(0);
  for (std::int64_t s = 0; s < length; ++s) {
    const auto row =
        share.values<double>().subspan(static_cast<std::size_t>(s * length), static_cast<std::size_t>(length));
    double total = 0;
    for (double& value : row) total += value *= value;
    for (double& value : row) value = total > 0 ? value / total : 0;
  }
  return share;
}

std::string sentence_of(const BottleneckReply& reply) {
  return fmt::format(
      "Through one vector of {} numbers, {} of {} letters come back. With attention over all states, {}.",
      reply.states.dim(1), reply.vector.rights, reply.letters.size(), reply.attention.rights);
}

std::string crowding_of(const BottleneckReply& reply) {
  const std::int64_t last = std::ssize(reply.letters) - 1;
  if (last < 1) return "One letter has the vector for itself.";
  const double first_share = reply.share.at({last, 0});
  const double last_share = reply.share.at({last, last});
  return fmt::format(
      "At the end {} letters share {} numbers. The first has {:.1f} % of what moves the vector, the last {:.1f} %: {}.",
      last + 1, reply.states.dim(1), 100 * first_share, 100 * last_share,
      first_share > last_share ? "who comes first takes the room, and who comes late finds little"
                               : "who comes last takes the room from those before");
}

BottleneckReply answer_bottleneck(StudioState& state, const BottleneckRequest& request, const StudioWatch& /*quick*/) {
  const Tensor ids = bottleneck_ids(request.text);
  if (ids.dim(1) > kMostLetters) {
    api_detail::refuse("text", fmt::format("at most {} letters", kMostLetters), std::to_string(ids.dim(1)));
  }
  const auto models = state.bottleneck();
  const Written all = models->attention.write(ids);
  const Tensor dependence = state_dependence(models->vector, ids);
  BottleneckReply reply{.letters = {},
                        .longest = kBottleneckLongest,
                        .most = kMostLetters,
                        .states = stacked_states(models->vector, ids),
                        .share = shares_of(dependence),
                        .vector = answer_of(models->vector, models->vector.write(ids), ids),
                        .attention = answer_of(models->attention, all, ids),
                        .weights = all.weights.reshape({ids.dim(1), ids.dim(1)}),
                        .sentence = {},
                        .crowding = {}};
  for (const char letter : request.text) reply.letters.emplace_back(1, letter);
  reply.sentence = sentence_of(reply);
  reply.crowding = crowding_of(reply);
  return reply;
}

std::string lengths_sentence(const BottleneckLengthsReply& reply, std::int64_t texts) {
  constexpr double kMostRight = 0.9;
  const std::vector<double> vector = reply.vector.to_vector();
  const auto fails = std::ranges::find_if(vector, [](double share) { return share < kMostRight; });
  std::string text = fmt::format("Each point: {} random texts that neither model was trained on. ", texts);
  if (fails == vector.end()) return text + "So short, both repeat nearly everything.";
  const auto length = reply.lengths[static_cast<std::size_t>(fails - vector.begin())];
  return text + fmt::format(
                    "Through one vector more than one letter in ten is wrong from {} letters on; at {}, {:.0f} % "
                    "come back, with attention {:.1f} %.",
                    length, reply.lengths.back(), 100 * vector.back(), 100 * reply.attention.to_vector().back());
}

BottleneckLengthsReply answer_lengths(StudioState& state, const BottleneckLengthsRequest& request,
                                      const StudioWatch& watch) {
  const auto models = state.bottleneck();
  BottleneckLengthsReply reply{.lengths = {},
                               .vector = Tensor(DType::f64, {request.to}),
                               .attention = Tensor(DType::f64, {request.to}),
                               .vector_texts = Tensor(DType::f64, {request.to}),
                               .attention_texts = Tensor(DType::f64, {request.to}),
                               .chance = 1.0 / static_cast<double>(kLetters),
                               .longest = kBottleneckLongest,
                               .sentence = {}};
  for (std::int64_t length = 1; length <= request.to; ++length) {
    if (watch && watch("lengths", {.done = length - 1, .total = request.to}) == Proceed::stop) {
      throw Cancelled("lengths: stopped");
    }
    const auto at = static_cast<std::size_t>(length - 1);
    const BottleneckScore vector = measure_bottleneck(models->vector, length, request.texts, 1);
    const BottleneckScore attention = measure_bottleneck(models->attention, length, request.texts, 1);
    reply.lengths.push_back(length);
    reply.vector.values<double>()[at] = vector.letters;
    reply.vector_texts.values<double>()[at] = vector.texts;
    reply.attention.values<double>()[at] = attention.letters;
    reply.attention_texts.values<double>()[at] = attention.texts;
  }
  reply.sentence = lengths_sentence(reply, request.texts);
  return reply;
}

}  // namespace

const Fields<BottleneckRequest>& bottleneck_fields() {
  static const Fields<BottleneckRequest> kFields = [] {
    Fields<BottleneckRequest> fields;
    fields.add(
        &BottleneckRequest::text,
        {.name = "text", .form = "LETTERS", .meaning = "What is read: letters a to z", .example = "thequickbrownfox"});
    return fields;
  }();
  return kFields;
}

const Fields<BottleneckLengthsRequest>& bottleneck_lengths_fields() {
  using R = BottleneckLengthsRequest;
  static const Fields<R> kFields = [] {
    constexpr std::int64_t kMostTexts = 1024;
    Fields<R> fields;
    fields.add(&R::texts, {.name = "texts", .meaning = "Random texts of each length", .least = 1, .most = kMostTexts});
    fields.add(&R::to, {.name = "to", .meaning = "Letters of the longest", .least = 1, .most = kMostLetters});
    return fields;
  }();
  return kFields;
}

Members<BottleneckAnswer> describe(const BottleneckAnswer* /*type*/) {
  using A = BottleneckAnswer;
  return Members<A>("BottleneckAnswer")
      .add(&A::parameters, "parameters", "Of the model")
      .add(&A::letters, "letters", "That it wrote")
      .add(&A::right, "right", "Whether each is the one that was read")
      .add(&A::rights, "rights", "How many are")
      .add(&A::sure, "sure", "f64 [T]: the probability of what was written");
}

Members<BottleneckReply> describe(const BottleneckReply* /*type*/) {
  using R = BottleneckReply;
  return Members<R>("BottleneckReply")
      .add(&R::letters, "letters", "That were read")
      .add(&R::longest, "longest", "Letters of the longest texts in training")
      .add(&R::most, "most", "Letters that can be asked for")
      .add(&R::states, "states", "f64 [T, H]: the one vector, after each letter")
      .add(&R::share, "share",
           "f64 [T, T]: of all that another letter anywhere would do to the vector after letter s, the part of "
           "letter t; rows sum to 1")
      .add(&R::vector, "vector", "What the model with one vector writes")
      .add(&R::attention, "attention", "What the model with attention writes")
      .add(&R::weights, "weights", "f64 [T, T]: of each letter written on the state after each letter read")
      .add(&R::sentence, "sentence", "In words")
      .add(&R::crowding, "crowding", "What room a letter has in the vector, in words");
}

Members<BottleneckLengthsReply> describe(const BottleneckLengthsReply* /*type*/) {
  using R = BottleneckLengthsReply;
  return Members<R>("BottleneckLengthsReply")
      .add(&R::lengths, "lengths", "Letters of a text")
      .add(&R::vector, "vector", "f64 [n]: share of letters that come back, through one vector")
      .add(&R::attention, "attention", "f64 [n]: with attention")
      .add(&R::vector_texts, "vector_texts", "f64 [n]: share of texts that come back whole, through one vector")
      .add(&R::attention_texts, "attention_texts", "f64 [n]: with attention")
      .add(&R::chance, "chance", "Share of letters that a guess gets right")
      .add(&R::longest, "longest", "Letters of the longest texts in training")
      .add(&R::sentence, "sentence", "In words");
}

api_detail::Answerer api_detail::bottleneck_question() {
  return answerer<BottleneckRequest, BottleneckReply>(
      "bottleneck", "A text through one vector, and with attention: what two recurrent models write of it.",
      bottleneck_fields(), answer_bottleneck, {"{}", R"({"text": "thequickbrownfox"})"});
}

api_detail::Answerer api_detail::bottleneck_lengths_question() {
  return answerer<BottleneckLengthsRequest, BottleneckLengthsReply>(
      "bottleneck_lengths", "How much of a text both models repeat, over its length.", bottleneck_lengths_fields(),
      answer_lengths, {R"({"texts": 8, "to": 12})"});
}

}  // namespace qkv
