#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <utility>

#include "api/replies/lines.h"
#include "core/counted.h"
#include "qkv/api/contents.h"
#include "qkv/picture/terminal.h"

namespace qkv {
namespace {

using api_detail::with_commas;

std::string size_of_bytes(std::int64_t bytes) {
  return bytes < 1000 ? fmt::format("{} bytes", bytes) : api_detail::size_text(bytes);
}

std::string tensors_text(std::int64_t count) { return with_commas(count) + " " + core::plural(count, "tensor"); }

// "blk.12.ffn_up.weight" as "blk.#.ffn_up.weight".
std::string without_numbers(const std::string& name) {
  std::string out;
  for (std::size_t at = 0; at < name.size();) {
    const std::size_t end = std::min(name.find('.', at), name.size());
    const std::string part = name.substr(at, end - at);
    const bool is_number = !part.empty() && part.find_first_not_of("0123456789") == std::string::npos;
    out += is_number ? "#" : part;
    if (end < name.size()) out += '.';
    at = end + 1;
  }
  return out;
}

struct TensorLine {
  std::string name;
  std::string type;
  std::string shape;
  std::int64_t bytes = 0;
  std::int64_t count = 0;
};

std::vector<TensorLine> lines_of_tensors(const Contents& contents, ContentsLines lines) {
  std::vector<TensorLine> all;
  std::map<std::string, std::size_t> places;
  for (const ContentsTensor& tensor : contents.tensors) {
    const bool is_grouped = lines == ContentsLines::grouped;
    TensorLine line{.name = is_grouped ? without_numbers(tensor.name) : tensor.name,
                    .type = tensor.type,
                    .shape = fmt::format("[{}]", fmt::join(tensor.shape, ", "))};
    const auto [place, is_new] = places.try_emplace(line.name + "\n" + line.type + line.shape, all.size());
    if (is_new) all.push_back(std::move(line));
    all[place->second].bytes += tensor.bytes;
    all[place->second].count += 1;
  }
  return all;
}

std::size_t widest(const std::vector<TensorLine>& lines, std::string TensorLine::* member) {
  std::size_t width = 0;
  for (const TensorLine& line : lines) width = std::max(width, (line.*member).size());
  return width;
}

std::string cut_to(const std::string& text, int width) {
  constexpr int kLeast = 20;
  const auto most = static_cast<std::size_t>(std::max(width, kLeast));
  const std::string line = one_line(text.substr(0, most));
  return text.size() > most ? line + " …" : line;
}

std::string words_as_text(const Contents& contents, int width) {
  std::string text = contents.form == "a folder" ? "\nconfig.json\n" : "\nmetadata\n";
  std::size_t column = 0;
  for (const ContentsWord& word : contents.words) column = std::max(column, word.name.size());
  column = std::min<std::size_t>(column, 48);
  for (const ContentsWord& word : contents.words) {
    const int left = width - static_cast<int>(column) - 6;
    text += fmt::format("  {:<{}}  {}\n", one_line(word.name), column, cut_to(word.value, left));
  }
  return text;
}

}  // namespace

std::string contents_as_text(const Contents& contents, int width, ContentsLines lines) {
  std::int64_t bytes = 0;
  for (const ContentsFile& file : contents.files) bytes += file.bytes;
  std::string text = one_line(contents.path) + "\n";
  text += api_detail::prose(fmt::format("{}, {}, {} of {} numbers", contents.form, size_of_bytes(bytes),
                                        tensors_text(std::ssize(contents.tensors)), with_commas(contents.numbers)),
                            width);
  if (!contents.refusal.empty()) {
    text += api_detail::prose("qkv opens no model of it: " + one_line(contents.refusal), width);
  } else if (contents.memory > 0) {
    const char* in_place = contents.writes ? "; qkv generate reads them as they are in the file" : "";
    text += api_detail::prose(
        fmt::format("opened, its quantised tensors take {} as f32{}", size_of_bytes(contents.memory), in_place), width);
  }
  if (contents.files.size() > 1) {
    text += "\nfiles\n";
    for (const ContentsFile& file : contents.files) {
      text += fmt::format("  {:>11}  {}\n", size_of_bytes(file.bytes), one_line(file.name));
    }
  }
  if (!contents.words.empty()) text += words_as_text(contents, width);
  text += "\ntypes\n";
  for (const ContentsType& type : contents.types) {
    text += fmt::format("  {:<8} {:>15} {:>16} numbers {:>11}\n", type.type, tensors_text(type.tensors),
                        with_commas(type.numbers), size_of_bytes(type.bytes));
  }
  text += "\ntensors\n";
  const std::vector<TensorLine> all = lines_of_tensors(contents, lines);
  const std::size_t names = widest(all, &TensorLine::name);
  const std::size_t shapes = widest(all, &TensorLine::shape);
  for (const TensorLine& line : all) {
    const std::string count = line.count > 1 ? fmt::format(", {} of them", line.count) : "";
    text += fmt::format("  {:<{}}  {:<8} {:<{}} {:>11}{}\n", one_line(line.name), names, line.type, line.shape, shapes,
                        size_of_bytes(line.bytes), count);
  }
  return text;
}

}  // namespace qkv
