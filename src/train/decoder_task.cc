#include "qkv/train/decoder_task.h"

#include <algorithm>
#include <array>

#include "qkv/autograd/softmax.h"

namespace qkv {
namespace {

constexpr std::int64_t kNothing = -100;  // cross_entropy's ignored target
constexpr std::int64_t kTogether = 64;   // examples of one examination

const Task& checked(const Task& task) {
  const TaskInfo& info = task.info();
  if (info.kind == TaskKind::image_text || info.name == "english") {
    throw InvalidArgument("DecoderTask", "task", "one whose answers follow from the text before them", info.name);
  }
  return task;
}

bool are_same(const TaskVocabulary& a, const TaskVocabulary& b) {
  if (a.size() != b.size()) return false;
  for (std::int32_t token = 0; token < a.size(); ++token) {
    if (a.text(token) != b.text(token)) return false;
  }
  return true;
}

std::int64_t length_of(const TaskExample& example) {
  return static_cast<std::int64_t>(example.source.size() + example.tokens.size());
}

// Writes one example into row b.
void write_example(const TaskExample& example, std::int64_t source_offset, std::int64_t b, TextBatch& batch) {
  const std::int64_t start = b * batch.ids.dim(1);
  auto* ids = batch.ids.values<std::int64_t>().data() + start;
  auto* targets = batch.targets.values<std::int64_t>().data() + start;
  auto* scored = batch.scored.values<std::int64_t>().data() + start;
  for (const std::int32_t token : example.source) {
    *ids++ = token == TaskVocabulary::kPadding ? token : token + source_offset;
    ++targets;
    ++scored;
  }
  for (std::size_t p = 0; p < example.tokens.size(); ++p) {
    ids[p] = example.tokens[p];
    if (!example.labels[p]) continue;
    targets[p] = *example.labels[p];
    scored[p] = example.scored[p] ? 1 : 0;
  }
  batch.tokens += length_of(example);
}

TextBatch batch_of(const std::vector<TaskExample>& examples, std::int64_t source_offset) {
  std::int64_t length = 1;
  for (const TaskExample& example : examples) length = std::max(length, length_of(example));
  const Shape shape{static_cast<std::int64_t>(examples.size()), length};
  TextBatch batch{
      .ids = Tensor(DType::i64, shape), .targets = Tensor(DType::i64, shape), .scored = Tensor(DType::i64, shape)};
  std::ranges::fill(batch.targets.values<std::int64_t>(), kNothing);
  for (std::int64_t b = 0; b < shape[0]; ++b) {
    write_example(examples[static_cast<std::size_t>(b)], source_offset, b, batch);
  }
  return batch;
}

std::vector<TaskExample> examples_of(const Task& task, Split split, std::int64_t first, std::int64_t count) {
  std::vector<TaskExample> examples;
  for (std::int64_t n = first; n < first + count; ++n) examples.push_back(task.example(split, n));
  return examples;
}

// body(examples) for the first `count` of the test split, some at a time.
template <class Body>
void for_test_examples(const Task& task, std::int64_t count, const Body& body) {
  if (count < 1) throw InvalidArgument("DecoderTask", "count", "1 or more", std::to_string(count));
  for (std::int64_t n = 0; n < count; n += kTogether) {
    body(examples_of(task, Split::test, n, std::min(kTogether, count - n)));
  }
}

void count_right(const TensorView& logits, const TextBatch& batch, TaskAccuracy& total) {
  const std::int64_t length = batch.ids.dim(1);
  std::vector<double> row(static_cast<std::size_t>(logits.dim(-1)));
  for (std::int64_t place = 0; place < batch.ids.size(); ++place) {
    if (batch.scored.values<std::int64_t>()[static_cast<std::size_t>(place)] == 0) continue;
    const std::array<std::int64_t, 2> at = {place / length, place % length};
    logits.load_row(at, row);
    const std::int64_t said = std::ranges::max_element(row) - row.begin();
    ++total.asked;
    total.right += said == batch.targets.values<std::int64_t>()[static_cast<std::size_t>(place)] ? 1 : 0;
  }
}

// The weights [H, Tq, Tk] of one example that a relation is looked for in, of those of its whole text.
TensorView at_site(const TensorView& weights, const TaskExample& example, AttentionSite site) {
  const auto source = static_cast<std::int64_t>(example.source.size());
  const std::int64_t all = length_of(example);
  if (site == AttentionSite::source) return weights.slice(1, 0, source).slice(2, 0, source);
  if (site == AttentionSite::cross) return weights.slice(1, source, all).slice(2, 0, source);
  return weights.slice(1, source, all).slice(2, source, all);
}

void add_scores(const Task& task, const TaskExample& example, const TaskRelation& relation, const TensorView& weights,
                std::vector<PatternScore>& heads) {
  const std::vector<PatternScore> more =
      score_pattern(task, example, relation.name, at_site(weights, example, relation.site));
  heads.resize(more.size());
  for (std::size_t h = 0; h < more.size(); ++h) heads[h] += more[h];
}

}  // namespace

double TaskAccuracy::share() const noexcept {
  return asked == 0 ? 0 : static_cast<double>(right) / static_cast<double>(asked);
}

DecoderTask::DecoderTask(const Task& task)
    : task_(checked(task)),
      source_offset_(are_same(task.vocabulary(), task.source_vocabulary()) ? 0 : task.vocabulary().size()) {}

std::int64_t DecoderTask::vocabulary() const noexcept {
  return task_.vocabulary().size() + (source_offset_ == 0 ? 0 : task_.source_vocabulary().size());
}

std::int64_t DecoderTask::length() const noexcept { return task_.lengths().source + task_.lengths().tokens; }

TextBatch DecoderTask::batch(Split split, std::int64_t first, std::int64_t count) const {
  return batch_of(examples_of(task_, split, first, count), source_offset_);
}

TaskAccuracy DecoderTask::accuracy(const learn::Decoder& decoder, std::int64_t count) const {
  const NoGradient constant;
  TaskAccuracy total;
  double loss = 0;
  double places = 0;
  for_test_examples(task_, count, [&](const std::vector<TaskExample>& examples) {
    const TextBatch batch = batch_of(examples, source_offset_);
    const Variable logits = decoder.forward(batch.ids);
    const auto targets = batch.targets.values<std::int64_t>();
    const auto asked = static_cast<double>(std::ranges::count_if(targets, [](auto id) { return id != kNothing; }));
    loss += cross_entropy(logits, batch.targets).item() * asked;
    places += asked;
    count_right(logits.value(), batch, total);
  });
  total.loss = loss / places;
  return total;
}

std::vector<RelationScores> DecoderTask::patterns(const learn::Decoder& decoder, std::int64_t count) const {
  std::vector<RelationScores> all;
  for (const TaskRelation& relation : task_.relations()) {
    all.push_back(
        {.relation = relation.name,
         .layers = std::vector<std::vector<PatternScore>>(static_cast<std::size_t>(decoder.options().layers))});
  }
  for_test_examples(task_, count, [&](const std::vector<TaskExample>& examples) {
    const std::vector<Tensor> layers = decoder.weights(batch_of(examples, source_offset_).ids);
    for (std::size_t layer = 0; layer < layers.size(); ++layer) {
      for (std::size_t b = 0; b < examples.size(); ++b) {
        const TensorView weights = layers[layer].view().select(0, static_cast<std::int64_t>(b));
        for (std::size_t n = 0; n < all.size(); ++n) {
          add_scores(task_, examples[b], task_.relations()[n], weights, all[n].layers[layer]);
        }
      }
    }
  });
  return all;
}

}  // namespace qkv
