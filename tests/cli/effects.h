// What each command is asked, as effects.txt has it.
#pragma once

#include <gtest/gtest.h>

#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "cli/described_options.h"

namespace qkv::tests {

using Words = std::vector<std::string>;

/// Words as a shell reads them, of which some stand in double quotes.
[[nodiscard]] Words words_of(const std::string& text);

struct Effect {
  std::optional<Words> before;
  Words added;
  bool is_whole = false;  // added is the whole request
  int code = 0;
  std::string why;  // it is refused, behind the code
};

/// Behind an option that a row excuses there alone.
inline constexpr std::string_view kBesideJson = " beside --json";

struct Effects {
  std::map<std::string, Words> requests;    // by command
  std::map<std::string, Effect> of_option;  // by "command --option"
  std::set<std::string> without_effect;     // on the plain request; "* --option" is that of every command

  /// How the option is tried: as its row says, or with its example.
  [[nodiscard]] Effect of(const DescribedOption& option) const;
  /// The words without it, or with another value, and with it.
  [[nodiscard]] Words before(const DescribedOption& option) const;
  [[nodiscard]] Words after(const DescribedOption& option) const;
  /// Whether it is added to the command's request with its example, or stands there.
  [[nodiscard]] bool is_on_plain(const DescribedOption& option) const;
  /// Whether a row says why it changes nothing there.
  [[nodiscard]] bool is_excused(const DescribedOption& option) const;
  /// Likewise where JSON is printed.
  [[nodiscard]] bool is_excused_beside_json(const DescribedOption& option) const;
  /// Whether it is excused, and no other row has a request on which it changes something.
  [[nodiscard]] bool is_without_effect(const DescribedOption& option) const;
};

[[nodiscard]] Effects read_effects();

/// Those that it asks, and each as a part of a test's name.
[[nodiscard]] std::vector<std::string> commands();
[[nodiscard]] std::string name_of_command(const testing::TestParamInfo<std::string>& command);

}  // namespace qkv::tests
