#include "cli/described_options.h"

#include <sstream>
#include <stdexcept>

#include "cli/command.h"

namespace qkv::tests {
namespace {

// The cells of a row; \\| parts none, and stands for |.
std::vector<std::string> cells_of(const std::string& row) {
  std::vector<std::string> cells(1);
  for (std::size_t n = 1; n < row.size(); ++n) {
    if (row[n] == '|' && row[n - 1] == '\\') {
      cells.back().back() = '|';
    } else if (row[n] == '|') {
      cells.emplace_back();
    } else {
      cells.back() += row[n];
    }
  }
  return cells;
}

// Without the spaces and backquotes around it.
std::string bare(const std::string& cell) {
  const std::size_t begin = cell.find_first_not_of(" `");
  return begin == std::string::npos ? "" : cell.substr(begin, cell.find_last_not_of(" `") + 1 - begin);
}

std::vector<DescribedOption> read_options() {
  constexpr std::string_view kTitle = "### `qkv ";
  std::vector<DescribedOption> options;
  std::string command;
  std::istringstream lines(run_qkv({"help", "--describe"}).out);
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with(kTitle)) command = line.substr(kTitle.size(), line.rfind('`') - kTitle.size());
    if (!line.starts_with("| `")) continue;
    const std::vector<std::string> cells = cells_of(line);
    if (cells.size() != 8) throw std::runtime_error("a row of other cells: " + line);  // the last is behind the row
    options.push_back({.command = command,
                       .name = bare(cells[0]),
                       .type = bare(cells[1]),
                       .bounds = bare(cells[2]),
                       .fallback = bare(cells[3]),
                       .company = bare(cells[4]),
                       .help = bare(cells[5]),
                       .example = bare(cells[6])});
  }
  return options;
}

}  // namespace

std::vector<std::string> DescribedOption::command_words() const {
  std::istringstream text(command);
  std::vector<std::string> words;
  for (std::string word; text >> word;) words.push_back(word);
  return words;
}

const std::vector<DescribedOption>& described_options() {
  static const std::vector<DescribedOption> kOptions = read_options();
  return kOptions;
}

}  // namespace qkv::tests
