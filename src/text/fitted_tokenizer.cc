#include "text/fitted_tokenizer.h"

#include <utility>
#include <vector>

#include "core/number_text.h"
#include "qkv/error.h"
#include "text/saved_words.h"

namespace qkv::text {
namespace {

// "<id:58>", as the number of its row.
std::string piece_without_name(std::int64_t id) { return "<id:" + std::to_string(id) + ">"; }

class FittedTokenizer final : public Tokenizer {
 public:
  FittedTokenizer(std::shared_ptr<const Tokenizer> inner, std::int64_t rows) : inner_(std::move(inner)), rows_(rows) {
    for (std::int64_t id = inner_->size(); id < rows; ++id) {
      numbers_.emplace(piece_without_name(id), static_cast<std::int32_t>(id));
      names_.push_back(piece_without_name(id));
    }
  }

  [[nodiscard]] std::int64_t size() const noexcept override { return rows_; }

  [[nodiscard]] const std::string& piece(std::int32_t id) const override {
    require(id);
    return is_named(id) ? inner_->piece(id) : name_of(id);
  }
  [[nodiscard]] std::string bytes(std::int32_t id) const override {
    require(id);
    return is_named(id) ? inner_->bytes(id) : name_of(id);
  }
  [[nodiscard]] std::optional<std::int32_t> find(std::string_view piece) const noexcept override {
    const std::optional<std::int32_t> token = inner_->find(piece);
    if (token) return *token < rows_ ? token : std::nullopt;
    const auto number = numbers_.find(piece);
    return number == numbers_.end() ? std::nullopt : std::optional(number->second);
  }
  [[nodiscard]] std::map<std::string, std::string> config() const override {
    std::map<std::string, std::string> words = inner_->config();
    words[kRows] = std::to_string(rows_);
    return words;
  }

 private:
  [[nodiscard]] bool is_named(std::int32_t id) const noexcept { return id < inner_->size(); }
  [[nodiscard]] const std::string& name_of(std::int32_t id) const {
    return names_[static_cast<std::size_t>(id - inner_->size())];
  }
  void require(std::int32_t id) const {
    if (id >= 0 && id < rows_) return;
    throw InvalidArgument("Tokenizer", "id", "from 0 to " + std::to_string(rows_ - 1), std::to_string(id));
  }

  [[nodiscard]] Encoding encode_text(std::string_view text, const EncodeOptions& options) const override {
    Encoding encoding = inner_->encode(text, options);
    for (const std::int32_t id : encoding.ids) {
      if (id < rows_) continue;
      throw InvalidArgument("Tokenizer::encode", "text",
                            "tokens of the model, whose table has " + std::to_string(rows_) + " rows",
                            "\"" + shown_token(*inner_, id) + "\", which would be row " + std::to_string(id));
    }
    return encoding;
  }

  // What is between two of the rows without a piece is decoded as a part of the whole: a decoder may change what
  // stands at the beginning of a text.
  [[nodiscard]] std::string decode_ids(std::span<const std::int32_t> ids, SpecialTokens special) const override {
    std::string text;
    std::string before;  // of the tokens with a piece so far
    std::vector<std::int32_t> named;
    std::size_t done = 0;  // of them
    const auto add_named = [&] {
      std::string whole = inner_->decode(named, special);
      const bool goes_on = whole.starts_with(before);
      text += goes_on ? whole.substr(before.size()) : inner_->decode(std::span(named).subspan(done), special);
      before = std::move(whole);
      done = named.size();
    };
    for (const std::int32_t id : ids) {
      require(id);
      if (is_named(id)) {
        named.push_back(id);
        continue;
      }
      if (named.size() > done) add_named();
      text += name_of(id);
    }
    if (named.size() > done) add_named();
    return text;
  }

  std::shared_ptr<const Tokenizer> inner_;
  std::int64_t rows_;
  std::vector<std::string> names_;  // of the rows from inner_->size() on
  std::map<std::string, std::int32_t, std::less<>> numbers_;
};

}  // namespace

std::shared_ptr<const Tokenizer> fitted_tokenizer(std::shared_ptr<const Tokenizer> tokenizer, std::int64_t rows) {
  if (tokenizer->size() == rows) return tokenizer;
  return std::make_shared<FittedTokenizer>(std::move(tokenizer), rows);
}

std::shared_ptr<const Tokenizer> fitted_tokenizer_of(std::map<std::string, std::string> config) {
  constexpr std::int64_t kMost = std::int64_t{1} << 22;  // each has a name
  const std::string text = config.extract(kRows).mapped();
  const auto rows = core::number_from<std::int64_t>(text);
  if (!rows || *rows < 1 || *rows > kMost) {
    throw InvalidArgument(kMakeTokenizer, kRows, "a number of rows", "\"" + text + "\"");
  }
  return fitted_tokenizer(make_tokenizer(config), *rows);
}

}  // namespace qkv::text
