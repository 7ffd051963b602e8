#include "text/model_proto.h"

#include <protozero/pbf_writer.hpp>

#include "text/sentence_piece.h"

namespace qkv::tests {
namespace {

std::string bytes_of(const ProtoFields& fields) {
  std::string bytes;
  protozero::pbf_writer writer(bytes);
  for (const auto& [number, value] : fields.numbers) writer.add_int32(number, value);
  for (const auto& [number, value] : fields.texts) writer.add_bytes(number, value);
  return bytes;
}

}  // namespace

std::string bytes_of(const ModelProto& model) {
  std::string bytes;
  protozero::pbf_writer writer(bytes);
  for (const ProtoPiece& piece : model.pieces) {
    protozero::pbf_writer one(writer, 1);
    one.add_string(1, piece.text);
    one.add_float(2, piece.score);
    one.add_int32(3, piece.type);
  }
  writer.add_message(2, bytes_of(model.trainer));
  writer.add_message(3, bytes_of(model.normalizer));
  writer.add_message(5, bytes_of(model.denormalizer));
  return bytes;
}

std::shared_ptr<const Tokenizer> tokenizer_of(const std::string& bytes) {
  return text::read_sentence_piece(bytes, text::SentencePieceOptions{}, "a.model");
}

std::vector<ProtoPiece> byte_pieces() {
  constexpr std::string_view kDigits = "0123456789ABCDEF";
  std::vector<ProtoPiece> pieces;
  for (const char high : kDigits) {
    for (const char low : kDigits) {
      pieces.push_back({.text = std::string("<0x") + high + low + ">", .type = kByte});
    }
  }
  return pieces;
}

}  // namespace qkv::tests
