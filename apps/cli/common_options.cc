#include "common_options.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <string_view>
#include <utility>

#include "misuse.h"
#include "qkv/nearest_word.h"
#include "qkv/number_text.h"
#include "qkv/view/field.h"

namespace qkv::cli {
namespace {

// Reads "512MiB" as CLI11 does, and complains as everything else does.
CLI::Validator bytes_in_units() {
  const auto read = [](std::string& text) -> std::string {
    std::string bytes = text;
    const bool negative = text.starts_with('-');
    try {
      if (!negative && CLI::AsSizeValue(false)(bytes).empty()) {
        text = bytes;
        return {};
      }
    } catch (const CLI::Error&) {  // NOLINT(bugprone-empty-catch): what it cannot read is refused below
    }
    return "expected a number of bytes such as 4096, 512MiB or 4GiB, got \"" + text + "\"";
  };
  return {read, ""};
}

// Complains of a value as the fields of a request do.
CLI::Validator held_to(const FieldInfo& field) {
  const auto complaint = [field](const std::string& text) -> std::string {
    try {
      static_cast<void>(field_value(field, text));
      return {};
    } catch (const InvalidArgument& error) {
      return error.fault();
    }
  };
  return {complaint, ""};
}

}  // namespace

CLI::Validator between(std::int64_t least, std::int64_t most) {
  return held_to({.name = "", .least = least, .most = most, .type = FieldType::whole});
}

CLI::Validator a_number() { return held_to({.name = "", .type = FieldType::number}); }
CLI::Validator a_whole_number() { return held_to({.name = "", .type = FieldType::whole}); }

CLI::Validator one_of(std::vector<std::string> words) {
  const auto complaint = [words = std::move(words)](const std::string& text) -> std::string {
    if (std::ranges::find(words, text) != words.end()) return {};
    std::string known;
    for (std::size_t n = 0; n < words.size(); ++n) {
      known += (n == 0 ? "" : n + 1 == words.size() ? " or " : ", ") + words[n];
    }
    const std::vector<std::string_view> views(words.begin(), words.end());
    const auto nearest = nearest_word(text, views);
    const std::string hint = nearest ? "; did you mean " + std::string(*nearest) + "?" : "";
    return "expected " + known + ", got \"" + text + "\"" + hint;
  };
  return {complaint, ""};
}

CLI::Option* add_threads_option(CLI::App& command, std::optional<int>& threads) {
  constexpr int kMost = 65536;
  return command.add_option("--threads", threads, "Threads to use [QKV_THREADS, or all cores]")
      ->type_name("N")
      ->check(between(1, kMost));
}

CLI::Option* add_seed_option(CLI::App& command, std::string& seed, const std::string& whose) {
  return command.add_option("--seed", seed, whose)->type_name("N");
}

std::uint64_t seed_of(const std::string& text) {
  if (const auto seed = number_from<std::uint64_t>(text)) return *seed;
  misuse("--seed", "a whole number from 0 to 18446744073709551615", "\"" + text + "\"");
}

void add_terminal_options(CLI::App& command, std::string& color, std::optional<int>& width, const std::string& group) {
  constexpr int kNarrowest = 20;
  constexpr int kWidest = 1000;
  command.add_option("--color", color, "In the terminal: auto, true, 256 or never")
      ->type_name("WHEN")
      ->check(one_of({"auto", "true", "256", "never"}))
      ->group(group)
      ->capture_default_str();
  command.add_option("--width", width, "Columns to use [the terminal's, or 80]")
      ->type_name("N")
      ->check(between(kNarrowest, kWidest))
      ->group(group);
}

CLI::Option* add_memory_limit_option(CLI::App& command, std::uint64_t& limit, const std::string& description) {
  return command.add_option("--memory-limit", limit, description)
      ->transform(bytes_in_units())
      ->default_str("4GiB")
      ->type_name("SIZE");
}

}  // namespace qkv::cli
