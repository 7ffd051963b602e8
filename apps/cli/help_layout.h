// How help looks: lines of at most 80 columns, or of a narrower terminal; what an option takes on the left, what it
// does on the right.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace qkv::cli {

class HelpLayout : public CLI::Formatter {
 public:
  [[nodiscard]] std::string make_help(const CLI::App* app, std::string name, CLI::AppFormatMode mode) const override;
  [[nodiscard]] std::string make_description(const CLI::App* app) const override;
  [[nodiscard]] std::string make_group(std::string group, bool is_positional,
                                       std::vector<const CLI::Option*> options) const override;
  [[nodiscard]] std::string make_subcommands(const CLI::App* app, CLI::AppFormatMode mode) const override;
  [[nodiscard]] std::string make_option(const CLI::Option* option, bool is_positional) const override;
};

}  // namespace qkv::cli
