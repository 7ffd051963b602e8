#include "qkv/model/text_model.h"

#include <algorithm>
#include <array>
#include <set>
#include <string>
#include <utility>

#include "core/counted.h"
#include "core/number_text.h"
#include "core/plain_number.h"
#include "core/said_of.h"
#include "files/place.h"
#include "model/batch_form.h"
#include "model/families/generation_file.h"
#include "model/long_text.h"
#include "model/mask_token.h"
#include "model/require_finite.h"
#include "qkv/image.h"
#include "qkv/softmax.h"
#include "qkv/text/vocabulary.h"

namespace qkv {
namespace {

constexpr const char* kTextModel = "TextModel";
constexpr std::array<std::string_view, 3> kNeverWritten = {"<pad>", "<s>", "<unknown>"};

std::optional<std::int64_t> config_number(const Model& model, const char* word) {
  const ModelConfig config = model.config();
  const auto found = config.find(word);
  if (found == config.end()) return std::nullopt;
  return core::number_from<std::int64_t>(found->second);
}

// 0 for a length that the config does not say.
TextLengths lengths_of(const Model& model) {
  const auto number = [&](const char* word) { return config_number(model, word).value_or(0); };
  return {.tokens = number("length"),
          .source = model.traits().reads_source ? number("source_length") : 0,
          .image_side = number("image_side"),
          .patch_side = number("patch_side")};
}

// How many tokens of its reader's a text may have where there are learned positions, which a decoder has for its source
// before its own. What is added to the reader's text does not count for the reader.
std::optional<std::int64_t> most_tokens(const TextModel& model) {
  const std::optional<std::int64_t> places = model.positions();
  if (!places || !model.traits().reads_source) return places;
  const std::int64_t added = model.has_task() && model.source_tokenizer().find("</s>") ? 1 : 0;
  return config_number(model.model(), "source_length").value_or(*places) - added;
}

[[noreturn]] void refuse_length(std::int64_t most, const std::string& got) {
  throw InvalidArgument(kTextModel, "text",
                        "a text of at most " + core::counted(most, "token") + ", for which there are learned positions",
                        got);
}

// Names of classes as what such a model says; two that are spelt alike get their numbers.
std::vector<std::string> names_apart(std::vector<std::string> names) {
  std::set<std::string> seen;
  for (std::size_t n = 0; n < names.size(); ++n) {
    while (!seen.insert(names[n]).second) names[n] += " " + std::to_string(n);
  }
  return names;
}

// As every face says it of an empty text.
[[noreturn]] void refuse_empty(std::string_view text) {
  if (text.empty()) throw InvalidArgument(kTextModel, "text", "a value", "\"\"");
  throw InvalidArgument(kTextModel, "text", "a token or more", "none");
}

void blank(Example& example) {
  example.labels.assign(example.tokens.size(), std::nullopt);
  example.scored.assign(example.tokens.size(), false);
}

}  // namespace

TextModel::TextModel(Model model, std::string path) : model_(std::move(model)), path_(std::move(path)) {
  const ModelTokenizers& tokenizers = model_.tokenizers();
  learnt_.lengths = lengths_of(model_);
  if (traits().sees) {
    tokenizer_ = source_tokenizer_ = std::make_shared<Vocabulary>(names_apart(tokenizers.classes), TextForm::words);
    return;
  }
  if (tokenizers.tokens == nullptr) throw FileError(path_, "expected a tokenizer with the model, got none");
  tokenizer_ = tokenizers.tokens;
  source_tokenizer_ = tokenizers.source ? tokenizers.source : tokenizers.tokens;
}

TextModel::TextModel(Model model, std::string path, Learnt learnt)
    : model_(std::move(model)), path_(std::move(path)), learnt_(std::move(learnt)) {
  const std::shared_ptr<const Examples>& examples = learnt_.examples;
  if (examples != nullptr) {
    tokenizer_ = {examples, &examples->vocabulary()};
    source_tokenizer_ = {examples, &examples->source_vocabulary()};
    learnt_.lengths = examples->lengths();
    learnt_.labels_tokens = examples->labels_tokens();
    return;
  }
  tokenizer_ = model_.tokenizers().tokens;
  source_tokenizer_ = model_.tokenizers().source ? model_.tokenizers().source : tokenizer_;
  if (tokenizer_ == nullptr) {
    throw FileError::saying(path_, "the model's file does not hold its tokenizer: train it again");
  }
}

const Examples& TextModel::examples() const {
  if (has_examples()) return *learnt_.examples;
  if (has_task()) throw FileError::saying(path_, "the examples of " + learnt_.task + " are not in its model's file");
  throw FileError::saying(path_, "a model of others has no examples");
}

TextModel TextModel::to(DType dtype) const {
  TextModel other = *this;
  other.model_ = model_.to(dtype);
  return other;
}

bool TextModel::reads_source() const noexcept { return traits().reads_source || lengths().source > 0; }

bool TextModel::labels_tokens() const noexcept { return traits().fills || learnt_.labels_tokens; }

void TextModel::mark(Example& example) const {
  if (has_examples()) examples().mark(example);
}

std::vector<bool> TextModel::asked(const Example& example) const {
  if (has_examples()) return examples().asked(example);
  if (!labels_tokens()) return {};
  std::vector<bool> places;
  for (const std::int32_t token : example.tokens) places.push_back(is_mask_token(tokenizer().piece(token)));
  return std::ranges::find(places, true) == places.end() ? std::vector<bool>() : places;
}

std::vector<std::string> TextModel::outside(const Example& example) const {
  return has_examples() ? examples().outside(example) : longer_than(lengths(), example);
}

std::string TextModel::answer_text(std::vector<std::int32_t> answer) const {
  return has_examples() ? examples().answer_text(std::move(answer)) : answer_in(tokenizer(), std::move(answer));
}

Example TextModel::example_of(std::string_view text, const ArgumentName& called) const {
  return core::said_of(called.function, called.argument, [&] { return example_of(text); });
}

Example TextModel::example_of(std::string_view text) const {
  if (traits().reads_sound) throw InvalidArgument(kTextModel, "text", "a sound: this model reads no text", "one");
  Example example;
  const Tokenizer& tokens = tokenizer();
  if (const auto most = most_tokens(*this)) {
    const auto seen = model_detail::seen_to_be_longer(reader(), text, *most);
    if (seen) refuse_length(*most, *seen);
  }
  const std::optional<std::int32_t> begin = tokens.find("<s>");
  if (reads_source()) {
    example.source = source_tokenizer().encode(text).ids;
    if (example.source.empty()) refuse_empty(text);
    const auto end = source_tokenizer().find("</s>");
    if (has_task() && end && example.source.back() != *end) example.source.push_back(*end);
  } else {
    example.tokens = tokens.encode(text).ids;
  }
  // The token with which an encoder-decoder of others begins to write.
  const std::optional<std::int64_t> start = config_number(model_, "start");
  if (start) example.tokens = {static_cast<std::int32_t>(*start)};
  if (has_task() && !start && begin && (example.tokens.empty() || example.tokens.front() != *begin)) {
    example.tokens.insert(example.tokens.begin(), *begin);
  }
  if (example.tokens.empty()) refuse_empty(text);
  example.tokens = model_.padded(std::move(example.tokens), "text");
  require_places(example);
  blank(example);
  return example;
}

void TextModel::require_places(const Example& example) const {
  const std::optional<std::int64_t> most = most_tokens(*this);
  if (!most) return;
  const bool has_encoder = traits().reads_source;
  const std::int64_t added = has_encoder && has_task() && source_tokenizer().find("</s>") ? 1 : 0;
  const std::int64_t tokens = std::ssize(example.source) + (has_encoder ? 0 : std::ssize(example.tokens)) - added;
  if (tokens > *most) refuse_length(*most, core::counted(tokens, "token"));
}

Tensor TextModel::image_of(const TensorView& picture) const {
  const std::int64_t side = lengths().image_side;
  if (side == 0) {
    throw InvalidArgument(kTextModel, "picture", "a model that reads images",
                          "one of kind " + std::string(name_of(kind())));
  }
  if (has_task()) return qkv::image_of(picture, side);
  const Tensor prepared = prepare_image(picture, preparation());
  const ImageEncoder* encoder = model_.parts().image_encoder;
  if (encoder != nullptr && encoder->options().patches.resized_positions) {
    return prepared.reshape({3, prepared.dim(2), prepared.dim(3)});
  }
  return prepared.reshape({3, side, side});
}

LogMelOptions TextModel::log_mel_options() const {
  const Transcriber* transcriber = model_.parts().transcriber;
  if (transcriber == nullptr) {
    throw InvalidArgument(kTextModel, "sound", "a model that reads sound",
                          "one of kind " + std::string(name_of(kind())));
  }
  const TranscriberOptions& read = transcriber->options();
  LogMelOptions options{.bins = read.bins};
  options.seconds = read.frames * options.hop / options.rate;
  if (files::is_folder(path_)) options = read_log_mel_options(path_);
  if (options.bins != read.bins || options.frames() != read.frames) {
    throw FileError(path_, "expected a spectrogram of " + std::to_string(read.bins) + " bins and " +
                               std::to_string(read.frames) + " frames, which the model reads, got " +
                               std::to_string(options.bins) + " and " + std::to_string(options.frames()) +
                               " in preprocessor_config.json");
  }
  return options;
}

Tensor TextModel::sound_of(const Sound& sound) const {
  const LogMelOptions options = log_mel_options();
  const Sound own = resampled(sound, options.rate);
  if (own.samples.size() > options.samples()) {
    throw InvalidArgument(
        kTextModel, "sound", "at most " + std::to_string(options.seconds) + " s",
        core::plain_number(static_cast<double>(own.samples.size()) / static_cast<double>(own.rate)) + " s");
  }
  return log_mel(own.samples, options);
}

Tensor TextModel::colours_of(const TensorView& image) const {
  if (has_task()) return Tensor(image);
  const ImagePreparation done = preparation();
  Tensor colours(image);
  const auto values = colours.values<float>();
  const std::size_t plane = values.size() / 3;
  for (std::size_t n = 0; n < values.size(); ++n) {
    const double level = values[n] * done.deviation.at(n / plane) + done.mean.at(n / plane);
    values[n] = static_cast<float>(std::clamp(level, 0.0, 1.0));
  }
  return colours;
}

ImagePreparation TextModel::preparation() const {
  if (files::is_folder(path_)) return read_image_preparation(path_);
  throw FileError(path_, "a file does not say how its pictures are prepared: give the folder of the model");
}

Batch TextModel::batch_of(const Example& example) const { return batch_of(std::span(&example, 1)); }

BatchForm TextModel::form() const {
  return {.layout = layout_for(kind()),
          .lengths = lengths(),
          .has_source = reads_source(),
          .source_offset = joined_source_offset()};
}

Batch TextModel::batch_of(std::span<const Example> examples) const { return qkv::batch_of(form(), examples); }

std::int64_t TextModel::joined_source_offset() const {
  const bool is_joined = layout_for(kind()) == BatchLayout::joined;
  return is_joined ? qkv::joined_source_offset(tokenizer(), source_tokenizer()) : 0;
}

Tensor TextModel::probabilities(const Example& example) const {
  const NoGradient constant;
  return probabilities(example, model_.forward(input_of(batch_of(example))).value());
}

// A joined text has its source's places before its own.
Tensor TextModel::probabilities(const Example& example, const TensorView& scores) const {
  const auto own = static_cast<std::int64_t>(example.tokens.size());
  const std::int64_t all = batch_of(example).lengths[0];
  Tensor shares = softmax(Tensor(scores.select(0, 0).slice(0, all - own, all), DType::f64), -1);
  // A row with a score that is no number has no other share.
  for (std::int64_t t = 0; t < own; ++t) {
    require_numbers(model_, kTextModel, "the scores at token " + std::to_string(t), std::array{shares.at({t, 0})});
  }
  return shares;
}

// Tokens that are no text; a model of others may write any but those that its authors leave out. And what a joined text
// counts after its answers' tokens: those of its source.
std::vector<std::int64_t> TextModel::never_written() const {
  std::vector<std::int64_t> never = families::never_written_in(path_);
  std::erase_if(never, [&](std::int64_t token) { return token < 0 || token >= tokenizer().size(); });
  for (const std::string_view piece : kNeverWritten) {
    if (!has_task()) break;
    if (const auto token = tokenizer().find(piece)) never.push_back(*token);
  }
  const std::int64_t offset = joined_source_offset();
  for (std::int64_t n = 0; offset > 0 && n < source_tokenizer().size(); ++n) never.push_back(offset + n);
  return never;
}

GenerateOptions TextModel::writing(GenerateOptions options) const {
  const std::vector<std::int64_t> never = never_written();
  options.never.insert(options.never.end(), never.begin(), never.end());
  const std::vector<std::int64_t> first = families::never_written_first_in(path_);
  std::ranges::copy_if(first, std::back_inserter(options.never_first),
                       [&](std::int64_t token) { return token >= 0 && token < tokenizer().size(); });
  if (options.ends.empty()) options.ends = model_.tokenizers().ends;
  const auto end = tokenizer().find("</s>");
  if (has_task() && end && options.ends.empty()) options.ends = {*end};
  if (!options.window) options.window = window();
  return options;
}

std::optional<std::int64_t> TextModel::window() const {
  const TextLengths& most = lengths();
  if (!traits().goes_on || most.source > 0 || most.image_side > 0) return std::nullopt;
  const std::optional<std::int64_t> places = positions();
  if (most.tokens == 0) return places;
  return places ? std::min(*places, most.tokens) : most.tokens;
}

std::optional<std::int64_t> TextModel::positions() const {
  const ModelConfig config = model_.config();
  const auto kind = config.find("positions");
  if (kind == config.end() || kind->second != name_of(Positions::learned)) return std::nullopt;
  return config_number(model_, "length");
}

void TextModel::answer(Example& example, const GenerateOptions& options) const {
  blank(example);
  const Batch batch = batch_of(example);
  const NewTokens written = model_.generate(input_of(batch), writing(options));
  for (const std::int64_t token : written.front()) example.tokens.push_back(static_cast<std::int32_t>(token));
  blank(example);
}

std::int64_t TextModel::answer_length(std::int32_t last) const {
  if (!has_examples() || !traits().goes_on || reads_source()) return 0;
  std::int64_t count = 0;
  // A token that a few examples only happen to ask after is no question.
  for (std::int64_t n = 0; n < 8; ++n) {
    const Example example = examples().example(Split::test, n);
    const auto first = std::ranges::find_if(example.labels, [](const auto& label) { return label.has_value(); });
    if (first == example.labels.end()) return 0;
    const auto place = static_cast<std::size_t>(first - example.labels.begin());
    if (example.tokens[place] != last) return 0;
    for (std::size_t p = place; p + 1 < example.tokens.size(); ++p) {
      if (example.labels[p] != example.tokens[p + 1]) return 0;
    }
    count = std::max(count, static_cast<std::int64_t>(example.tokens.size() - place));
  }
  return count;
}

Tensor TextModel::cosines(std::span<const Example> examples) const {
  Tensor cosines = batch_cosines(model_, batch_of(examples));
  require_numbers(model_, kTextModel, "the cosines of pictures and texts", cosines.to_vector());
  return cosines;
}

}  // namespace qkv
