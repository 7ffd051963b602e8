#include "cli/effects.h"

#include <algorithm>
#include <fstream>
#include <iterator>

namespace qkv::tests {
namespace {

std::vector<std::string> parted(const std::string& line) {
  std::vector<std::string> parts;
  std::size_t begin = 0;
  for (std::size_t end = line.find(" |"); end != std::string::npos; end = line.find(" |", begin)) {
    parts.push_back(line.substr(begin, end - begin));
    begin = end + 2;
  }
  parts.push_back(line.substr(begin));
  return parts;
}

Words without(Words words, const DescribedOption& option) {
  const auto at = std::ranges::find(words, option.name);
  if (at != words.end()) words.erase(at, at + (option.is_flag() ? 1 : 2));
  return words;
}

}  // namespace

Words words_of(const std::string& text) {
  Words words;
  bool is_quoted = false, is_open = false;
  for (const char c : text) {
    if (c == '"') {
      is_quoted = !is_quoted;
      if (!is_open) words.emplace_back();
      is_open = true;
    } else if (c == ' ' && !is_quoted) {
      is_open = false;
    } else {
      if (!is_open) words.emplace_back();
      is_open = true;
      words.back() += c;
    }
  }
  return words;
}

Effects read_effects() {
  Effects effects;
  std::ifstream file(QKV_EFFECTS);
  for (std::string line; std::getline(file, line);) {
    if (line.empty() || line.front() == '#') continue;
    const std::vector<std::string> parts = parted(line);
    if (parts.size() == 1) {
      const std::size_t colon = line.find(':');
      effects.requests[line.substr(0, colon)] = words_of(line.substr(colon + 1));
      continue;
    }
    if (parts.at(1).starts_with(" nothing: ")) {
      effects.without_effect.insert(parts[0]);
      continue;
    }
    Effect effect;
    const Words before = words_of(parts.at(1));
    if (!before.empty()) effect.before = before == Words{"(none)"} ? Words{} : before;
    effect.added = words_of(parts.at(2));
    effect.is_whole = effect.added.front() == "=";
    if (effect.is_whole) effect.added.erase(effect.added.begin());
    if (parts.size() > 3) {
      effect.code = std::stoi(parts[3]);
      effect.why = parts[3].substr(std::min(parts[3].find(": "), parts[3].size()));
    }
    effects.of_option[parts[0]] = effect;
  }
  return effects;
}

Effect Effects::of(const DescribedOption& option) const {
  const auto row = of_option.find(option.command + " " + option.name);
  if (row != of_option.end()) return row->second;
  Effect effect;
  effect.added = option.words();
  return effect;
}

// Another value is held against the one that the request has: without any, a default may be much work.
Words Effects::before(const DescribedOption& option) const {
  const Effect effect = of(option);
  const Words words = effect.before.value_or(requests.at(option.command));
  const auto at = std::ranges::find(words, option.name);
  const bool is_other = at != words.end() && !option.is_flag() && effect.added.front() == option.name &&
                        effect.added.at(1) != *std::next(at);
  return effect.is_whole || is_other ? words : without(words, option);
}

Words Effects::after(const DescribedOption& option) const {
  const Effect effect = of(option);
  if (effect.is_whole) return effect.added;
  Words words = without(before(option), option);
  words.insert(words.end(), effect.added.begin(), effect.added.end());
  return words;
}

bool Effects::is_on_plain(const DescribedOption& option) const {
  const Words& plain = requests.at(option.command);
  const Effect effect = of(option);
  const bool is_there = std::ranges::find(plain, option.name) != plain.end();
  return is_there || (effect.added == option.words() && effect.before.value_or(plain) == plain);
}

bool Effects::is_excused(const DescribedOption& option) const {
  return without_effect.contains(option.command + " " + option.name) || without_effect.contains("* " + option.name);
}

bool Effects::is_excused_beside_json(const DescribedOption& option) const {
  return without_effect.contains(option.command + " " + option.name + std::string(kBesideJson));
}

bool Effects::is_without_effect(const DescribedOption& option) const {
  return is_excused(option) && !of_option.contains(option.command + " " + option.name);
}

std::vector<std::string> commands() {
  std::vector<std::string> names;
  for (const auto& [command, words] : read_effects().requests) names.push_back(command);
  return names;
}

std::string name_of_command(const testing::TestParamInfo<std::string>& command) {
  std::string name = command.param;
  std::ranges::replace(name, ' ', '_');
  return name;
}

}  // namespace qkv::tests
