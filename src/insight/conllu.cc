#include <array>

#include "core/counted.h"
#include "core/number_text.h"
#include "qkv/insight/syntax.h"

namespace qkv {
namespace {

constexpr std::size_t kColumns = 10;  // ID FORM LEMMA UPOS XPOS FEATS HEAD DEPREL DEPS MISC

using Columns = std::array<std::string_view, kColumns>;

// Which line of the file is read.
class ConlluLine {
 public:
  explicit ConlluLine(std::string_view file) : file_(file) {}

  void move_on() { ++line_; }
  [[noreturn]] void fail(const std::string& expected, std::string_view got) const {
    throw FileError(file_ + ", line " + std::to_string(line_),
                    "expected " + expected + ", got \"" + std::string(got) + "\"");
  }

 private:
  std::string file_;
  std::size_t line_ = 0;
};

std::string_view next_part(std::string_view& rest, char end) {
  const std::size_t at = rest.find(end);
  const std::string_view part = rest.substr(0, at);
  rest.remove_prefix(at == std::string_view::npos ? rest.size() : at + 1);
  return part;
}

Columns columns_of(std::string_view text, const ConlluLine& at) {
  Columns columns;
  std::string_view rest = text;
  for (std::string_view& column : columns) column = next_part(rest, '\t');
  if (columns.back().empty() || !rest.empty()) at.fail("10 columns of CoNLL-U with tabs between them", text);
  return columns;
}

// A sentence as its lines come.
class Sentence {
 public:
  void add(const Columns& columns, const ConlluLine& at) {
    if (columns[0].find_first_of("-.") != std::string_view::npos) return;
    const auto number = static_cast<std::int64_t>(sentence_.words.size()) + 1;
    if (core::number_from<std::int64_t>(columns[0]) != number) at.fail("word " + std::to_string(number), columns[0]);
    const auto head = core::number_from<std::int64_t>(columns[6]);
    if (!head || *head < 0 || *head == number) at.fail("the number of another word, or 0, in column 7", columns[6]);
    if (columns[1].empty()) at.fail("a word in column 2", columns[1]);
    if (has_space_) sentence_.text += ' ';
    const std::size_t begin = sentence_.text.size();
    sentence_.text += columns[1];
    sentence_.words.push_back({begin, sentence_.text.size()});
    sentence_.dependencies.push_back({.head = *head > 0 ? std::optional(*head - 1) : std::nullopt,
                                      .label = std::string(columns[7].substr(0, columns[7].find(':')))});
    has_space_ = columns[9].find("SpaceAfter=No") == std::string_view::npos;
  }

  // The sentence is over.
  void move_to(std::vector<ParsedSentence>& all, const ConlluLine& at) {
    if (sentence_.words.empty()) return;
    const auto words = static_cast<std::int64_t>(sentence_.words.size());
    for (const Dependency& word : sentence_.dependencies) {
      if (word.head && *word.head >= words) {
        at.fail("heads among " + core::counted(words, "word") + " above", std::to_string(*word.head + 1));
      }
    }
    all.push_back(std::move(sentence_));
    *this = {};
  }

 private:
  ParsedSentence sentence_;
  bool has_space_ = false;
};

}  // namespace

std::vector<ParsedSentence> parse_conllu(std::string_view text, std::string_view file) {
  std::vector<ParsedSentence> all;
  Sentence sentence;
  ConlluLine at(file);
  while (!text.empty()) {
    std::string_view line = next_part(text, '\n');
    at.move_on();
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (line.empty()) {
      sentence.move_to(all, at);
    } else if (line.front() != '#') {
      sentence.add(columns_of(line, at), at);
    }
  }
  sentence.move_to(all, at);
  if (all.empty()) throw FileError(file, "expected a sentence, got none");
  return all;
}

}  // namespace qkv
