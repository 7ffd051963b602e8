#include "text/decoder.h"

#include <numeric>
#include <utility>

#include "text/byte_level.h"
#include "text/clean_up.h"
#include "text/growth.h"
#include "text/pre_tokenizer.h"

namespace qkv::text {
namespace {

std::string joined(const std::vector<std::string>& pieces) {
  return std::accumulate(pieces.begin(), pieces.end(), std::string());
}

class ByteLevelDecoder final : public Decoder {
 public:
  void apply(std::vector<std::string>& pieces) const override {
    std::string bytes;
    for (const std::string& piece : pieces) append(bytes, piece);
    pieces = {with_replacements(bytes)};
  }
  [[nodiscard]] std::string bytes(const std::string& piece) const override {
    std::string bytes;
    append(bytes, piece);
    return bytes;
  }

 private:
  // A piece with a character that stands for no byte is taken as it is.
  static void append(std::string& bytes, const std::string& piece) {
    std::string own;
    bool all = true;
    for_each_character(piece, [&](char32_t c) {
      const auto byte = byte_of(c);
      all = all && byte;
      if (byte) own += static_cast<char>(*byte);
    });
    bytes += all ? own : piece;
  }
};

class WordPieceDecoder final : public Decoder {
 public:
  WordPieceDecoder(std::string prefix, bool cleanup) : prefix_(std::move(prefix)), cleanup_(cleanup) {}
  void apply(std::vector<std::string>& pieces) const override {
    for (std::size_t n = 0; n < pieces.size(); ++n) {
      std::string& piece = pieces[n];
      const bool continues = piece.starts_with(prefix_);
      if (n > 0) piece = continues ? piece.substr(prefix_.size()) : " " + piece;
      if (!cleanup_) continue;
      clean_up(piece);
      replace_all(piece, " do not", " don't");
    }
  }

 private:
  std::string prefix_;
  bool cleanup_;
};

class MetaspaceDecoder final : public Decoder {
 public:
  explicit MetaspaceDecoder(const MetaspaceOptions& options) : options_(options) {}
  void apply(std::vector<std::string>& pieces) const override {
    for (std::size_t n = 0; n < pieces.size(); ++n) {
      const bool drops = n == 0 && options_.prepend != PrependScheme::never;
      replace_all(pieces[n], to_utf8(options_.replacement), drops ? "" : " ");
    }
  }

 private:
  MetaspaceOptions options_;
};

// "<0xC3>", "<0xA9>" are the bytes of a character; each byte of what is no UTF-8 is U+FFFD.
class ByteFallbackDecoder final : public Decoder {
 public:
  void apply(std::vector<std::string>& pieces) const override {
    std::vector<std::string> made;
    std::string bytes;
    const auto flush = [&] {
      if (with_replacements(bytes) == bytes) {
        if (!bytes.empty()) made.push_back(bytes);
      } else {
        made.insert(made.end(), bytes.size(), to_utf8(kReplacement));
      }
      bytes.clear();
    };
    for (std::string& piece : pieces) {
      if (const auto byte = byte_in(piece)) {
        bytes += static_cast<char>(*byte);
        continue;
      }
      flush();
      made.push_back(std::move(piece));
    }
    flush();
    pieces = std::move(made);
  }

 private:
  static std::optional<unsigned> byte_in(std::string_view piece) {
    constexpr std::size_t kSize = 6;
    constexpr unsigned kBase = 16;
    if (piece.size() != kSize || !piece.starts_with("<0x") || piece.back() != '>') return std::nullopt;
    unsigned value = 0;
    for (const char digit : piece.substr(3, 2)) {
      const std::size_t n = std::string_view("0123456789ABCDEFabcdef").find(digit);
      if (n == std::string_view::npos) return std::nullopt;
      value = value * kBase + static_cast<unsigned>(n < kBase ? n : n - 6);
    }
    return value;
  }
};

class FuseDecoder final : public Decoder {
 public:
  void apply(std::vector<std::string>& pieces) const override { pieces = {joined(pieces)}; }
};

// Up to so many of a character at the begin and the end of each piece.
class StripDecoder final : public Decoder {
 public:
  StripDecoder(char32_t content, std::int64_t start, std::int64_t stop)
      : content_(to_utf8(content)), start_(start), stop_(stop) {}
  void apply(std::vector<std::string>& pieces) const override {
    for (std::string& piece : pieces) {
      for (std::int64_t n = 0; n < start_ && piece.starts_with(content_); ++n) piece.erase(0, content_.size());
      for (std::int64_t n = 0; n < stop_ && piece.ends_with(content_); ++n) {
        piece.resize(piece.size() - content_.size());
      }
    }
  }

 private:
  std::string content_;
  std::int64_t start_;
  std::int64_t stop_;
};

class ReplaceDecoder final : public Decoder {
 public:
  ReplaceDecoder(Regex pattern, std::string content) : pattern_(std::move(pattern)), content_(std::move(content)) {}
  void apply(std::vector<std::string>& pieces) const override {
    std::size_t made = 0;
    for (std::string& piece : pieces) {
      std::vector<Part> parts;
      const std::string valid = with_replacements(piece);
      pattern_.find_all(valid, parts);
      piece.clear();
      for (const Part& part : parts) {
        piece += part.matches ? content_ : valid.substr(part.begin, part.end - part.begin);
        require_growth(made + piece.size());
      }
      made += piece.size();
    }
  }

 private:
  Regex pattern_;
  std::string content_;
};

class BpeDecoder final : public Decoder {
 public:
  explicit BpeDecoder(std::string suffix) : suffix_(std::move(suffix)) {}
  void apply(std::vector<std::string>& pieces) const override {
    for (std::size_t n = 0; n < pieces.size(); ++n) replace_all(pieces[n], suffix_, n + 1 == pieces.size() ? "" : " ");
  }

 private:
  std::string suffix_;
};

class DecoderSequence final : public Decoder {
 public:
  explicit DecoderSequence(std::vector<DecoderPtr> all) : all_(std::move(all)) {}
  void apply(std::vector<std::string>& pieces) const override {
    for (const DecoderPtr& next : all_) next->apply(pieces);
  }
  [[nodiscard]] std::string bytes(const std::string& piece) const override {
    std::string bytes = piece;
    for (const DecoderPtr& next : all_) bytes = next->bytes(bytes);
    return bytes;
  }

 private:
  std::vector<DecoderPtr> all_;
};

DecoderPtr read_decoder_sequence(const JsonField& field) {
  field.require_only({"type", "decoders"});
  std::vector<DecoderPtr> all;
  for (const JsonField& next : field.at("decoders").elements()) all.push_back(read_decoder(next));
  return std::make_shared<DecoderSequence>(std::move(all));
}

DecoderPtr read_strip(const JsonField& field) {
  field.require_only({"type", "content", "start", "stop"});
  return std::make_shared<StripDecoder>(field.at("content").character(), field.at("start").whole(0, INT32_MAX),
                                        field.at("stop").whole(0, INT32_MAX));
}

}  // namespace

DecoderPtr read_decoder(const JsonField& field) {
  const std::string type = field.at("type").string();
  if (type == "Sequence") return read_decoder_sequence(field);
  if (type == "Metaspace") return std::make_shared<MetaspaceDecoder>(read_metaspace_options(field));
  if (type == "Strip") return read_strip(field);
  if (type == "ByteLevel") {
    field.require_only({"type", "add_prefix_space", "trim_offsets", "use_regex"});
    return std::make_shared<ByteLevelDecoder>();
  }
  if (type == "WordPiece") {
    field.require_only({"type", "prefix", "cleanup"});
    return std::make_shared<WordPieceDecoder>(field.at("prefix").string(), field.at("cleanup").boolean());
  }
  if (type == "Replace") {
    field.require_only({"type", "pattern", "content"});
    return std::make_shared<ReplaceDecoder>(read_pattern(field.at("pattern")), field.at("content").string());
  }
  if (type == "BPEDecoder") {
    field.require_only({"type", "suffix"});
    return std::make_shared<BpeDecoder>(field.at("suffix").string());
  }
  if (type == "ByteFallback" || type == "Fuse") {
    field.require_only({"type"});
    if (type == "Fuse") return std::make_shared<FuseDecoder>();
    return std::make_shared<ByteFallbackDecoder>();
  }
  field.at("type").fail("Sequence, ByteLevel, WordPiece, Metaspace, ByteFallback, Fuse, Strip, Replace or BPEDecoder");
}

}  // namespace qkv::text
