#include "model/config.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

#include "core/number_text.h"
#include "model/overloaded.h"

namespace qkv::config_detail {
namespace {

// The shortest digits that give it back.
std::string digits_of(double number) {
  std::array<char, 32> digits{};
  return {digits.data(), std::to_chars(digits.data(), digits.data() + digits.size(), number).ptr};
}

std::string joined(std::string_view name, const std::vector<double>& numbers) {
  std::string text(name);
  for (const double number : numbers) text += " " + digits_of(number);
  return text;
}

}  // namespace

std::string Write::text_of(double value) { return digits_of(value); }

std::string Write::text_of(const RotaryScaling& scaling) {
  const Overloaded text{
      [](std::monostate) { return std::string("none"); },
      [](const LinearScaling& s) { return joined("linear", {s.factor}); },
      [](const NtkScaling& s) { return joined("ntk", {s.factor}); },
      [](const Llama3Scaling& s) {
        return joined("llama3", {s.factor, s.low_freq_factor, s.high_freq_factor, static_cast<double>(s.original_max)});
      },
      [](const LongRopeScaling& s) {
        std::vector<double> numbers = {static_cast<double>(s.original_max), s.shorter_magnitude, s.longer_magnitude};
        numbers.insert(numbers.end(), s.shorter.begin(), s.shorter.end());
        numbers.insert(numbers.end(), s.longer.begin(), s.longer.end());
        return joined("longrope", numbers);
      },
      [](const YarnScaling& s) {
        const std::string numbers = joined("yarn", {s.factor, static_cast<double>(s.original_max), s.beta_fast,
                                                    s.beta_slow, rotary_magnitude({.dim = 2, .scaling = s})});
        return s.truncate ? numbers : numbers + " 0";
      }};
  return std::visit(text, scaling);
}

void Read::operator()(const char* word, std::int64_t& value) const {
  const std::string& digits = text(word);
  const auto number = core::number_from<std::int64_t>(digits);
  if (!number) throw InvalidArgument(function_, word, "a whole number", "\"" + digits + "\"");
  // Products of such numbers are still numbers.
  constexpr std::int64_t kMost = std::int64_t{1} << 31;
  if (*number < -kMost || *number > kMost) {
    throw InvalidArgument(function_, word, "a whole number of at most " + std::to_string(kMost), digits);
  }
  value = *number;
}

void Read::operator()(const char* word, bool& value) const {
  if (text(word) != "yes" && text(word) != "no") {
    throw InvalidArgument(function_, word, "yes or no", "\"" + text(word) + "\"");
  }
  value = text(word) == "yes";
}

void Read::operator()(const char* word, double& value) const {
  const auto number = core::number_from<double>(text(word));
  if (!number) throw InvalidArgument(function_, word, "a number", "\"" + text(word) + "\"");
  value = *number;
}

void Read::operator()(const char* word, RotaryScaling& scaling) const {
  const std::string_view words = text(word);
  const std::size_t end = std::min(words.find(' '), words.size());
  const std::string_view name = words.substr(0, end);
  const std::vector<double> n =
      end == words.size() ? std::vector<double>()
                          : core::numbers_from<double>(words.substr(end + 1), ' ').value_or(std::vector<double>());
  const auto is = [&](std::string_view wanted, std::size_t numbers) { return name == wanted && n.size() == numbers; };
  if (is("none", 0)) {
    scaling = std::monostate{};
  } else if (is("linear", 1)) {
    scaling = LinearScaling{n[0]};
  } else if (is("ntk", 1)) {
    scaling = NtkScaling{n[0]};
  } else if (is("llama3", 4)) {
    scaling = Llama3Scaling{n[0], n[1], n[2], static_cast<std::int64_t>(n[3])};
  } else if (name == "longrope" && n.size() >= 5 && n.size() % 2 == 1) {
    const auto middle = n.begin() + 3 + static_cast<std::ptrdiff_t>((n.size() - 3) / 2);
    scaling = LongRopeScaling{.shorter = {n.begin() + 3, middle},
                              .longer = {middle, n.end()},
                              .original_max = static_cast<std::int64_t>(n[0]),
                              .shorter_magnitude = n[1],
                              .longer_magnitude = n[2]};
  } else if (is("yarn", 5) || (is("yarn", 6) && n[5] == 0)) {
    scaling = YarnScaling{.factor = n[0],
                          .original_max = static_cast<std::int64_t>(n[1]),
                          .beta_fast = n[2],
                          .beta_slow = n[3],
                          .attention_factor = n[4],
                          .truncate = n.size() == 5};
  } else {
    throw InvalidArgument(function_, word, "none, or linear, ntk, yarn, llama3 or longrope with their numbers",
                          "\"" + text(word) + "\"");
  }
}

void Read::operator()(const char* word, Positions& value) const { value = positions_named(text(word)); }

void Read::require_kind(const char* kind) const {
  if (text("kind") != kind) throw InvalidArgument(function_, "kind", kind, "\"" + text("kind") + "\"");
}

const std::string& Read::text(const char* word) const {
  const auto found = config_.find(word);
  if (found == config_.end()) throw InvalidArgument(function_, word, "a value", "none");
  return found->second;
}

}  // namespace qkv::config_detail
