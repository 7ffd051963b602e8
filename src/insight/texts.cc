#include "qkv/insight/texts.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <set>

#include "core/counted.h"
#include "core/said_of.h"
#include "insight/asked_text.h"
#include "insight/outcome.h"
#include "model/mask_token.h"
#include "qkv/model/relation_scores.h"

namespace qkv {
namespace {

constexpr const char* kHeadTexts = "head_texts";

constexpr std::array<std::string_view, 8> kSeparators = {"<s>",   "</s>",  "<pad>", "<unknown>",
                                                         "[CLS]", "[SEP]", "[PAD]", "<|endoftext|>"};

// A piece without what marks its place in a word.
std::string_view bare(std::string_view piece) {
  for (const std::string_view mark : {"##", "▁", " "}) {
    if (piece.size() > mark.size() && piece.starts_with(mark)) piece.remove_prefix(mark.size());
  }
  return piece;
}

bool is_punctuation(char letter) {
  const bool is_visible = letter > ' ' && letter < 127;
  const bool is_digit = letter >= '0' && letter <= '9';
  const bool is_letter = (letter >= 'A' && letter <= 'Z') || (letter >= 'a' && letter <= 'z');
  return is_visible && !is_digit && !is_letter;
}

TokenRole role_of(const Tokenizer& tokenizer, std::int32_t id) {
  const std::string& piece = tokenizer.piece(id);
  const bool is_known = std::ranges::find(kSeparators, std::string_view(piece)) != kSeparators.end();
  const bool is_special = piece.size() > 1 && tokenizer.decode(std::span(&id, 1)).empty() &&
                          !tokenizer.decode(std::span(&id, 1), SpecialTokens::with).empty();
  if (is_known || is_special) return TokenRole::separator;
  const std::string bytes = tokenizer.bytes(id);
  const std::string_view text = bare(bytes);
  return !text.empty() && std::ranges::all_of(text, is_punctuation) ? TokenRole::punctuation : TokenRole::word;
}

std::vector<std::int64_t> numbers_in(const TensorView& row) {
  const std::vector<double> values = row.to_vector();
  return {values.begin(), values.end()};
}

void ask_for_each_next(HeadText& text) {
  text.targets.assign(text.ids.begin() + 1, text.ids.end());
  text.targets.push_back(kNothingAsked);
}

}  // namespace

namespace insight {

std::vector<TokenRole> roles_of(const TextModel& trained, const std::vector<std::int64_t>& ids,
                                const Tokenizer& tokenizer) {
  std::vector<TokenRole> roles;
  for (const std::int64_t id : ids) {
    const bool is_source = id >= tokenizer.size();
    const Tokenizer& own = is_source ? trained.source_tokenizer() : tokenizer;
    const std::int64_t number = is_source ? id - tokenizer.size() : id;
    roles.push_back(number < own.size() ? role_of(own, static_cast<std::int32_t>(number)) : TokenRole::word);
  }
  return roles;
}

HeadText head_text_of(const TextModel& trained, const Example& example) {
  const Batch batch = trained.batch_of(example);
  HeadText text;
  if (batch.lengths.front() > 0) text.ids = numbers_in(batch.ids.view().select(0, 0));  // an image may stand alone
  text.roles = roles_of(trained, text.ids, trained.tokenizer());
  if (!batch.source.empty()) {
    text.source = numbers_in(batch.source.view().select(0, 0));
    text.source_roles = roles_of(trained, text.source, trained.source_tokenizer());
  }
  text.image = example.image;
  text.sound = example.sound;
  if (trained.traits().is_pair) return text;
  text.targets = numbers_in(batch.targets.view().select(0, 0));
  for (const std::int64_t is_scored : numbers_in(batch.scored.view().select(0, 0))) {
    text.scored.push_back(is_scored != 0);
  }
  const bool asks = std::ranges::any_of(text.targets, [](std::int64_t target) { return target >= 0; });
  if (!asks) {
    text.targets.clear();
    text.scored.clear();
  }
  if (!asks && trained.traits().goes_on) ask_for_each_next(text);
  return text;
}

std::string shown_token_of(const TextModel& trained, std::int32_t token) {
  const Tokenizer& own = trained.tokenizer();
  if (token < own.size()) return shown_token(own, token);
  const Tokenizer& source = trained.source_tokenizer();
  const auto number = static_cast<std::int32_t>(token - own.size());
  return number < source.size() ? shown_token(source, number) : fmt::format("#{}", token);
}

std::vector<std::string> shown_tokens(const TextModel& trained, const HeadText& text) {
  std::vector<std::string> shown;
  for (const std::int64_t id : text.ids) shown.push_back(shown_token_of(trained, static_cast<std::int32_t>(id)));
  return shown;
}

}  // namespace insight

namespace {

// Every text begins with this separator.
std::optional<std::int64_t> common_begin(const std::vector<HeadText>& texts) {
  const HeadText& first = texts.front();
  if (first.roles.front() != TokenRole::separator) return std::nullopt;
  const auto begins_so = [&](const HeadText& text) { return text.ids.front() == first.ids.front(); };
  return std::ranges::all_of(texts, begins_so) ? std::optional(first.ids.front()) : std::nullopt;
}

std::vector<std::int64_t> tokens_to_draw(const TextModel& trained, const std::vector<HeadText>& texts) {
  std::vector<std::int64_t> tokens;
  if (!trained.has_task()) {
    const Tokenizer& tokenizer = trained.tokenizer();
    for (std::int32_t id = 0; id < tokenizer.size(); ++id) {
      if (role_of(tokenizer, id) != TokenRole::separator) tokens.push_back(id);
    }
    return tokens;
  }
  std::set<std::int64_t> seen;
  for (const HeadText& text : texts) {
    for (std::size_t p = 0; p < text.ids.size(); ++p) {
      if (text.roles[p] == TokenRole::word) seen.insert(text.ids[p]);
    }
  }
  return {seen.begin(), seen.end()};
}

RepeatedTokens repeats_of(const TextModel& trained, const std::vector<HeadText>& texts) {
  RepeatedTokens repeats;
  if (!trained.traits().goes_on) return repeats;
  repeats.tokens = tokens_to_draw(trained, texts);
  repeats.begin = common_begin(texts);
  const TextLengths& lengths = trained.lengths();
  const std::int64_t places = lengths.tokens + lengths.source;
  if (places > 0) repeats.half = std::min(repeats.half, (places - (repeats.begin ? 1 : 0)) / 2);
  if (repeats.half < 2) repeats.tokens.clear();
  return repeats;
}

// An encoder that fills gaps and is asked for nothing by a task of its own.
MaskedTokens masks_of(const TextModel& trained) {
  MaskedTokens masks;
  if (!trained.traits().fills || !trained.model().scores_tokens() || trained.has_examples()) return masks;
  const Tokenizer& tokenizer = trained.tokenizer();
  for (std::int32_t id = 0; id < tokenizer.size() && !masks.mask; ++id) {
    if (is_mask_token(tokenizer.piece(id))) masks.mask = id;
  }
  return masks;
}

HeadTexts collected(const TextModel& trained, std::vector<HeadText> texts, std::string described) {
  HeadTexts all{.texts = std::move(texts), .repeats = {}, .described = std::move(described)};
  all.repeats = repeats_of(trained, all.texts);
  all.masks = masks_of(trained);
  all.shown = insight::shown_tokens(trained, all.texts.front());
  return all;
}

// Whether a text's tokens are those that the model writes.
bool is_answered(const TextModel& trained) { return trained.traits().reads_source || trained.traits().reads_sound; }

// Without tokens of its own a decoder would have one row, which sees one key.
void write_tokens(const TextModel& trained, std::vector<Example>& examples) {
  constexpr std::int64_t kMostWritten = 16;
  if (!is_answered(trained)) return;
  const std::int64_t most = trained.has_task() ? trained.lengths().tokens - 1 : kMostWritten;
  insight::write_answers(trained, std::max<std::int64_t>(most, 0), examples);
}

// The class that the model finds likeliest, where it tells some apart.
void ask_for_class(const TextModel& trained, HeadText& text) {
  if (insight::outcome_of(trained.model()) != insight::Outcome::classes) return;
  Trace trace(insight::outcome_names(trained.model()));
  const std::vector<double> scores = insight::run_outcome(trained.model(), text, trace).to_vector();
  text.targets = {std::ranges::max_element(scores) - scores.begin()};
}

HeadTexts own_texts(const TextModel& trained, std::vector<Example> examples, std::string described) {
  write_tokens(trained, examples);
  std::vector<HeadText> all;
  for (Example& example : examples) {
    trained.mark(example);
    all.push_back(insight::head_text_of(trained, example));
    if (trained.traits().sees) ask_for_class(trained, all.back());
    const bool is_written = is_answered(trained) && all.back().targets.empty();
    if (is_written) ask_for_each_next(all.back());
  }
  return collected(trained, std::move(all), std::move(described));
}

}  // namespace

HeadTexts head_texts(const TextModel& trained, std::span<const std::string> texts) {
  if (texts.empty()) throw InvalidArgument(kHeadTexts, "texts", "one or more", "none");
  if (trained.traits().reads_images && !trained.traits().is_pair) {
    throw InvalidArgument(kHeadTexts, "texts", "none of a model that reads images",
                          std::string(name_of(trained.kind())) + " and " + core::counted(texts.size(), "text"));
  }
  std::vector<Example> examples;
  for (std::size_t n = 0; n < texts.size(); ++n) {
    examples.push_back(trained.example_of(texts[n], {kHeadTexts, fmt::format("texts[{}]", n)}));
  }
  return own_texts(trained, std::move(examples), core::counted(texts.size(), "text"));
}

HeadTexts head_texts(const TextModel& trained, std::span<const Shown> shown, std::string_view field) {
  if (shown.empty()) throw InvalidArgument(kHeadTexts, field, "one or more", "none");
  std::vector<Example> examples;
  for (std::size_t n = 0; n < shown.size(); ++n) {
    const std::string place = fmt::format("{}[{}]", field, n);
    examples.push_back(
        core::said_of(kHeadTexts, place, [&] { return read_shown(trained, shown[n], kHeadTexts).example; }));
  }
  const Shown& first = shown.front();
  const char* const what = first.sound ? "sound" : first.picture.empty() ? "conversation" : "picture";
  return own_texts(trained, std::move(examples), core::counted(shown.size(), what));
}

HeadTexts head_texts(const TextModel& trained, std::int64_t count) {
  if (count < 1) throw InvalidArgument(kHeadTexts, "count", "1 or more", std::to_string(count));
  const Examples& examples = trained.examples();
  std::vector<HeadText> all;
  TaskPatterns patterns{.relations = examples.relations(), .texts = {}};
  const std::int64_t most = held_out_examples(examples, count);
  for (std::int64_t n = 0; n < most; ++n) {
    Example example = examples.example(Split::test, n);
    all.push_back(insight::head_text_of(trained, example));
    patterns.texts.push_back(
        {.rows = std::move(example.patterns), .before = trained.traits().goes_on ? std::ssize(example.source) : 0});
  }
  HeadTexts texts =
      collected(trained, std::move(all),
                core::counted(static_cast<std::size_t>(most), "held-out example") + " of " + trained.task_name());
  texts.patterns = std::move(patterns);
  return texts;
}

}  // namespace qkv
