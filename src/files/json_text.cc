#include "files/json_text.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <limits>
#include <utility>
#include <vector>

#include "files/file_kind.h"
#include "files/place.h"
#include "files/reading.h"
#include "qkv/error.h"
#include "qkv/files.h"

namespace qkv::files {
namespace {

using Json = nlohmann::json;

constexpr std::string_view kNull = "null";
constexpr std::array<std::pair<std::string_view, double>, 3> kPythonWords = {
    {{"NaN", std::numeric_limits<double>::quiet_NaN()},
     {"Infinity", std::numeric_limits<double>::infinity()},
     {"-Infinity", -std::numeric_limits<double>::infinity()}}};

bool is_word_character(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '.';
}

// A text in which null stands for each of Python's words, so that a parser of JSON alone reads it.
struct PlainJson {
  std::string text;
  std::vector<std::pair<std::size_t, double>> words;  // which null of the text is which number
  std::vector<std::size_t> longer;                    // places of the text before which it is one byte longer
};

// Behind the string that begins at `begin`.
std::size_t end_of_string(std::string_view text, std::size_t begin) {
  for (std::size_t n = begin + 1; n < text.size(); ++n) {
    if (text[n] == '\\') {
      ++n;
    } else if (text[n] == '"') {
      return n + 1;
    }
  }
  return text.size();
}

PlainJson without_python_words(std::string_view text) {
  PlainJson plain;
  plain.text.reserve(text.size() + kNull.size());
  std::size_t nulls = 0;
  for (std::size_t n = 0; n < text.size();) {
    std::size_t end = n + 1;
    if (text[n] == '"') end = end_of_string(text, n);
    if (is_word_character(text[n]) || text[n] == '-') {
      while (end < text.size() && is_word_character(text[end])) ++end;
    }
    const std::string_view piece = text.substr(n, end - n);
    const auto word = std::ranges::find(kPythonWords, piece, &std::pair<std::string_view, double>::first);
    if (word != kPythonWords.end()) {
      plain.words.emplace_back(nulls++, word->second);
      plain.text += kNull;
      plain.text.append(std::max(piece.size(), kNull.size()) - kNull.size(), ' ');
      if (piece.size() < kNull.size()) plain.longer.push_back(plain.text.size());
    } else {
      nulls += piece == kNull ? 1 : 0;
      plain.text += piece;
    }
    n = end;
  }
  return plain;
}

// Without the name of its own and the place, which the parser puts in front.
std::string_view said_by(const Json::exception& error) {
  constexpr std::size_t kLongest = 160;
  std::string_view said = error.what();
  const std::size_t place = said.find(", column ");
  const std::size_t begin = place == std::string_view::npos ? said.find("] ") : said.find(": ", place);
  if (begin != std::string_view::npos) said.remove_prefix(begin + 2);
  if (said.size() <= kLongest) return said;
  std::size_t end = kLongest;
  while (end > 0 && (static_cast<unsigned char>(said[end]) & 0xC0U) == 0x80U) --end;  // not within a character
  return said.substr(0, end);
}

// `place` counts bytes of the text from 1 on.
std::string mistake_at(std::string_view text, std::size_t place, std::string_view said) {
  const std::string_view before = text.substr(0, std::min(text.size(), place == 0 ? 0 : place - 1));
  const auto line = 1 + std::ranges::count(before, '\n');
  const std::size_t begin = before.rfind('\n') + 1;  // 0 where there is none
  return "other text at line " + std::to_string(line) + ", column " + std::to_string(before.size() - begin + 1) + ": " +
         std::string(said);
}

// Of a text that can be read as JSON in form alone: a number is too large.
std::string beyond_range(const Json::exception& error) {
  constexpr int kOverflow = 406;
  const std::string_view said = said_by(error);
  if (error.id != kOverflow) return std::string(said);
  const std::size_t quote = std::min(said.find('\''), said.size());
  return "a number out of the range of f64, up to 1.8e308: " + std::string(said.substr(quote));
}

Json with_python_words(const PlainJson& plain) {
  std::size_t nulls = 0;
  auto next = plain.words.begin();
  return Json::parse(plain.text, [&](int, Json::parse_event_t event, Json& value) {
    if (event != Json::parse_event_t::value || !value.is_null()) return true;
    if (next != plain.words.end() && next->first == nulls) {
      value = next->second;
      ++next;
    }
    ++nulls;
    return true;
  });
}

// As Json::dump(), but that NaN and Infinity keep their names; no more is written once the text is longer than `most`.
void append_json(const Json& value, std::size_t most, std::string& text) {
  if (value.is_number_float() && !std::isfinite(value.get<double>())) {
    const auto word = std::ranges::find_if(kPythonWords, [&](const auto& known) {
      return known.second == value.get<double>() || (std::isnan(known.second) && std::isnan(value.get<double>()));
    });
    text += word->first;
    return;
  }
  if (!value.is_structured()) {
    text += value.dump(-1, ' ', false, Json::error_handler_t::replace);
    return;
  }
  text += value.is_array() ? '[' : '{';
  bool is_first = true;
  for (const auto& [key, inner] : value.items()) {
    if (text.size() > most) return;
    if (!std::exchange(is_first, false)) text += ',';
    if (value.is_object()) text += Json(key).dump(-1, ' ', false, Json::error_handler_t::replace) + ":";
    append_json(inner, most, text);
  }
  text += value.is_array() ? ']' : '}';
}

}  // namespace

Json parse_json(std::string_view text, const std::string& source) {
  // Most texts are JSON; what is not is read again.
  if (Json json = Json::parse(text, nullptr, false); !json.is_discarded()) return json;
  const PlainJson plain = without_python_words(text);
  try {
    return with_python_words(plain);
  } catch (const Json::parse_error& error) {
    const auto longer = std::ranges::count_if(plain.longer, [&](std::size_t place) { return place < error.byte; });
    const std::size_t place = error.byte - static_cast<std::size_t>(longer);
    throw FileError(source, "expected JSON, got " + mistake_at(text, place, said_by(error)));
  } catch (const Json::exception& error) {
    throw FileError(source, "expected JSON, got " + beyond_range(error));
  }
}

std::string mistake_in_json(std::string_view text) {
  try {
    [[maybe_unused]] const Json whole = Json::parse(text);
  } catch (const Json::parse_error& error) {
    return mistake_at(text, error.byte, said_by(error));
  } catch (const Json::exception& error) {
    return beyond_range(error);
  }
  return "JSON";
}

Json read_json(const std::string& path) {
  require_file_or_folder(path);
  std::error_code none;
  if (std::filesystem::is_directory(path, none)) throw FileError(path, "expected a file, got a directory");
  constexpr std::uintmax_t kMost = std::uintmax_t{1} << 30U;
  const std::uintmax_t size = std::filesystem::file_size(path, none);
  if (!none && size > kMost) throw FileError(path, "expected at most " + std::to_string(kMost) + " bytes, got more");
  const std::vector<std::byte> bytes = read_file(path);
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  refuse_other_kind(text, path, "a JSON file");
  return parse_json(text, path);
}

std::string json_for_message(const Json& value) {
  constexpr std::size_t kLongest = 60;
  std::string text;
  append_json(value, kLongest, text);
  if (text.size() <= kLongest) return text;
  std::size_t end = kLongest;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0U) == 0x80U) --end;
  return text.substr(0, end);
}

}  // namespace qkv::files
