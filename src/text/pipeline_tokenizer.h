// A tokenizer made of stages: added tokens and normaliser, pre-tokeniser, model, post-processor, decoder.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "qkv/text/tokenizer.h"
#include "text/added_tokens.h"
#include "text/decoder.h"
#include "text/post_processor.h"
#include "text/pre_tokenizer.h"
#include "text/subword_model.h"
#include "text/word_cache.h"

namespace qkv::text {

/// What tokenizer.json says; all but the model may be null.
struct PipelineStages {
  NormalizerPtr normalizer;
  PreTokenizerPtr pre_tokenizer;
  SubwordModelPtr model;
  PostProcessorPtr post_processor;
  DecoderPtr decoder;
  std::vector<AddedToken> added_tokens;
};

class PipelineTokenizer final : public Tokenizer {
 public:
  /// `json` gives what the stages were read from.
  PipelineTokenizer(PipelineStages stages, std::function<std::string()> json);

  [[nodiscard]] std::int64_t size() const noexcept override { return size_; }
  [[nodiscard]] const std::string& piece(std::int32_t id) const override;
  [[nodiscard]] std::string bytes(std::int32_t id) const override;
  [[nodiscard]] std::optional<std::int32_t> find(std::string_view piece) const noexcept override;
  /// "kind" tokenizer.json, and "json", all of it.
  [[nodiscard]] std::map<std::string, std::string> config() const override;

 private:
  [[nodiscard]] Encoding encode_text(std::string_view text, const EncodeOptions& options) const override;
  [[nodiscard]] std::string decode_ids(std::span<const std::int32_t> ids, SpecialTokens special) const override;
  [[nodiscard]] EncodedPart encode_part(std::string_view text, TokenSource source) const;

  PipelineStages stages_;
  AddedTokens added_;
  std::function<std::string()> json_;
  PieceTable added_pieces_;  // texts of added tokens
  std::int64_t size_ = 0;
  mutable WordCachePool caches_;
};

inline constexpr const char* kPipelineKind = "tokenizer.json";

[[nodiscard]] std::shared_ptr<const Tokenizer> pipeline_from_json(std::string json, const std::string& source);
/// Of a value, and of it as text.
[[nodiscard]] std::shared_ptr<const Tokenizer> pipeline_of(const Json& json, std::string text,
                                                           const std::string& source);
/// Of a model, and of a value that says the other stages. `json` is asked for all of it when it is to be saved.
[[nodiscard]] std::shared_ptr<const Tokenizer> pipeline_of(SubwordModelPtr model, const Json& others,
                                                           std::function<std::string()> json,
                                                           const std::string& source);

}  // namespace qkv::text
