#include "qkv/model/write_text.h"

#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <tuple>

#include "core/said_of.h"
#include "qkv/error.h"

namespace qkv {
namespace {

constexpr std::string_view kReplaced = "\xEF\xBF\xBD";  // U+FFFD, for a character of which bytes are missing
constexpr std::size_t kLongestCharacter = 4;

/// One text as it grows. A stop is looked for in the text that is shown, and in the one that shows special tokens, too:
/// there it may hold whole special tokens, not letters of one.
class GrowingText {
 public:
  GrowingText(const Tokenizer& tokenizer, const std::vector<std::string>& stops, std::span<const std::int32_t> prompt)
      : tokenizer_(tokenizer), stops_(stops), all_(prompt.begin(), prompt.end()), prompt_(prompt.size()) {
    before_ = tokenizer_.decode(all_);
    before_marked_ = tokenizer_.decode(all_, SpecialTokens::with);
  }

  // The part that is certain now.
  std::string add(std::int32_t token) {
    all_.push_back(token);
    text_ = behind_prompt(all_.size(), SpecialTokens::without);
    has_special_ = has_special_ || (!stops_.empty() && is_special(token));
    if (has_special_) marked_ = behind_prompt(all_.size(), SpecialTokens::with);
    if (!stops_.empty() && is_special(token)) {
      special_.push_back(last_mark(token));
    }
    for (const std::string& stop : stops_) {
      end_at(text_.find(stop));
      const std::size_t place = has_special_ ? marked_place(stop) : std::string::npos;
      if (place != std::string::npos) end_at(shown_before(place));
    }
    return said_up_to(has_stopped_ ? end_ : text_.size() - uncertain());
  }
  // What was held back, once nothing follows.
  std::string rest() { return said_up_to(has_stopped_ ? end_ : text_.size()); }

  [[nodiscard]] bool has_stopped() const noexcept { return has_stopped_; }
  [[nodiscard]] WrittenText written(WriteEnd end) const {
    return {.text = has_stopped_ ? text_.substr(0, end_) : text_,
            .tokens = {all_.begin() + static_cast<std::ptrdiff_t>(prompt_), all_.end()},
            .end = has_stopped_ ? WriteEnd::stop : end};
  }

 private:
  void end_at(std::size_t place) noexcept {
    if (place == std::string::npos || place >= end_) return;
    end_ = place;
    has_stopped_ = true;
  }

  // Where a stop stands that cuts no special token; npos if it stands nowhere so.
  [[nodiscard]] std::size_t marked_place(const std::string& stop) const {
    std::size_t place = marked_.find(stop);
    const auto is_cut = [&](const Span& token) {
      const std::size_t end = place + stop.size();
      const bool is_apart = end <= token.begin || place >= token.end;
      return !is_apart && (place > token.begin || end < token.end);
    };
    while (place != std::string::npos && std::ranges::any_of(special_, is_cut)) place = marked_.find(stop, place + 1);
    return place;
  }

  struct Span {
    std::size_t begin;
    std::size_t end;
  };

  // Where the last token stands, without what a decoder puts between tokens.
  [[nodiscard]] Span last_mark(std::int32_t token) const {
    const std::array one = {token};
    const std::size_t end = marked_.size();
    return {.begin = end - std::min(end, tokenizer_.decode(one, SpecialTokens::with).size()), .end = end};
  }

  [[nodiscard]] bool is_special(std::int32_t token) const {
    const std::array one = {token};
    return tokenizer_.decode(one).empty() && !tokenizer_.decode(one, SpecialTokens::with).empty();
  }

  // Of the first `count` tokens. A decoder may change what stands at the beginning of a text, so the prompt's end is
  // found in the whole.
  [[nodiscard]] std::string behind_prompt(std::size_t count, SpecialTokens special) const {
    const std::string& before = special == SpecialTokens::with ? before_marked_ : before_;
    const std::span<const std::int32_t> tokens = std::span(all_).first(count);
    const std::string whole = tokenizer_.decode(tokens, special);
    if (prompt_ > 0 && whole.starts_with(before)) return whole.substr(before.size());
    return tokenizer_.decode(tokens.subspan(prompt_), special);
  }

  // How much is shown of what stands before a place of the text with special tokens.
  [[nodiscard]] std::size_t shown_before(std::size_t place) const {
    std::size_t begin = 0;
    for (std::size_t count = prompt_; count < all_.size(); ++count) {
      const std::size_t end = behind_prompt(count + 1, SpecialTokens::with).size();
      if (end > place) {
        const std::size_t shown = behind_prompt(count, SpecialTokens::without).size();
        const std::size_t part = is_special(all_[count]) ? 0 : place - std::min(begin, place);
        return std::min(shown + part, text_.size());
      }
      begin = end;
    }
    return text_.size();
  }

  // Bytes at the end that are the beginning of a stop, more than `held` of them, or `held`.
  [[nodiscard]] std::size_t begun_stop(const std::string& text, std::size_t held) const {
    for (const std::string& stop : stops_) {
      for (std::size_t size = std::min(stop.size(), text.size()); size > held; --size) {
        if (text.ends_with(std::string_view(stop).substr(0, size))) held = size;
      }
    }
    return held;
  }

  // Bytes at the end that may still change: a broken character, or the beginning of a stop.
  [[nodiscard]] std::size_t uncertain() const {
    std::size_t held = 0;
    for (std::size_t n = 0;
         n < kLongestCharacter && std::string_view(text_).substr(0, text_.size() - held).ends_with(kReplaced); ++n) {
      held += kReplaced.size();
    }
    held = begun_stop(text_, held);
    const std::size_t marked = has_special_ ? begun_stop(marked_, 0) : 0;
    return marked == 0 ? held : std::max(held, text_.size() - shown_before(marked_.size() - marked));
  }

  std::string said_up_to(std::size_t end) {
    if (end <= said_) return "";
    std::string part = text_.substr(said_, end - said_);
    said_ = end;
    return part;
  }

  const Tokenizer& tokenizer_;
  const std::vector<std::string>& stops_;
  std::vector<std::int32_t> all_;
  std::size_t prompt_;
  std::string before_;         // the text of the prompt
  std::string before_marked_;  // … with special tokens
  std::string text_;
  std::string marked_;         // … with special tokens, once there is one
  std::vector<Span> special_;  // its special tokens there
  bool has_special_ = false;
  std::size_t said_ = 0;
  std::size_t end_ = std::string::npos;
  bool has_stopped_ = false;
};

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
      const bool goes_on = example.source.empty() && example.image.empty();
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
    if (!places || !model_.traits().reads_source) return std::numeric_limits<std::int64_t>::max();
    return *places - std::ssize(examples_.front().tokens) + 1;
  }

  // Of a text that was read up to its last token, or up to what an end was written after.
  [[nodiscard]] std::int64_t unread(std::size_t n, const WrittenText& written, const GenerateOptions& draw) const {
    const std::int64_t last = written.end == WriteEnd::token ? 0 : 1;
    const std::int64_t read = std::ssize(examples_[n].tokens) + std::ssize(written.tokens) - last;
    return draw.window ? std::max<std::int64_t>(read - *draw.window, 0) : 0;
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
    written.unread = unread(n, written, draw);
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

Example example_of(const TextModel& model, std::span<const std::string> prompts, std::size_t n) {
  const std::string name = "prompts[" + std::to_string(n) + "]";
  return core::said_of("write_texts", name, [&] { return model.example_of(prompts[n]); });
}

void require_in_bounds(const char* option, std::int64_t value, std::int64_t least, std::int64_t most) {
  if (value >= least && value <= most) return;
  throw InvalidArgument("write_texts", option, "from " + std::to_string(least) + " to " + std::to_string(most),
                        std::to_string(value));
}

}  // namespace

std::string_view name_of(WriteEnd end) noexcept {
  constexpr std::array<std::string_view, 4> kNames = {"token", "stop", "length", "positions"};
  return kNames[static_cast<std::size_t>(end)];
}

std::vector<WrittenText> write_texts(const TextModel& model, std::span<const std::string> prompts,
                                     const WriteOptions& options) {
  if (!model.traits().writes) {
    throw InvalidArgument("write_texts", "model", "one that writes",
                          "one of kind " + std::string(name_of(model.kind())));
  }
  if (!model.model().scores_tokens()) {
    throw InvalidArgument("write_texts", "model", "one that writes",
                          "one that gives states alone, without the map that says which token a state stands for");
  }
  if (model.lengths().image_side > 0) {
    throw InvalidArgument("write_texts", "model", "one that reads texts", "one that reads images");
  }
  require_in_bounds("most", options.draw.most, 0, kMostNewTokens);
  require_in_bounds("beams", options.draw.beams, 1, kMostBeams);
  for (const std::string& stop : options.stops) {
    if (stop.empty()) throw InvalidArgument("write_texts", "stops", "texts of a character or more", "an empty one");
  }
  std::map<std::tuple<std::size_t, std::size_t, std::int64_t>, SharedPass> passes;
  for (std::size_t n = 0; n < prompts.size(); ++n) {
    Example example = example_of(model, prompts, n);
    const std::int64_t longest = model.answer_length(example.tokens.back());
    const std::tuple shared(example.source.size(), example.tokens.size(), longest);
    passes.try_emplace(shared, model, options, longest).first->second.add(n, std::move(example));
  }
  std::vector<WrittenText> written(prompts.size());
  for (auto& [shared, pass] : passes) pass.write(written);
  return written;
}

}  // namespace qkv
