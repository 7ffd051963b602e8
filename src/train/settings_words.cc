#include "train/settings_words.h"

#include <fmt/format.h>

#include "core/number_text.h"
#include "qkv/error.h"

namespace qkv::training {
namespace {

struct Write {
  Words& words;

  void operator()(const char* word, const std::string& value) const { words[word] = value; }
  template <class Number>
  void operator()(const char* word, const Number& value) const {
    words[word] = fmt::format("{}", value);  // a double in its shortest form that reads back as itself
  }
  template <class Number>
  void operator()(const char* word, const std::optional<Number>& value) const {
    if (value) words[word] = fmt::format("{}", *value);
  }
};

struct Read {
  const Words& words;

  void operator()(const char* word, std::string& value) const { value = text(word); }
  template <class Number>
  void operator()(const char* word, Number& value) const {
    const std::string& from = text(word);
    const auto number = core::number_from<Number>(from);
    if (!number) throw Error(fmt::format("run.{}: expected a number, got \"{}\"", word, from));
    value = *number;
  }
  template <class Number>
  void operator()(const char* word, std::optional<Number>& value) const {
    if (words.contains(word)) (*this)(word, value.emplace());
  }

  [[nodiscard]] const std::string& text(const char* word) const {
    const auto found = words.find(word);
    if (found == words.end()) throw Error(fmt::format("run.{}: expected a value, got none", word));
    return found->second;
  }
};

}  // namespace

Words words_of(const TrainSettings& settings) {
  Words words;
  for_each_member(settings, Write{words});
  return words;
}

TrainSettings settings_of(const Words& words) {
  TrainSettings settings;
  for_each_member(settings, Read{words});
  return settings;
}

Words words_of(const TrainReporting& reporting) {
  Words words;
  for_each_word(reporting, Write{words});
  return words;
}

TrainReporting reporting_of(const Words& words) {
  TrainReporting reporting;
  for_each_word(reporting, [&](const char* word, std::int64_t& value) {
    if (words.contains(word)) Read{words}(word, value);
  });
  return reporting;
}

}  // namespace qkv::training
