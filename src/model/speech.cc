#include "qkv/model/speech.h"

#include <algorithm>
#include <utility>

#include "core/listed.h"
#include "model/families/speech_file.h"
#include "nn/resumed.h"
#include "qkv/error.h"
#include "qkv/nn/trace.h"

namespace qkv {
namespace {

constexpr const char* kSpeech = "transcribe";

[[noreturn]] void refuse_speech(const char* argument, const std::string& expected, const std::string& got) {
  throw InvalidArgument(kSpeech, argument, expected, got);
}

// Of a language's code, "de" or "<|de|>".
std::int64_t language_token(const families::SpeechWords& words, const std::string& language) {
  const auto found = words.languages.find(std::string(families::language_code(language)));
  if (found != words.languages.end()) return found->second;
  const std::string known = core::joined(words.languages, [](const auto& one) { return one.first; });
  refuse_speech("language", known.empty() ? "none: the model knows one language" : "one of " + known,
                "\"" + language + "\"");
}

void blank_labels(Example& example) {
  example.labels.assign(example.tokens.size(), std::nullopt);
  example.scored.assign(example.tokens.size(), false);
}

std::int64_t encoder_layers(const TextModel& model) {
  return model.model().parts().transcriber->options().encoder_layers;
}

// The likeliest behind the first token of a text. `heard` is set to what the encoder's last block gives.
std::int64_t heard_language(const TextModel& model, Example example, const families::SpeechWords& words,
                            Tensor& heard) {
  blank_labels(example);
  const std::string last = "encoder.blocks." + std::to_string(encoder_layers(model) - 1);
  Trace trace({last, "decoder.logits"});
  const Batch batch = model.batch_of(example);
  model.model().run(input_of(batch), trace);
  heard = trace[last];
  const Tensor shares = model.probabilities(example, trace["decoder.logits"]);
  const auto share = [&](const auto& language) { return shares.at({shares.dim(0) - 1, language.second}); };
  return std::ranges::max_element(words.languages, {}, share)->second;
}

void add_token(Example& example, std::int64_t token) { example.tokens.push_back(static_cast<std::int32_t>(token)); }

// Language and task, of a model that has such.
void add_question(const TextModel& model, const families::SpeechWords& words, const SpeechOptions& options,
                  Example& example, Tensor& heard) {
  const std::string& language = options.language.empty() ? words.language : options.language;
  const bool asks_nothing = language.empty() && !options.translate && words.task.empty();
  std::vector<std::optional<std::int64_t>> forced;
  if (asks_nothing) forced = words.forced;
  if (!language.empty()) {
    add_token(example, language_token(words, language));
  } else if ((forced.empty() || !forced.front()) && !words.languages.empty()) {
    add_token(example, heard_language(model, example, words, heard));
  } else if (!forced.empty() && forced.front()) {
    add_token(example, *forced.front());
  }
  for (std::size_t n = 1; n < forced.size(); ++n) {
    if (forced[n]) add_token(example, *forced[n]);
  }
  // As `transformers` has it: where neither is asked for, there is no task but a forced one.
  if (asks_nothing) return;
  const std::string task = options.translate ? "translate" : words.task.empty() ? "transcribe" : words.task;
  const auto found = words.tasks.find(task);
  if (found != words.tasks.end()) {
    add_token(example, found->second);
  } else if (options.translate) {
    refuse_speech("translate", "a model that translates", "another");
  }
}

// example_of_sound(), with what the encoder's last block gave where it had to run for that; else empty.
struct AskedSound {
  Example example;
  Tensor heard;
};

AskedSound asked_sound(const TextModel& model, const Sound& sound, const SpeechOptions& options) {
  AskedSound asked;
  Example& example = asked.example;
  example.sound = model.sound_of(sound);
  const families::SpeechWords words = families::speech_words_in(model.path());
  const auto& own = model.model().parts().transcriber->options();
  const std::optional<std::int64_t> start = words.start ? words.start : own.start;
  if (!start) refuse_speech("model", "one with a token to start", "none");
  add_token(example, *start);
  add_question(model, words, options, example, asked.heard);
  if (words.no_times && example.tokens.back() != *words.no_times) add_token(example, *words.no_times);
  for (const std::int32_t token : example.tokens) {
    if (token >= 0 && token < own.vocabulary) continue;
    throw FileError(model.path(), "expected tokens from 0 to " + std::to_string(own.vocabulary - 1) +
                                      " in generation_config.json, got " + std::to_string(token));
  }
  blank_labels(example);
  return asked;
}

// Writes after the example; of what its encoder gave already it is not run again, but in another dtype.
WrittenText written_after(const TextModel& model, const Example& example, const WriteOptions& writing,
                          const Tensor& heard) {
  const DType dtype = writing.draw.dtype.value_or(model.model().dtype());
  if (heard.empty() || heard.dtype() != dtype) return write_after(model, example, writing);
  const nn::Resumed resumed({{.stack = "encoder.", .first = encoder_layers(model), .state = Variable(heard)}});
  return write_after(model, example, writing);
}

}  // namespace

Example example_of_sound(const TextModel& model, const Sound& sound, const SpeechOptions& options) {
  return asked_sound(model, sound, options).example;
}

WrittenText transcribe(const TextModel& model, const Sound& sound, const SpeechOptions& options,
                       const WriteOptions& writing) {
  const LogMelOptions form = model.log_mel_options();
  const Sound own = resampled(sound, form.rate);
  const std::int64_t count = own.samples.size();
  if (count == 0) refuse_speech("sound", "one sample or more", "none");
  const auto piece = [&](std::int64_t begin) {
    const std::int64_t end = std::min(begin + form.samples(), count);
    return Sound{.rate = own.rate, .samples = Tensor(own.samples.view().slice(0, begin, end))};
  };
  const AskedSound asked = asked_sound(model, piece(0), options);
  Example example = asked.example;
  WriteOptions of_piece = writing;
  WrittenText all;
  bool is_cut = false;
  for (std::int64_t begin = 0; begin < count; begin += form.samples()) {
    if (begin > 0) example.sound = log_mel(piece(begin).samples, form);
    of_piece.draw.most = writing.draw.most - std::ssize(all.tokens);
    const WrittenText written = written_after(model, example, of_piece, begin == 0 ? asked.heard : Tensor());
    all.text += written.text;
    all.tokens.insert(all.tokens.end(), written.tokens.begin(), written.tokens.end());
    all.end = written.end;
    is_cut = is_cut || written.end == WriteEnd::positions;
    if (written.end != WriteEnd::token && written.end != WriteEnd::positions) break;
  }
  if (is_cut) all.end = WriteEnd::positions;
  return all;
}

}  // namespace qkv
