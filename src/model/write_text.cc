#include "qkv/model/write_text.h"

#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <tuple>

#include "model/growing_text.h"
#include "model/require_writing.h"
#include "qkv/error.h"

namespace qkv {
namespace {

/// The prompts that are read side by side.
class SharedPass {
 public:
  // `longest` is how many tokens the task asks for; 0 where it does not say.
  SharedPass(const TextModel& model, const WriteOptions& options, std::int64_t longest)
      : model_(model), options_(options), longest_(longest) {}

  void add(std::size_t number, Example example) {
    numbers_.push_back(number);
    examples_.push_back(std::move(example));
  }

  void write(std::vector<WrittenText>& written) {
    // A model with a source writes no text on: its tokens before the answer are a mark.
    for (const Example& example : examples_) {
      const bool goes_on = example.source.empty() && example.image.empty() && example.sound.empty();
      texts_.emplace_back(model_.tokenizer(), options_.stops,
                          goes_on ? std::span<const std::int32_t>(example.tokens) : std::span<const std::int32_t>());
    }
    GenerateOptions draw = model_.writing(options_.draw);
    if (longest_ > 0) draw.most = std::min(draw.most, longest_);
    has_places_for_all_ = draw.most <= places_left();
    draw.most = std::min(draw.most, places_left());
    draw.seed += numbers_.front();
    if (draw.beams == 1) draw.written = [&](std::int64_t n, std::int64_t token) { return add_token(n, token); };
    const Batch batch = model_.batch_of(examples_);
    const NewTokens tokens = model_.model().generate(input_of(batch), draw);
    for (std::size_t n = 0; n < texts_.size(); ++n) written[numbers_[n]] = finished(n, tokens[n], draw);
  }

 private:
  bool add_token(std::int64_t n, std::int64_t token) {
    GrowingText& text = texts_[static_cast<std::size_t>(n)];
    tell(static_cast<std::size_t>(n), text.add(static_cast<std::int32_t>(token)));
    return !text.has_stopped();
  }

  // Tokens that may be written; the last one needs no position.
  [[nodiscard]] std::int64_t places_left() const {
    const std::optional<std::int64_t> places = model_.positions();
    const bool is_apart = model_.traits().reads_source || model_.traits().reads_sound;
    if (!places || !is_apart) return std::numeric_limits<std::int64_t>::max();
    return *places - std::ssize(examples_.front().tokens) + 1;
  }

  // Up to the last token, or up to what an end was written after.
  [[nodiscard]] std::int64_t tokens_read(std::size_t n, const WrittenText& written) const {
    const std::int64_t last = written.end == WriteEnd::token ? 0 : 1;
    return std::ssize(examples_[n].tokens) + std::ssize(written.tokens) - last;
  }

  WrittenText finished(std::size_t n, const std::vector<std::int64_t>& tokens, const GenerateOptions& draw) {
    GrowingText& text = texts_[n];
    for (std::size_t t = 0; draw.beams > 1 && t < tokens.size() && !text.has_stopped(); ++t) {
      static_cast<void>(add_token(static_cast<std::int64_t>(n), tokens[t]));
    }
    tell(n, text.rest());
    const bool is_long = static_cast<std::int64_t>(tokens.size()) == draw.most;
    const WriteEnd end = has_places_for_all_ ? WriteEnd::length : WriteEnd::positions;
    WrittenText written = text.written(is_long ? end : WriteEnd::token);
    const std::int64_t read = tokens_read(n, written);
    written.unread = draw.window ? std::max<std::int64_t>(read - *draw.window, 0) : 0;
    written.cache_bytes = cache_bytes_of(model_, read, draw);
    return written;
  }

  void tell(std::size_t n, const std::string& part) const {
    if (options_.said && !part.empty()) options_.said(static_cast<std::int64_t>(numbers_[n]), part);
  }

  const TextModel& model_;
  const WriteOptions& options_;
  std::int64_t longest_;
  bool has_places_for_all_ = true;
  std::vector<std::size_t> numbers_;
  std::vector<Example> examples_;
  std::vector<GrowingText> texts_;
};

}  // namespace

std::string_view name_of(WriteEnd end) noexcept {
  constexpr std::array<std::string_view, 5> kNames = {"token", "stop", "length", "positions", "reader"};
  return kNames[static_cast<std::size_t>(end)];
}

void require_writing(std::string_view function, const TextModel& model, const WriteOptions& options) {
  const auto refuse = [&](const char* argument, const std::string& expected, const std::string& got) {
    throw InvalidArgument(function, argument, expected, got);
  };
  if (!model.traits().writes) refuse("model", "one that writes", "one of kind " + std::string(name_of(model.kind())));
  if (!model.model().scores_tokens()) {
    refuse("model", "one that writes",
           "one that gives states alone, without the map that says which token a state stands for");
  }
  if (model.lengths().image_side > 0) refuse("model", "one that reads texts", "one that reads images");
  const auto require_in_bounds = [&](const char* option, std::int64_t value, std::int64_t least, std::int64_t most) {
    if (value >= least && value <= most) return;
    refuse(option, "from " + std::to_string(least) + " to " + std::to_string(most), std::to_string(value));
  };
  require_in_bounds("most", options.draw.most, 0, kMostNewTokens);
  require_in_bounds("beams", options.draw.beams, 1, kMostBeams);
  for (const std::string& stop : options.stops) {
    if (stop.empty()) refuse("stops", "texts of a character or more", "an empty one");
  }
}

std::int64_t cache_bytes_of(const TextModel& model, std::int64_t tokens, const GenerateOptions& draw) {
  const Decoder* decoder = model.model().parts().decoder;
  if (decoder == nullptr || !model.traits().goes_on) return 0;
  return decoder->cache_bytes(std::min(tokens, draw.window.value_or(tokens)), decoder->cache_dtype(draw));
}

std::vector<WrittenText> write_texts(const TextModel& model, std::span<const std::string> prompts,
                                     const WriteOptions& options) {
  require_writing("write_texts", model, options);
  std::map<std::tuple<std::size_t, std::size_t, std::int64_t>, SharedPass> passes;
  for (std::size_t n = 0; n < prompts.size(); ++n) {
    Example example = model.example_of(prompts[n], {"write_texts", "prompts[" + std::to_string(n) + "]"});
    const std::int64_t longest = model.answer_length(example.tokens.back());
    const std::tuple shared(example.source.size(), example.tokens.size(), longest);
    passes.try_emplace(shared, model, options, longest).first->second.add(n, std::move(example));
  }
  std::vector<WrittenText> written(prompts.size());
  for (auto& [shared, pass] : passes) pass.write(written);
  return written;
}

WrittenText write_after(const TextModel& model, Example example, const WriteOptions& options) {
  require_writing("write_after", model, options);
  SharedPass pass(model, options, 0);
  pass.add(0, std::move(example));
  std::vector<WrittenText> written(1);
  pass.write(written);
  return std::move(written.front());
}

}  // namespace qkv
