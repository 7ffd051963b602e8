#include "train/tasks/text_window.h"

#include "model/mask_token.h"
#include "qkv/error.h"
#include "train/tasks/generated_task.h"

namespace qkv::training {
namespace {

constexpr const char* kTextTask = "make_text_task";
constexpr std::uint32_t kChanged = 15;  // percent

std::int32_t mask_of(const Tokenizer& tokenizer) {
  for (std::int32_t id = 0; id < tokenizer.size(); ++id) {
    if (is_mask_token(tokenizer.piece(id))) return id;
  }
  throw InvalidArgument(kTextTask, "tokenizer", "one with a token for a gap, [MASK] or <mask>", "none such");
}

}  // namespace

TextWindow::TextWindow(const TextTaskOptions& options)
    : objective_(options.objective), size_(options.length), start_(options.start) {
  if (options.length < 1) throw InvalidArgument(kTextTask, "length", "1 or more", std::to_string(options.length));
  if (objective_ == TextObjective::next) return;
  if (options.tokenizer == nullptr) throw InvalidArgument(kTextTask, "tokenizer", "one for this objective", "none");
  bool has_text = false;
  const Encoding around = options.tokenizer->encode("a");
  for (std::size_t n = 0; n < around.ids.size(); ++n) {
    const bool is_added = around.sources[n] == TokenSource::added;
    has_text = has_text || !is_added;
    if (is_added) (has_text ? after_ : before_).push_back(around.ids[n]);
  }
  size_ -= static_cast<std::int64_t>(before_.size() + after_.size());
  const std::int64_t least = objective_ == TextObjective::continued ? 2 : 1;  // a token in each half
  if (size_ < least) {
    const std::int64_t added = options.length - size_;
    throw InvalidArgument(
        kTextTask, "length",
        std::to_string(added + least) + " or more, of which " + std::to_string(added) + " are special tokens",
        std::to_string(options.length));
  }
  if (objective_ == TextObjective::masked) mask_ = mask_of(*options.tokenizer);
  pieces_ = static_cast<std::uint32_t>(options.tokenizer->size());
}

TextLengths TextWindow::lengths() const noexcept {
  const auto added = static_cast<std::int64_t>(before_.size() + after_.size());
  if (objective_ == TextObjective::continued) return {.tokens = size_ - size_ / 2, .source = size_ / 2 + added};
  return {.tokens = size_ + added};
}

Example TextWindow::example(std::span<const std::int32_t> tokens, TaskRandom& random) const {
  switch (objective_) {
    case TextObjective::masked:
      return masked(tokens.first(tokens.size() - 1), random);
    case TextObjective::continued:
      return continued(tokens.first(tokens.size() - 1));
    case TextObjective::next:
      break;
  }
  return next(tokens);
}

Example TextWindow::next(std::span<const std::int32_t> tokens) const {
  Example example;
  example.tokens.assign(tokens.begin(), tokens.end() - 1);
  example.labels.assign(tokens.begin() + 1, tokens.end());
  example.scored.assign(example.tokens.size(), true);
  return example;
}

Example TextWindow::masked(std::span<const std::int32_t> tokens, TaskRandom& random) const {
  std::vector<std::int32_t> all = before_;
  all.insert(all.end(), tokens.begin(), tokens.end());
  all.insert(all.end(), after_.begin(), after_.end());
  Example example = blank_example(std::move(all), 0);
  bool is_asked = false;
  for (std::size_t n = 0; n < tokens.size(); ++n) {
    if (!random.percent(kChanged)) continue;
    change(example, before_.size() + n, random);
    is_asked = true;
  }
  if (!is_asked) {
    change(example, before_.size() + random.below(static_cast<std::uint32_t>(tokens.size())), random);
  }
  return example;
}

void TextWindow::change(Example& example, std::size_t place, TaskRandom& random) const {
  ask(example, static_cast<std::int64_t>(place), example.tokens[place]);
  const std::uint32_t tenth = random.below(10);
  if (tenth < 8) {
    example.tokens[place] = mask_;
  } else if (tenth == 8) {
    example.tokens[place] = static_cast<std::int32_t>(random.below(pieces_));
  }
}

Example TextWindow::continued(std::span<const std::int32_t> tokens) const {
  const std::span<const std::int32_t> first = tokens.first(tokens.size() / 2);
  const std::span<const std::int32_t> rest = tokens.subspan(first.size());
  Example example;
  example.source = before_;
  example.source.insert(example.source.end(), first.begin(), first.end());
  example.source.insert(example.source.end(), after_.begin(), after_.end());
  example.tokens = {start_};
  example.tokens.insert(example.tokens.end(), rest.begin(), rest.end() - 1);
  example.labels.assign(rest.begin(), rest.end());
  example.scored.assign(rest.size(), true);
  return example;
}

}  // namespace qkv::training
