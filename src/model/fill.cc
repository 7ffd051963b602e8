#include "qkv/model/fill.h"

#include <algorithm>
#include <array>
#include <string>

#include "core/listed.h"
#include "qkv/error.h"

namespace qkv {
namespace {

constexpr const char* kFillGaps = "fill_gaps";

// The first few pieces in angle brackets that mean no end of a text.
std::string gaps_of(const Tokenizer& tokenizer) {
  constexpr std::array<std::string_view, 4> kOthers = {"<pad>", "<s>", "</s>", "<unknown>"};
  constexpr std::size_t kShown = 4;
  std::vector<std::string> names;
  for (std::int32_t id = 0; id < tokenizer.size() && names.size() < kShown; ++id) {
    const std::string& piece = tokenizer.piece(id);
    const bool is_gap = piece.starts_with('<') && piece.ends_with('>') &&
                        std::ranges::find(kOthers, std::string_view(piece)) == kOthers.end();
    if (is_gap) names.push_back(piece);
  }
  return core::joined(names);
}

}  // namespace

std::vector<FilledMask> fill_gaps(const TextModel& model, std::string_view text, std::int64_t count) {
  const Tokenizer& tokenizer = model.tokenizer();
  const bool has_mask = tokenizer.find("[MASK]") || tokenizer.find("<mask>");
  if (!model.has_task() || has_mask || !model.traits().fills) {
    return fill_masks(model.model(), text, count);
  }
  const Example example = model.example_of(text);
  const std::vector<bool> asked = model.asked(example);
  std::vector<std::int64_t> places;
  for (std::size_t n = 0; n < asked.size(); ++n) {
    if (asked[n]) places.push_back(static_cast<std::int64_t>(n));
  }
  if (!places.empty()) return fill_places(model.model(), example.tokens, places, count);
  const std::string gaps = gaps_of(tokenizer);
  throw InvalidArgument(kFillGaps, "text", "a text with a gap" + (gaps.empty() ? "" : ", such as " + gaps), "none");
}

}  // namespace qkv
