#include "explain/text_layout.h"

#include <algorithm>

#include "qkv/picture/terminal.h"

namespace qkv::explain_detail {
namespace {

constexpr int kGap = 2;
constexpr int kNarrowest = 14;        // of a column of words that is wrapped
constexpr int kNarrowestHeading = 8;  // of one that is

std::string spaces(int count) {
  // NOLINTNEXTLINE(modernize-return-braced-init-list): in braces it is a string of two
  return std::string(static_cast<std::size_t>(std::max(count, 0)), ' ');
}

struct TextColumn {
  std::size_t index = 0;
  int width = 0;
  int least = 0;  // what it may shrink to: a number is never broken, a heading and words are
  bool is_numeric = true;
};

std::vector<TextColumn> measured(const Table& table) {
  std::vector<TextColumn> columns;
  for (std::size_t c = 0; c < table.columns.size(); ++c) {
    TextColumn column{c, 0, 0, true};
    for (const std::vector<Cell>& row : table.rows) {
      if (c >= row.size()) continue;
      column.width = std::max(column.width, display_width(one_line(row[c].text)));
      if (!row[c].number && !row[c].text.empty()) column.is_numeric = false;
    }
    column.least = column.is_numeric ? column.width : std::min(column.width, kNarrowest);
    column.width = std::max(column.width, display_width(one_line(table.columns[c])));
    column.least = std::max(column.least, std::min(column.width, kNarrowestHeading));
    columns.push_back(column);
  }
  return columns;
}

int total_width(const std::vector<TextColumn>& columns) {
  int total = 0;
  for (const TextColumn& column : columns) total += column.width + (total > 0 ? kGap : 0);
  return total;
}

// Takes what is too much from the column that can give most, as long as one can.
void shrink(std::vector<TextColumn>& columns, int width) {
  while (total_width(columns) > width) {
    TextColumn* widest = nullptr;
    for (TextColumn& column : columns) {
      if (column.width <= column.least) continue;
      if (widest == nullptr || column.width - column.least > widest->width - widest->least) widest = &column;
    }
    if (widest == nullptr) return;
    widest->width = std::max(widest->least, widest->width - (total_width(columns) - width));
  }
}

// Groups of columns that fit side by side, each led by the first column.
std::vector<std::vector<TextColumn>> grouped(const std::vector<TextColumn>& columns, int width) {
  std::vector<std::vector<TextColumn>> groups(1);
  for (const TextColumn& column : columns) {
    std::vector<TextColumn>& group = groups.back();
    group.push_back(column);
    if (total_width(group) <= width || group.size() <= 2) continue;
    group.pop_back();
    groups.push_back({columns.front(), column});
  }
  return groups;
}

void add_row(std::vector<std::string>& lines, const std::vector<TextColumn>& columns,
             const std::vector<std::string>& cells) {
  std::vector<std::vector<std::string>> parts;
  std::size_t height = 1;
  for (const TextColumn& column : columns) {
    const std::string text = column.index < cells.size() ? one_line(cells[column.index]) : "";
    parts.push_back(wrapped(text, column.width));
    height = std::max(height, parts.back().size());
  }
  for (std::size_t at = 0; at < height; ++at) {
    std::string line;
    for (std::size_t c = 0; c < columns.size(); ++c) {
      const std::string part = at < parts[c].size() ? parts[c][at] : "";
      const std::string room = spaces(columns[c].width - display_width(part));
      if (c > 0) line += spaces(kGap);
      line += columns[c].is_numeric ? room + part : part + room;
    }
    line.erase(line.find_last_not_of(' ') + 1);
    lines.push_back(std::move(line));
  }
}

std::string rule(const std::vector<TextColumn>& columns) {
  std::string line;
  for (std::size_t c = 0; c < columns.size(); ++c) {
    if (c > 0) line += spaces(kGap);
    for (int i = 0; i < columns[c].width; ++i) line += "─";
  }
  return line;
}

std::vector<std::string> stacked_lines(const Table& table, int width) {
  int label_width = 0;
  for (const std::string& column : table.columns) {
    label_width = std::max(label_width, display_width(one_line(column)) + kGap);
  }
  label_width = std::min(label_width, width / 2);
  std::vector<std::string> lines;
  for (const std::vector<Cell>& row : table.rows) {
    if (!lines.empty()) lines.emplace_back();
    for (std::size_t c = 0; c < std::min(row.size(), table.columns.size()); ++c) {
      if (row[c].text.empty()) continue;
      std::string label = fit_to_width(one_line(table.columns[c]), label_width);
      for (const std::string& part : wrapped(one_line(row[c].text), width - label_width)) {
        lines.push_back(label + spaces(label_width - display_width(label)) + part);
        label.clear();
      }
    }
  }
  return lines;
}

}  // namespace

std::vector<std::string> table_lines(const Table& table, int width) {
  std::vector<std::string> lines;
  if (table.columns.empty()) return lines;
  std::vector<TextColumn> columns = measured(table);
  if (table.is_list && total_width(columns) > width) return stacked_lines(table, width);
  shrink(columns, width);
  for (TextColumn& column : columns) column.width = std::min(column.width, width);
  for (const std::vector<TextColumn>& group : grouped(columns, width)) {
    if (!lines.empty()) lines.emplace_back();
    add_row(lines, group, table.columns);
    lines.push_back(rule(group));
    for (const std::vector<Cell>& row : table.rows) {
      std::vector<std::string> cells;
      for (const Cell& cell : row) cells.push_back(cell.text);
      add_row(lines, group, cells);
    }
  }
  return lines;
}

}  // namespace qkv::explain_detail
