// A text that knows which of its bytes came from which message.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace qkv::text::jinja {

/// Bytes [begin, end) are of the content of a message; what lies in no mark is of the template.
struct Mark {
  std::size_t begin = 0;
  std::size_t end = 0;
  std::size_t message = 0;
};

class MarkedText {
 public:
  MarkedText() = default;
  explicit MarkedText(std::string bytes) : bytes_(std::move(bytes)) {}
  [[nodiscard]] static MarkedText of_message(std::string content, std::size_t message);

  [[nodiscard]] const std::string& bytes() const noexcept { return bytes_; }
  [[nodiscard]] const std::vector<Mark>& marks() const noexcept { return marks_; }
  [[nodiscard]] std::size_t size() const noexcept { return bytes_.size(); }

  void append(std::string_view plain) { bytes_ += plain; }
  void append(const MarkedText& other) { append(other, 0, other.size()); }
  /// Bytes [begin, end) of another text, with their marks.
  void append(const MarkedText& other, std::size_t begin, std::size_t end);
  /// Bytes that stand for the byte `at` of another text, and have its mark.
  void append_for(const MarkedText& other, std::size_t at, std::string_view bytes);
  [[nodiscard]] MarkedText slice(std::size_t begin, std::size_t end) const;

 private:
  void mark(std::size_t begin, std::size_t end, std::size_t message);
  [[nodiscard]] std::vector<Mark>::const_iterator first_mark_after(std::size_t at) const;

  std::string bytes_;
  std::vector<Mark> marks_;  // in order, apart
};

}  // namespace qkv::text::jinja
