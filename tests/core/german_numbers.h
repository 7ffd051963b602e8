// A program whose numbers have commas.
#pragma once

#include <clocale>
#include <cstdlib>
#include <filesystem>
#include <locale>
#include <string>

namespace qkv::tests {

/// While it lives, C++ streams write and read 1,5, and so do the functions of C, if a locale can be compiled:
/// that takes Debian's `locales`.
class GermanNumbers {
 public:
  GermanNumbers() : before_(std::locale::global(std::locale(std::locale::classic(), new Comma))) {
    const std::filesystem::path place = std::filesystem::temp_directory_path() / "qkv-test-locales";
    std::error_code none;
    std::filesystem::create_directories(place, none);
    const std::string made = (place / "de_DE.UTF-8").string();
    const std::string command = "localedef -f UTF-8 -i de_DE '" + made + "' >/dev/null 2>&1";
    // NOLINTBEGIN(concurrency-mt-unsafe,cert-env33-c): a test of one thread
    if (!std::filesystem::exists(made, none)) static_cast<void>(std::system(command.c_str()));
    ::setenv("LOCPATH", place.c_str(), 1);
    std::setlocale(LC_ALL, "de_DE.UTF-8");
    // NOLINTEND(concurrency-mt-unsafe,cert-env33-c)
  }
  GermanNumbers(const GermanNumbers&) = delete;
  GermanNumbers& operator=(const GermanNumbers&) = delete;
  ~GermanNumbers() {
    std::setlocale(LC_ALL, "C");  // NOLINT(concurrency-mt-unsafe)
    ::unsetenv("LOCPATH");        // NOLINT(concurrency-mt-unsafe)
    std::locale::global(before_);
  }

  /// Whether the functions of C write commas, too.
  [[nodiscard]] static bool in_c() { return std::to_string(1.5) == "1,500000"; }

 private:
  struct Comma : std::numpunct<char> {
    [[nodiscard]] char do_decimal_point() const override { return ','; }
    [[nodiscard]] char do_thousands_sep() const override { return '.'; }
    [[nodiscard]] std::string do_grouping() const override { return "\3"; }
  };

  std::locale before_;
};

}  // namespace qkv::tests
