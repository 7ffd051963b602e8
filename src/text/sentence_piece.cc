#include "text/sentence_piece.h"

#include <sentencepiece_processor.h>

#include <algorithm>

#include "qkv/error.h"
#include "text/aligned_text.h"
#include "text/base64.h"

namespace qkv::text {
namespace {

class SentencePieceTokenizer final : public Tokenizer {
 public:
  SentencePieceTokenizer(std::string model, SentencePieceEnds ends, const std::string& source)
      : model_(std::move(model)), ends_(ends) {
    const auto status = processor_.LoadFromSerializedProto(model_);
    if (!status.ok()) throw Error(source + ": expected a SentencePiece model: " + status.message());
    const auto require = [&](int id, const char* name) {
      if (id < 0) throw Error(source + ": expected a model with a token " + name + ", which is to stand at the end");
    };
    if (ends_.bos) require(processor_.bos_id(), "bos");
    if (ends_.eos) require(processor_.eos_id(), "eos");
    for (int id = 0; id < processor_.GetPieceSize(); ++id) pieces_.push_back(processor_.IdToPiece(id));
  }

  [[nodiscard]] std::int64_t size() const noexcept override { return static_cast<std::int64_t>(pieces_.size()); }
  [[nodiscard]] const std::string& piece(std::int32_t id) const override {
    if (id < 0 || id >= size()) {
      throw InvalidArgument("Tokenizer::piece", "id", "from 0 to " + std::to_string(size() - 1), std::to_string(id));
    }
    return pieces_[static_cast<std::size_t>(id)];
  }
  [[nodiscard]] std::optional<std::int32_t> find(std::string_view piece) const noexcept override {
    const int id = processor_.PieceToId(piece);  // that of the unknown token where there is none
    const bool known = id >= 0 && id < size() && pieces_[static_cast<std::size_t>(id)] == piece;
    return known ? std::optional<std::int32_t>(id) : std::nullopt;
  }
  [[nodiscard]] std::map<std::string, std::string> config() const override {
    return {{"kind", kSentencePieceKind},
            {"model", to_base64(model_)},
            {"add_bos_token", ends_.bos ? "true" : "false"},
            {"add_eos_token", ends_.eos ? "true" : "false"}};
  }

 private:
  [[nodiscard]] Encoding encode_text(std::string_view text, const EncodeOptions& options) const override {
    Encoding all;
    add(all, text, TokenSource::text, options.special);
    if (options.pair) add(all, *options.pair, TokenSource::pair, options.special);
    return all;
  }

  void add(Encoding& all, std::string_view text, TokenSource source, SpecialTokens special) const {
    const std::int32_t type = source == TokenSource::pair ? 1 : 0;
    const auto push = [&](int id, TextRange range, TokenSource from) {
      all.ids.push_back(id);
      all.offsets.push_back(range);
      all.types.push_back(type);
      all.sources.push_back(from);
    };
    const bool with = special == SpecialTokens::with;
    if (with && ends_.bos) push(processor_.bos_id(), {}, TokenSource::added);
    const AlignedText valid(text, 0, text.size());
    const auto cut = processor_.EncodeAsImmutableProto(valid.text());
    std::vector<TextRange> ranges;
    for (const auto& next : cut.pieces()) ranges.push_back(range_of(valid, next.begin(), next.end()));
    // Of the bytes of a character, the library gives it to the last one alone.
    for (std::size_t n = ranges.size(); n-- > 1;) {
      const bool is_empty_byte = processor_.IsByte(static_cast<int>(cut.pieces(static_cast<int>(n - 1)).id())) &&
                                 ranges[n - 1].begin == ranges[n - 1].end;
      if (is_empty_byte) ranges[n - 1] = ranges[n];
    }
    for (std::size_t n = 0; n < ranges.size(); ++n) {
      push(static_cast<int>(cut.pieces(static_cast<int>(n)).id()), ranges[n], source);
    }
    if (with && ends_.eos) push(processor_.eos_id(), {}, TokenSource::added);
  }

  static TextRange range_of(const AlignedText& valid, std::size_t begin, std::size_t end) {
    if (begin < end) {
      const OriginalRange range = valid.origin(begin, end);
      return {.begin = range.begin, .end = range.end};
    }
    const std::size_t at = begin < valid.size() ? valid.origin(begin).begin
                           : valid.empty()      ? 0
                                                : valid.origin(valid.size() - 1).end;
    return {.begin = at, .end = at};
  }

  [[nodiscard]] std::string decode_ids(std::span<const std::int32_t> ids, SpecialTokens special) const override {
    std::string text;
    std::vector<int> held;
    const auto flush = [&] {
      text += processor_.DecodeIds(held);
      held.clear();
    };
    for (const std::int32_t id : ids) {
      const std::string& shown = piece(id);
      if (!processor_.IsControl(id)) {
        held.push_back(id);
      } else if (special == SpecialTokens::with) {
        flush();
        text += shown;
      }
    }
    flush();
    return text;
  }

  std::string model_;
  SentencePieceEnds ends_;
  sentencepiece::SentencePieceProcessor processor_;
  std::vector<std::string> pieces_;
};

}  // namespace

std::shared_ptr<const Tokenizer> read_sentence_piece(std::string model, SentencePieceEnds ends,
                                                     const std::string& source) {
  return std::make_shared<SentencePieceTokenizer>(std::move(model), ends, source);
}

std::shared_ptr<const Tokenizer> sentence_piece_of(const std::map<std::string, std::string>& config) {
  constexpr const char* kFunction = "make_tokenizer";
  const auto word = [&](const char* name) {
    const auto found = config.find(name);
    if (found == config.end()) throw InvalidArgument(kFunction, name, "a value", "none");
    return found->second;
  };
  std::optional<std::string> model = from_base64(word("model"));
  if (!model) throw InvalidArgument(kFunction, "model", "base64", "another text");
  const SentencePieceEnds ends{.bos = word("add_bos_token") == "true", .eos = word("add_eos_token") == "true"};
  return read_sentence_piece(std::move(*model), ends, std::string(kFunction) + ": model");
}

}  // namespace qkv::text
