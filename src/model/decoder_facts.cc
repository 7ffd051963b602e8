#include <array>
#include <charconv>

#include "qkv/model/decoder.h"

namespace qkv::learn {
namespace {

using Facts = std::map<std::string, std::string>;

constexpr const char* kFunction = "decoder_options";
constexpr std::array<Positions, 6> kPositions = {Positions::none,   Positions::sinusoidal, Positions::learned,
                                                 Positions::rotary, Positions::alibi,      Positions::t5};

const std::string& fact(const Facts& facts, const std::string& word) {
  const auto found = facts.find(word);
  if (found == facts.end()) throw InvalidArgument(kFunction, word, "a value", "none");
  return found->second;
}

std::int64_t number(const Facts& facts, const std::string& word) {
  const std::string& text = fact(facts, word);
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error == std::errc() && end == text.data() + text.size()) return value;
  throw InvalidArgument(kFunction, word, "a whole number", "\"" + text + "\"");
}

void require_word(const Facts& facts, const std::string& word, const std::string& a, const std::string& b) {
  const std::string& text = fact(facts, word);
  if (text != a && text != b)
    throw InvalidArgument(kFunction, word, b.empty() ? a : a + " or " + b, "\"" + text + "\"");
}

}  // namespace

std::string_view name_of(Positions positions) noexcept {
  constexpr std::array<std::string_view, 6> kNames = {"none", "sinusoidal", "learned", "rotary", "alibi", "t5"};
  return kNames[static_cast<std::size_t>(positions)];
}

Positions positions_named(std::string_view name) {
  std::string names;
  for (const Positions positions : kPositions) {
    if (name == name_of(positions)) return positions;
    names += (names.empty() ? "" : ", ") + std::string(name_of(positions));
  }
  throw InvalidArgument("positions_named", "name", "one of " + names, "\"" + std::string(name) + "\"");
}

std::map<std::string, std::string> facts_of(const DecoderOptions& options) {
  return {{"kind", "decoder"},
          {"vocabulary", std::to_string(options.vocabulary)},
          {"length", std::to_string(options.length)},
          {"layers", std::to_string(options.layers)},
          {"d_model", std::to_string(options.d_model)},
          {"heads", std::to_string(options.heads)},
          {"d_ff", std::to_string(options.d_ff.value_or(4 * options.d_model))},
          {"positions", std::string(name_of(options.positions))},
          {"tied", options.tied ? "yes" : "no"}};
}

DecoderOptions decoder_options(const std::map<std::string, std::string>& facts) {
  require_word(facts, "kind", "decoder", "");
  require_word(facts, "tied", "yes", "no");
  return {.vocabulary = number(facts, "vocabulary"),
          .length = number(facts, "length"),
          .layers = number(facts, "layers"),
          .d_model = number(facts, "d_model"),
          .heads = number(facts, "heads"),
          .d_ff = number(facts, "d_ff"),
          .positions = positions_named(fact(facts, "positions")),
          .tied = fact(facts, "tied") == "yes"};
}

}  // namespace qkv::learn
