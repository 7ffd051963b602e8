// Numbers and letters are the same in every locale: what asks the program's locale is not called.
#include <gmock/gmock.h>

#include <algorithm>
#include <array>
#include <set>

#include "core/ascii.h"
#include "house/source_tree.h"

namespace qkv::house::locale_test {
namespace {

using testing::IsEmpty;
using testing::SizeIs;

// Readers and writers of numbers that take the decimal point from the locale, and classes of bytes that follow it.
constexpr std::array<std::string_view, 42> kCalls = {
    "stod(",     "stof(",     "stold(",     "stoi(",        "stol(",         "stoll(",        "stoul(",
    "stoull(",   "strtod(",   "strtof(",    "strtold(",     "atof(",         "atoi(",         "atol(",
    "sprintf(",  "snprintf(", "vsnprintf(", "sscanf(",      "isalpha(",      "isdigit(",      "isalnum(",
    "isspace(",  "ispunct(",  "isupper(",   "islower(",     "isxdigit(",     "tolower(",      "toupper(",
    "iswalpha(", "iswspace(", "setlocale(", "stringstream", "ostringstream", "setprecision(", "locale::global(",
    "{:L}",      "<cctype>",  "<locale>",   "<iomanip>",    "<regex>",       "strftime(",     "put_time("};

bool is_part_of_a_name(char c) { return core::is_letter(c) || core::is_digit(c) || c == '_'; }

bool has_word(std::string_view line, std::string_view word) {
  for (std::size_t at = line.find(word); at != std::string_view::npos; at = line.find(word, at + 1)) {
    if (at == 0 || !is_part_of_a_name(word.front()) || !is_part_of_a_name(line[at - 1])) return true;
  }
  return false;
}

// std::to_string() of a double, by its name; core::plain_number() writes those. Of whole numbers it is fine.
bool writes_a_double(std::string_view line) {
  static const std::set<std::string_view> kDoubles = {
      "epsilon",     "rate",     "learning_rate",   "scale", "softcap", "slope",     "score",
      "temperature", "momentum", "label_smoothing", "peak",  "p",       "clip_norm", "weight_decay"};
  const std::size_t call = line.find("std::to_string(");
  if (call == std::string_view::npos) return false;
  std::string_view argument = line.substr(line.find('(', call) + 1);
  argument = argument.substr(0, argument.find(')'));
  const auto name = std::find_if_not(argument.rbegin(), argument.rend(), is_part_of_a_name);
  return argument != "p" && kDoubles.contains(argument.substr(static_cast<std::size_t>(argument.rend() - name)));
}

std::vector<std::string> locale_calls(std::string_view text) {
  std::vector<std::string> found;
  for (const std::string& line : lines_of(text)) {
    const std::string_view code = std::string_view(line).substr(0, line.find("//"));
    const bool is_call = std::ranges::any_of(kCalls, [&](std::string_view call) { return has_word(code, call); });
    if (is_call || writes_a_double(code)) found.push_back(line);
  }
  return found;
}

// The C library of WebAssembly knows one locale.
bool may_ask(const std::filesystem::path& path) { return path.native().starts_with("apps/studio/wasm/runtime/"); }

TEST(Locale, IsNotAsked) {
  std::size_t files = 0;
  for (const char* folder : {"include", "src", "apps", "python/src"}) {
    for (const SourceFile& file : files_below(folder, {".h", ".cc"})) {
      if (may_ask(file.path)) continue;
      EXPECT_THAT(locale_calls(file.text), IsEmpty()) << file.path;
      ++files;
    }
  }
  EXPECT_GT(files, 500U);
}

TEST(Locale, TheRuleCatchesWhatItForbids) {
  for (const char* line : {"double x = std::stod(text);", "strtod(text, &end)", "std::snprintf(text, 9, \"%g\", x);",
                           "std::ostringstream text;", "if (std::isspace(c))", "std::to_string(options.epsilon)",
                           "std::setlocale(LC_ALL, \"\")", "fmt::format(\"{:L}\", x)"}) {
    EXPECT_THAT(locale_calls(line), SizeIs(1)) << line;
  }
  for (const char* line : {"std::to_string(options.layers)", "core::is_digit(c)", "core::number_from<double>(text)",
                           "std::fprintf(stderr, text)", "// as std::stod reads it"}) {
    EXPECT_THAT(locale_calls(line), IsEmpty()) << line;
  }
}

}  // namespace
}  // namespace qkv::house::locale_test
