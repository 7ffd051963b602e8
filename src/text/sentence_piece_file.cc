#include "text/sentence_piece_file.h"

#include <cmath>
#include <protozero/exception.hpp>
#include <protozero/pbf_reader.hpp>
#include <unordered_set>

#include "core/plain_number.h"
#include "qkv/error.h"
#include "text/characters.h"

namespace qkv::text {
namespace {

using protozero::pbf_reader;
using protozero::pbf_wire_type;
using protozero::tag_and_type;

// Of the message: https://github.com/google/sentencepiece, src/sentencepiece_model.proto
constexpr std::uint32_t kPieces = tag_and_type(1, pbf_wire_type::length_delimited);
constexpr std::uint32_t kTrainer = tag_and_type(2, pbf_wire_type::length_delimited);
constexpr std::uint32_t kNormalizer = tag_and_type(3, pbf_wire_type::length_delimited);
constexpr std::uint32_t kDenormalizer = tag_and_type(5, pbf_wire_type::length_delimited);
constexpr std::uint32_t kPieceText = tag_and_type(1, pbf_wire_type::length_delimited);
constexpr std::uint32_t kPieceScore = tag_and_type(2, pbf_wire_type::fixed32);
constexpr std::uint32_t kPieceType = tag_and_type(3, pbf_wire_type::varint);
constexpr std::uint32_t kModelType = tag_and_type(3, pbf_wire_type::varint);
constexpr std::uint32_t kWhitespaceAsSuffix = tag_and_type(24, pbf_wire_type::varint);
constexpr std::uint32_t kByteFallback = tag_and_type(35, pbf_wire_type::varint);
constexpr std::uint32_t kUnknownSurface = tag_and_type(44, pbf_wire_type::length_delimited);
constexpr std::uint32_t kBos = tag_and_type(46, pbf_wire_type::length_delimited);
constexpr std::uint32_t kEos = tag_and_type(47, pbf_wire_type::length_delimited);
constexpr std::uint32_t kCharsmap = tag_and_type(2, pbf_wire_type::length_delimited);
constexpr std::uint32_t kAddDummyPrefix = tag_and_type(3, pbf_wire_type::varint);
constexpr std::uint32_t kRemoveExtraWhitespaces = tag_and_type(4, pbf_wire_type::varint);
constexpr std::uint32_t kEscapeWhitespaces = tag_and_type(5, pbf_wire_type::varint);

constexpr std::size_t kTooLong = 8000;  // bytes of a piece

class SentencePieceReader {
 public:
  SentencePieceReader(std::string_view bytes, const std::string& source)
      : message_(bytes.data(), bytes.size()), source_(source) {}

  SentencePieceFile read() {
    try {
      while (message_.next()) read_field();
    } catch (const protozero::end_of_buffer_exception&) {
      fail("a SentencePiece model", "one that ends within a field");
    } catch (const protozero::exception& error) {
      fail("a SentencePiece model", std::string("bytes that are none: ") + error.what());
    }
    check_pieces();
    return std::move(file_);
  }

 private:
  [[noreturn]] void fail(const std::string& expected, const std::string& got) const {
    throw FileError(source_, "expected " + expected + ", got " + got);
  }
  [[nodiscard]] static std::string named(std::size_t id, const SentencePiece& piece) {
    return "piece " + std::to_string(id) + ", \"" + with_replacements(piece.text) + "\"";
  }

  void read_field() {
    switch (message_.tag_and_type()) {
      case kPieces:
        return read_piece(message_.get_message());
      case kTrainer:
        return read_trainer(message_.get_message());
      case kNormalizer:
        return read_rules(message_.get_message(), file_.normalizer);
      case kDenormalizer:
        return read_rules(message_.get_message(), file_.denormalizer);
      default:
        message_.skip();
    }
  }

  void read_piece(pbf_reader message) {
    SentencePiece piece;
    auto type = static_cast<std::int32_t>(piece.type);
    while (message.next()) {
      switch (message.tag_and_type()) {
        case kPieceText:
          piece.text = message.get_string();
          break;
        case kPieceScore:
          piece.score = message.get_float();
          break;
        case kPieceType:
          type = message.get_int32();
          break;
        default:
          message.skip();
      }
    }
    const std::size_t id = file_.pieces.size();
    if (type < 1 || type > static_cast<std::int32_t>(SentencePieceType::byte)) {
      fail("a type from 1 to 6 for " + named(id, piece), std::to_string(type));
    }
    piece.type = static_cast<SentencePieceType>(type);
    file_.pieces.push_back(std::move(piece));
  }

  void read_trainer(pbf_reader message) {
    auto model = static_cast<std::int32_t>(file_.model);
    while (message.next()) {
      switch (message.tag_and_type()) {
        case kModelType:
          model = message.get_int32();
          break;
        case kWhitespaceAsSuffix:
          file_.whitespace_as_suffix = message.get_bool();
          break;
        case kByteFallback:
          file_.byte_fallback = message.get_bool();
          break;
        case kUnknownSurface:
          file_.unknown_surface = with_replacements(message.get_string());
          break;
        case kBos:
          read_name(message, file_.bos);
          break;
        case kEos:
          read_name(message, file_.eos);
          break;
        default:
          message.skip();
      }
    }
    if (model < 1 || model > static_cast<std::int32_t>(SentencePieceModelType::character)) {
      fail("a model_type from 1 to 4", std::to_string(model));
    }
    file_.model = static_cast<SentencePieceModelType>(model);
  }

  // An empty one stands for the usual name.
  static void read_name(pbf_reader& message, std::string& name) {
    if (std::string given = message.get_string(); !given.empty()) name = std::move(given);
  }

  static void read_rules(pbf_reader message, SentencePieceRules& rules) {
    while (message.next()) {
      switch (message.tag_and_type()) {
        case kCharsmap:
          rules.charsmap = message.get_string();
          break;
        case kAddDummyPrefix:
          rules.add_dummy_prefix = message.get_bool();
          break;
        case kRemoveExtraWhitespaces:
          rules.remove_extra_whitespaces = message.get_bool();
          break;
        case kEscapeWhitespaces:
          rules.escape_whitespaces = message.get_bool();
          break;
        default:
          message.skip();
      }
    }
  }

  void check_pieces() {
    if (file_.pieces.empty()) fail("a SentencePiece model", "one without pieces");
    file_.bytes.fill(-1);
    for (std::size_t id = 0; id < file_.pieces.size(); ++id) check_piece(id);
    if (file_.byte_fallback) {
      for (std::size_t byte = 0; byte < file_.bytes.size(); ++byte) {
        if (file_.bytes[byte] < 0) fail("a piece for each of 256 bytes", "none for byte " + std::to_string(byte));
      }
    } else if (!file_.unknown) {
      fail("a piece for what is unknown", "none");
    }
  }

  void check_piece(std::size_t id) {
    SentencePiece& piece = file_.pieces[id];
    const std::string_view text = piece.text;
    if (text.empty()) fail("a text for piece " + std::to_string(id), "none");
    if (text.size() >= kTooLong) {
      fail("pieces of less than 8000 bytes", std::to_string(text.size()) + " in piece " + std::to_string(id));
    }
    if (with_replacements(text) != text) fail("UTF-8 in " + named(id, piece), "other bytes");
    if (!std::isfinite(piece.score)) fail("a finite score for " + named(id, piece), core::plain_number(piece.score));
    // Converted models have a piece of a zero byte beside <0x00>; it is not used.
    const bool is_zero = text.size() == 1 && text[0] == '\0';
    if (is_zero && file_.byte_fallback) piece.type = SentencePieceType::unused;
    if (text.find('\0') != std::string_view::npos && !(is_zero && piece.type == SentencePieceType::unused)) {
      fail("no zero byte in " + named(id, piece), "one");
    }
    auto& known = stands_in_text(piece.type) ? texts_ : marks_;
    if (!known.insert(text).second) fail("each piece once", named(id, piece) + " again");
    if (piece.type == SentencePieceType::unknown) {
      if (file_.unknown) fail("one piece for what is unknown", "two, " + named(id, piece) + " being the second");
      file_.unknown = static_cast<std::int32_t>(id);
    }
    if (piece.type == SentencePieceType::byte) check_byte(id);
  }

  void check_byte(std::size_t id) {
    const SentencePiece& piece = file_.pieces[id];
    if (!file_.byte_fallback) fail("no pieces for bytes without byte_fallback", named(id, piece));
    constexpr std::size_t kSize = 6;
    constexpr unsigned kBase = 16;
    constexpr std::string_view kHexDigits = "0123456789ABCDEF";
    const std::string_view text = piece.text;
    const bool framed = text.size() == kSize && text.starts_with("<0x") && text.ends_with('>');
    const std::size_t high = framed ? kHexDigits.find(text[3]) : std::string_view::npos;
    const std::size_t low = framed ? kHexDigits.find(text[4]) : std::string_view::npos;
    if (high == std::string_view::npos || low == std::string_view::npos) {
      fail("a byte such as <0x0A>", named(id, piece));
    }
    file_.bytes[high * kBase + low] = static_cast<std::int32_t>(id);
  }

  pbf_reader message_;
  const std::string& source_;
  SentencePieceFile file_;
  std::unordered_set<std::string_view> texts_;
  std::unordered_set<std::string_view> marks_;
};

}  // namespace

SentencePieceFile read_sentence_piece_file(std::string_view bytes, const std::string& source) {
  return SentencePieceReader(bytes, source).read();
}

}  // namespace qkv::text
