// Files that SentencePiece would write: small ones, for tests.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "qkv/text/tokenizer.h"

namespace qkv::tests {

inline constexpr int kNormal = 1;
inline constexpr int kUnknown = 2;
inline constexpr int kControl = 3;
inline constexpr int kUserDefined = 4;
inline constexpr int kUnused = 5;
inline constexpr int kByte = 6;

struct ProtoPiece {
  std::string text;
  float score = 0;
  int type = kNormal;
};

/// Fields by their numbers in the message.
struct ProtoFields {
  std::map<std::uint32_t, std::int32_t> numbers = {};
  std::map<std::uint32_t, std::string> texts = {};
};

struct ModelProto {
  std::vector<ProtoPiece> pieces = {};
  ProtoFields trainer = {};
  ProtoFields normalizer = {};
  ProtoFields denormalizer = {};
};

[[nodiscard]] std::string bytes_of(const ModelProto& model);
/// The tokenizer of a tokenizer.model with these bytes.
[[nodiscard]] std::shared_ptr<const Tokenizer> tokenizer_of(const std::string& bytes);

/// "<0x00>" to "<0xFF>".
[[nodiscard]] std::vector<ProtoPiece> byte_pieces();

}  // namespace qkv::tests
