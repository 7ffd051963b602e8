// Errors of the public interface. Each names the argument, what was expected and what came instead.
#pragma once

#include <stdexcept>
#include <string>
#include <string_view>

namespace qkv {

/// A valid request failed: an unreadable file, a malformed byte string.
class Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// A file cannot be read or written, or holds what it should not. what() reads "<place>: <fault>".
class FileError : public Error {
 public:
  FileError(std::string_view place, std::string_view fault)
      : FileError(place, std::string(place).append(": ").append(fault), Text{}) {}
  /// "cannot read <path>: it is a directory".
  [[nodiscard]] static FileError saying(std::string_view path, const std::string& text) { return {path, text, Text{}}; }

  /// The path as it was given, behind which there may be a place in the file: "FILE: model.vocab", "FILE, line 3".
  [[nodiscard]] const std::string& place() const noexcept { return place_; }

 private:
  struct Text {};
  FileError(std::string_view place, const std::string& text, Text) : Error(text), place_(place) {}

  std::string place_;
};

/// An invalid request: a shape, an option or a word that is not possible.
/// what() reads "<function>: <argument>: expected <expected>, got <got>". Of an argument and of what came, texts of
/// more than 200 bytes are cut to 80 and "…".
class InvalidArgument : public Error {
 public:
  InvalidArgument(std::string_view function, std::string_view argument, std::string_view expected,
                  std::string_view got);

  [[nodiscard]] const std::string& function() const noexcept { return function_; }
  /// The name of the argument at fault, e.g. "k".
  [[nodiscard]] const std::string& argument() const noexcept { return argument_; }
  [[nodiscard]] const std::string& expected() const noexcept { return expected_; }
  [[nodiscard]] const std::string& got() const noexcept { return got_; }
  /// "expected <expected>, got <got>".
  [[nodiscard]] std::string fault() const { return "expected " + expected_ + ", got " + got_; }

 private:
  std::string function_;
  std::string argument_;
  std::string expected_;
  std::string got_;
};

}  // namespace qkv
