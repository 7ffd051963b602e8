#include "insight/asked_text.h"

#include <fmt/format.h>

#include <algorithm>

#include "qkv/model/sound_encoder.h"

namespace qkv::insight {

bool is_writer(const TextModel& trained) {
  return !trained.traits().is_pair && !trained.traits().sees && !trained.labels_tokens();
}

// The examples of a sum do not hold its last token, nor need a model have a vector for its place.
bool write_answer(const TextModel& trained, std::optional<std::int64_t> most, Example& example) {
  bool is_open = false;
  const std::optional<std::int64_t> asked = most;
  const std::int64_t read = std::ssize(example.tokens);
  // A text of the reader's own goes on for ever.
  const bool ends =
      trained.has_examples() || trained.reads_source() || trained.traits().reads_images || trained.traits().reads_sound;
  if (!most && (!trained.has_task() || !ends)) {
    most = 0;
  } else if (!most && trained.tokenizer().find("</s>")) {
    most = trained.lengths().tokens - static_cast<std::int64_t>(example.tokens.size());
  } else if (!most) {
    const std::int64_t length = trained.answer_length(example.tokens.back());
    is_open = length > 0;
    most = length - 1;
  }
  // Nothing is written by no pass: one over a sound or a source would take as long as that over all.
  if (*most > 0) trained.answer(example, {.most = *most});
  const std::optional<std::int64_t> positions = trained.positions();
  if (asked && positions && read <= *positions && std::ssize(example.tokens) > *positions) {
    throw InvalidArgument("write_answer", "answer",
                          fmt::format("at most {}, since there are {} learned positions, of which the text takes {}",
                                      *positions - read, *positions, read),
                          fmt::format("{}", *asked));
  }
  return is_open;
}

std::vector<std::string> times_of(const TextModel& trained) {
  const LogMelOptions form = trained.log_mel_options();
  std::vector<std::string> times;
  for (std::int64_t frame = 0; frame < form.frames(); frame += kFramesOfAPlace) {
    times.push_back(fmt::format("{:.2f} s", static_cast<double>(frame * form.hop) / static_cast<double>(form.rate)));
  }
  return times;
}

void write_answers(const TextModel& trained, std::int64_t most, std::span<Example> examples) {
  constexpr std::size_t kTogether = 32;
  while (!examples.empty()) {
    const std::span<Example> part = examples.first(std::min(kTogether, examples.size()));
    const Batch batch = trained.batch_of(part);
    const NewTokens written = trained.model().generate(input_of(batch), trained.writing({.most = most}));
    for (std::size_t n = 0; n < part.size(); ++n) {
      for (const std::int64_t token : written[n]) part[n].tokens.push_back(static_cast<std::int32_t>(token));
      part[n].labels.resize(part[n].tokens.size());
      part[n].scored.resize(part[n].tokens.size());
    }
    examples = examples.subspan(part.size());
  }
}

std::size_t asked_place(const TextModel& trained, const Example& example) {
  const std::vector<bool> asked = trained.asked(example);  // perhaps for an answer that nobody gave
  for (std::size_t place = example.tokens.size(); place-- > 0;) {
    const bool has_label = place < example.labels.size() && example.labels[place].has_value();
    if (has_label && example.scored[place]) return place;
    if (!has_label && place < asked.size() && asked[place]) return place;
  }
  return example.tokens.size() - 1;
}

std::int64_t asked_row(const TextModel& trained, const Example& example, const Batch& batch) {
  const auto place = static_cast<std::int64_t>(asked_place(trained, example));
  return batch.lengths[0] - std::ssize(example.tokens) + place;
}

}  // namespace qkv::insight
