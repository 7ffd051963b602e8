#include "api/models/pass_bounds.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "api/fields/refuse.h"
#include "core/number_text.h"

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
  const double share = static_cast<double>(most) / static_cast<double>(bytes);
  refuse(field,
         fmt::format("at most about {} tokens, whose pass takes {:.1f} GB here",
                     static_cast<std::int64_t>(share * static_cast<double>(tokens)), static_cast<double>(most) / 1e9),
         fmt::format("{}, whose pass takes {:.1f} GB", tokens, static_cast<double>(bytes) / 1e9));
}

void require_pass(std::string_view field, const TextModel& model, const std::string& text, PassKeeps keeps) {
  if (answer_bounds().pass_bytes == kNoBounds.pass_bytes || model.lengths().image_side > 0) return;
  const Example example = model.example_of(text, {kRequest, field});
  const std::int64_t tokens = std::max(std::ssize(example.tokens), std::ssize(example.source));
  require_pass_within(answer_bounds().pass_bytes, field, model, tokens, keeps);
}

void require_passes(const Texts& texts, const TextModel& model, PassKeeps keeps) {
  for (std::size_t n = 0; n < texts.texts.size(); ++n) {
    const std::string place = texts.place_of(fmt::format("texts[{}]", n)).value_or(texts.field);
    require_pass(place, model, texts.texts[n], keeps);
  }
}

}  // namespace qkv::api_detail
