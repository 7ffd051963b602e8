#include <algorithm>
#include <array>

#include "qkv/train/task.h"
#include "train/tasks/palette.h"

namespace qkv {
namespace {

using Row = std::vector<std::string>;

constexpr std::size_t kColumns = 80;

// Code points, each of which takes a column in what the tasks write.
std::size_t width_of(std::string_view text) {
  return static_cast<std::size_t>(std::ranges::count_if(text, [](char c) { return (c & 0xC0) != 0x80; }));
}

// Without the columns that have a title alone.
std::vector<Row> filled(const std::vector<Row>& rows) {
  std::vector<Row> kept(rows.size());
  for (std::size_t c = 0; c < rows.front().size(); ++c) {
    if (std::ranges::all_of(rows.begin() + 1, rows.end(), [&](const Row& row) { return row[c].empty(); })) continue;
    for (std::size_t n = 0; n < rows.size(); ++n) kept[n].push_back(rows[n][c]);
  }
  return kept;
}

std::string columns(const std::vector<Row>& all) {
  const std::vector<Row> rows = filled(all);
  std::vector<std::size_t> widths(rows.front().size());
  for (const Row& row : rows) {
    for (std::size_t c = 0; c < row.size(); ++c) widths[c] = std::max(widths[c], width_of(row[c]));
  }
  std::string text;
  for (const Row& row : rows) {
    std::string line;
    for (std::size_t c = 0; c < row.size(); ++c) {
      line += row[c] + std::string(widths[c] - width_of(row[c]) + 2, ' ');
    }
    text += line.substr(0, line.find_last_not_of(' ') + 1) + "\n";
  }
  return text;
}

std::string key_text(const Task& task, const Example& example, AttentionSite site, std::int64_t key) {
  const auto at = static_cast<std::size_t>(key);
  std::string number = std::to_string(key);
  if (site == AttentionSite::tokens) return task.vocabulary().piece(example.tokens[at]) + "@" + number;
  if (example.source.empty()) return number;  // a patch
  return task.source_vocabulary().piece(example.source[at]) + "@" + number;
}

std::string keys_text(const Task& task, const Example& example, std::size_t relation, std::int64_t query) {
  const std::vector<PatternRow>& rows = example.patterns[relation];
  const auto found = std::ranges::find(rows, query, &PatternRow::query);
  std::string text;
  if (found == rows.end()) return text;
  for (const std::int64_t key : found->keys) {
    text += (text.empty() ? "" : " ") + key_text(task, example, task.relations()[relation].site, key);
  }
  return text;
}

std::string label_text(const Task& task, const Example& example, std::size_t p) {
  if (!example.labels[p]) return {};
  const std::string& label = task.vocabulary().piece(*example.labels[p]);
  return example.scored[p] ? label : "(" + label + ")";
}

std::vector<std::size_t> relations_at(const Task& task, bool of_source) {
  std::vector<std::size_t> indices;
  for (std::size_t r = 0; r < task.relations().size(); ++r) {
    if ((task.relations()[r].site == AttentionSite::source) == of_source) indices.push_back(r);
  }
  return indices;
}

void add_syntax_titles(Row& titles) { titles.insert(titles.end(), {"head", "role", "same as"}); }

void add_syntax(Row& row, const Syntax& syntax, std::size_t word) {
  const Dependency& dependency = syntax.dependencies[word];
  row.push_back(dependency.head ? std::to_string(*dependency.head) : "");
  row.push_back(dependency.label);
  const auto found = std::ranges::find(syntax.coreferences, static_cast<std::int64_t>(word), &Coreference::mention);
  row.push_back(found == syntax.coreferences.end() ? "" : std::to_string(found->antecedent));
}

// What stands before the relations of a token.
Row start_of(const Task& task, const Example& example, std::size_t p) {
  Row row = {std::to_string(p), task.vocabulary().piece(example.tokens[p]), label_text(task, example, p)};
  if (example.syntax && example.source.empty()) add_syntax(row, *example.syntax, p);
  return row;
}

Row start_titles(const Example& example) {
  Row titles = {"p", "token", "predicts"};
  if (example.syntax && example.source.empty()) add_syntax_titles(titles);
  return titles;
}

// A column for each relation.
std::string wide_table(const Task& task, const Example& example, const std::vector<std::size_t>& relations) {
  std::vector<Row> rows = {start_titles(example)};
  for (const std::size_t r : relations) rows.front().push_back(task.relations()[r].name);
  for (std::size_t p = 0; p < example.tokens.size(); ++p) {
    Row& row = rows.emplace_back(start_of(task, example, p));
    for (const std::size_t r : relations) row.push_back(keys_text(task, example, r, static_cast<std::int64_t>(p)));
  }
  return columns(rows);
}

// One column for all relations, and a line for each that a token has.
std::string narrow_table(const Task& task, const Example& example, const std::vector<std::size_t>& relations) {
  std::vector<Row> rows = {start_titles(example)};
  rows.front().emplace_back("pattern");
  for (std::size_t p = 0; p < example.tokens.size(); ++p) {
    Row start = start_of(task, example, p);
    for (const std::size_t r : relations) {
      const std::string keys = keys_text(task, example, r, static_cast<std::int64_t>(p));
      if (keys.empty()) continue;
      rows.push_back(start);
      rows.back().push_back(task.relations()[r].name + ": " + keys);
      start.assign(start.size(), "");
    }
    if (!start.front().empty()) (rows.emplace_back(start)).emplace_back("");
  }
  return columns(rows);
}

bool fits(std::string_view text) {
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    if (width_of(text.substr(0, end)) > kColumns) return false;
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return true;
}

std::string token_table(const Task& task, const Example& example) {
  const std::vector<std::size_t> relations = relations_at(task, false);
  std::string wide = wide_table(task, example, relations);
  return fits(wide) ? wide : narrow_table(task, example, relations);
}

// In lines of 80 columns.
std::string wrapped(const std::string& sentence) {
  std::string text;
  std::size_t width = 0;
  for (std::size_t at = 0; at < sentence.size();) {
    const std::size_t end = std::min(sentence.find(' ', at), sentence.size());
    const std::string_view word = std::string_view(sentence).substr(at, end - at);
    at = end + 1;
    if (word.empty()) continue;
    const bool starts_line = width == 0 || width + 1 + width_of(word) > kColumns;
    if (starts_line) text += width == 0 ? "" : "\n";
    if (!starts_line) text += ' ';
    text += word;
    width = (starts_line ? 0 : width + 1) + width_of(word);
  }
  return text;
}

std::string source_table(const Task& task, const Example& example) {
  const std::vector<std::size_t> relations = relations_at(task, true);
  Row titles = {"p", "source"};
  add_syntax_titles(titles);
  for (const std::size_t r : relations) titles.push_back(task.relations()[r].name);
  std::vector<Row> rows = {titles};
  for (std::size_t p = 0; p < example.syntax->dependencies.size(); ++p) {
    Row row = {std::to_string(p), task.source_vocabulary().piece(example.source[p])};
    add_syntax(row, *example.syntax, p);
    for (const std::size_t r : relations) row.push_back(keys_text(task, example, r, static_cast<std::int64_t>(p)));
    rows.push_back(row);
  }
  return columns(rows) + "\n";
}

// "." for the ground, else the first letter of the nearest colour.
char letter_of(const Example& example, std::int64_t y, std::int64_t x) {
  const auto distance = [&](const std::array<float, 3>& rgb) {
    double sum = 0;
    for (std::int64_t c = 0; c < 3; ++c) {
      const double off = example.image.at({c, y, x}) - rgb[static_cast<std::size_t>(c)];
      sum += off * off;
    }
    return sum;
  };
  const auto nearest =
      std::ranges::min_element(training::kPalette, {}, [&](const auto& one) { return distance(one.rgb); });
  return distance(training::kGround) < distance(nearest->rgb) ? '.' : nearest->name.front();
}

std::string picture(const Task& task, const Example& example) {
  constexpr std::int64_t kBlock = 4;
  std::string text;
  for (std::int64_t y = kBlock / 2; y < task.lengths().image_side; y += kBlock) {
    for (std::int64_t x = kBlock / 2; x < task.lengths().image_side; x += kBlock) text += letter_of(example, y, x);
    text += '\n';
  }
  return text + "\n";
}

}  // namespace

std::string show(const Task& task, const Example& example) {
  std::string text;
  if (example.syntax) text += wrapped(example.syntax->sentence) + "\n\n";
  if (!example.source.empty()) {
    text += example.syntax ? source_table(task, example)
                           : "source: " + task.source_vocabulary().decode(example.source) + "\n\n";
  }
  if (!example.image.empty()) text += picture(task, example);
  return text + token_table(task, example);
}

}  // namespace qkv
