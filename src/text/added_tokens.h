// Tokens that are read whole wherever they stand in a text: "[CLS]", "<|endoftext|>".
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "text/json_field.h"
#include "text/normalizer.h"
#include "text/piece_table.h"
#include "text/pieces.h"

namespace qkv::text {

struct AddedToken {
  std::int32_t id = 0;
  std::string content;
  bool single_word = false;  // only where no letter stands beside it
  bool lstrip = false;       // takes the white space before it
  bool rstrip = false;       // … behind it
  bool normalized = false;   // is looked for in the normalised text
  bool special = false;      // is no part of what a text says
  std::string shown = {};    // as AddedTokens decodes it: normalised, if it is looked for so
};

class AddedTokens {
 public:
  /// `normalizer` may be null.
  AddedTokens(std::vector<AddedToken> tokens, NormalizerPtr normalizer);
  AddedTokens(const AddedTokens&) = delete;  // the finders point at tokens
  AddedTokens& operator=(const AddedTokens&) = delete;
  ~AddedTokens() = default;

  /// The normalised text in pieces: added tokens, and what lies between them.
  [[nodiscard]] Pieces cut(std::string_view original) const;
  [[nodiscard]] const std::vector<AddedToken>& all() const noexcept { return tokens_; }
  /// nullptr where the id is that of no added token.
  [[nodiscard]] const AddedToken* find(std::int32_t id) const noexcept;

  struct Found {
    std::size_t begin = 0;
    std::size_t end = 0;
    const AddedToken* token = nullptr;  // none between tokens
  };
  /// A text in valid UTF-8 as tokens that are not looked for in the normalised text, and what lies between them.
  [[nodiscard]] std::vector<Found> cover(std::string_view valid) const;

 private:
  /// The longest token at each place, from the left.
  class Finder {
   public:
    void add(std::string_view text, const AddedToken& token);
    [[nodiscard]] std::vector<Found> cover(std::string_view valid) const;

   private:
    [[nodiscard]] Found longest_at(std::string_view valid, std::size_t begin) const noexcept;
    NumberTable children_;
    std::vector<const AddedToken*> ends_;  // of each node of the tree of bytes
    std::vector<bool> begins_;             // of each byte: whether a token begins with it
  };

  std::vector<AddedToken> tokens_;
  NumberTable by_id_;  // id -> place in tokens_
  NormalizerPtr normalizer_;
  Finder raw_;         // in the text as it came
  Finder normalized_;  // in the normalised text
};

/// "added_tokens" of tokenizer.json. A token that is a piece of the model must have its id.
[[nodiscard]] std::vector<AddedToken> read_added_tokens(const JsonField& field, const PieceTable& pieces);
/// Likewise, without a model.
[[nodiscard]] std::vector<AddedToken> read_added_tokens(const JsonField& field);

}  // namespace qkv::text
