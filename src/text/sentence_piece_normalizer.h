// What SentencePiece does to a text before it is cut, and with a table of its own after it is joined.
#pragma once

#include <bitset>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "text/chars_map.h"
#include "text/piece_tree.h"
#include "text/sentence_piece_file.h"

namespace qkv::text {

struct SentencePieceText {
  std::string text;
  std::vector<std::uint32_t> origins;  // of each byte, and of the end: where in the text as it came
};

class SentencePieceNormalizer {
 public:
  enum class Space : std::uint8_t { prefix, suffix };  // where add_dummy_prefix puts one
  /// `user_defined` stay as they are. `place` names the table in errors.
  SentencePieceNormalizer(const SentencePieceRules& rules, Space space, PieceTree user_defined,
                          const std::string& place);

  /// Of valid UTF-8. Throws InvalidArgument if 4 GiB or more come out.
  [[nodiscard]] SentencePieceText apply(std::string_view text) const;

 private:
  struct Chunk {
    std::string_view shown;
    std::size_t length = 0;  // bytes of the text that it is for
  };
  [[nodiscard]] Chunk chunk_at(std::string_view text, std::size_t at) const noexcept;
  [[nodiscard]] std::size_t end_of_plain(std::string_view text, std::size_t at) const noexcept;
  [[nodiscard]] bool is_plain(unsigned char byte) const noexcept;
  void add_plain(SentencePieceText& made, std::string_view shown, std::size_t from) const;
  void add_space(SentencePieceText& made, std::size_t from) const;
  void add_rest(SentencePieceText& made, std::string_view text, std::size_t at) const;
  [[nodiscard]] std::size_t drop_last_spaces(SentencePieceText& made, std::size_t end) const;

  SentencePieceRules rules_;
  Space space_;
  PieceTree user_defined_;
  CharsMap map_;
  std::bitset<128> plain_;  // stand for themselves before another character of ASCII
};

}  // namespace qkv::text
