#include "api/models/pass_bounds.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "api/fields/refuse.h"
#include "core/machine_memory.h"
#include "core/number_text.h"
#include "model/long_text.h"

namespace qkv::api_detail {
namespace {

constexpr AnswerBounds kNoBounds;
thread_local const AnswerBounds* bounds_of_thread = nullptr;

std::int64_t layers_of(const Model& model) {
  std::int64_t layers = 0;
  for (const AttentionSite site : {AttentionSite::cross, AttentionSite::tokens, AttentionSite::source}) {
    if (const auto scope = model.scope_of(site)) layers += scope->layers;
  }
  return layers;
}

// How many tokens' pass takes so many bytes.
std::int64_t most_tokens(std::uint64_t bytes, const TextModel& model, PassKeeps keeps) {
  return static_cast<std::int64_t>(bytes / std::max<std::uint64_t>(bytes_of_pass(model, 1, keeps), 1));
}

[[noreturn]] void refuse_pass(std::uint64_t bytes, std::string_view field, std::int64_t tokens,
                              const std::string& got) {
  refuse(
      field,
      fmt::format("at most about {} tokens, whose pass takes {:.1f} GB here", tokens, static_cast<double>(bytes) / 1e9),
      got);
}

std::uint64_t most_bytes_of_passes() {
  const bool is_bounded = answer_bounds().pass_bytes != kNoBounds.pass_bytes;
  return is_bounded ? answer_bounds().pass_bytes : core::machine_memory() / 2;
}

}  // namespace

BoundedAnswers::BoundedAnswers(const AnswerBounds& bounds) : bounds_(bounds), outer_(bounds_of_thread) {
  bounds_of_thread = &bounds_;
}

BoundedAnswers::~BoundedAnswers() { bounds_of_thread = outer_; }

const AnswerBounds& answer_bounds() noexcept { return bounds_of_thread == nullptr ? kNoBounds : *bounds_of_thread; }

std::uint64_t bytes_of_pass(const TextModel& model, std::int64_t tokens, PassKeeps keeps) {
  constexpr double kScores = 2;  // of the vocabulary, twice
  constexpr double kKept = 5;    // q, k, v, out, and what is joined from them
  constexpr double kOneLayer = 16;
  const ModelConfig config = model.model().config();
  const auto width = config.find("d_model");
  const double d_model =
      static_cast<double>(width == config.end() ? 1024 : core::number_from<std::int64_t>(width->second).value_or(1024));
  double each = kOneLayer * d_model;
  if (keeps != PassKeeps::nothing) each += kKept * static_cast<double>(layers_of(model.model())) * d_model;
  if (keeps == PassKeeps::layers_and_scores) each += kScores * static_cast<double>(model.tokenizer().size());
  return static_cast<std::uint64_t>(static_cast<double>(tokens) * each * static_cast<double>(sizeof(float)));
}

void require_pass_within(std::uint64_t most, std::string_view field, const TextModel& model, std::int64_t tokens,
                         PassKeeps keeps) {
  const std::uint64_t bytes = bytes_of_pass(model, tokens, keeps);
  if (bytes <= most) return;
  refuse_pass(most, field, most_tokens(most, model, keeps),
              fmt::format("{}, whose pass takes {:.1f} GB", tokens, static_cast<double>(bytes) / 1e9));
}

void require_pass(std::string_view field, const TextModel& model, const std::string& text, PassKeeps keeps,
                  std::optional<std::int64_t> read_at_most) {
  if (model.lengths().image_side > 0 || model.traits().reads_sound) return;
  const bool is_bounded = answer_bounds().pass_bytes != kNoBounds.pass_bytes;
  const std::uint64_t bytes = most_bytes_of_passes();
  const std::int64_t most = most_tokens(bytes, model, keeps);
  if (read_at_most && *read_at_most <= most) return;
  // Few characters have more tokens than bytes, and none has many more: most texts need not be cut here.
  constexpr std::int64_t kTokensOfByte = 8;
  if (!is_bounded && std::ssize(text) <= most / kTokensOfByte) return;
  const auto seen = of_field(field, [&] { return model_detail::seen_to_be_longer(model.reader(), text, most); });
  if (seen) refuse_pass(bytes, field, most, *seen);
  const Example example = model.example_of(text, {kRequest, field});
  const std::int64_t tokens = std::max(std::ssize(example.tokens), std::ssize(example.source));
  require_pass_within(bytes, field, model, std::min(tokens, read_at_most.value_or(tokens)), keeps);
}

void require_pass_of(std::string_view field, const TextModel& model, std::int64_t tokens, PassKeeps keeps) {
  require_pass_within(most_bytes_of_passes(), field, model, tokens, keeps);
}

void require_passes(const Texts& texts, const TextModel& model, PassKeeps keeps,
                    std::optional<std::int64_t> read_at_most) {
  for (std::size_t n = 0; n < texts.texts.size(); ++n) {
    const std::string place = texts.place_of(fmt::format("texts[{}]", n)).value_or(texts.field);
    require_pass(place, model, texts.texts[n], keeps, read_at_most);
  }
}

}  // namespace qkv::api_detail
