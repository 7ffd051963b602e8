// A model of any kind as one object: network, config and tokenizer, as they stand in one file. It knows no task.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <variant>
#include <vector>

#include "qkv/model/attention_site.h"
#include "qkv/model/captioner.h"
#include "qkv/model/encoder.h"
#include "qkv/model/encoder_decoder.h"
#include "qkv/model/image_encoder.h"
#include "qkv/model/model_kind.h"
#include "qkv/model/transcriber.h"
#include "qkv/model/two_tower.h"
#include "qkv/safetensors.h"
#include "qkv/text/tokenizer.h"

namespace qkv {

/// What a model reads; each kind reads its part. Shorter texts are padded at their end with any token.
struct ModelInput {
  TensorView ids;                                 // i64 [B, T]: the tokens; of a text to be written, those so far
  std::vector<std::int64_t> lengths = {};         // of each text of ids; empty if none is padded
  TensorView types = {};                          // i64 [B, T]: of an encoder with token types; none: all 0
  TensorView source = {};                         // i64 [B, S]: of an encoder-decoder
  std::vector<std::int64_t> source_lengths = {};  // likewise of source
  TensorView images = {};                         // f32 [B, 3, side, side]: of a captioner, two towers and images alone
  TensorView sounds = {};                         // f32 [B, bins, frames]: of a transcriber
};

/// What cuts the texts that a model reads and writes; null where its file has none.
struct ModelTokenizers {
  std::shared_ptr<const Tokenizer> tokens = nullptr;
  std::shared_ptr<const Tokenizer> source = nullptr;  // of a source with pieces of its own
  std::vector<std::int64_t> ends = {};                // tokens of which each ends a text that the model writes
  // What fills each text up to the model's length, where the model reads that too (SigLIP); none elsewhere.
  std::optional<std::int64_t> padding = std::nullopt;
  std::string chat_template = {};  // of messages, in Jinja, as the model's authors wrote it; empty where there is none
  std::vector<std::string> classes = {};                   // what an image encoder calls those that it tells apart
  std::map<std::string, std::string> special_tokens = {};  // as that template calls them: {"eos_token", "<|im_end|>"}
};

/// A config in words: {"kind", "decoder"}, {"heads", "4"}. Two models with the same config have the same parameters.
using ModelConfig = std::map<std::string, std::string>;

/// What becomes of weights that a GGUF file, or a folder of gpt-oss, has in blocks of short numbers.
enum class QuantisedWeights : std::uint8_t {
  as_f32,     // their numbers in f32: seven to eight times the memory of 4 bits; those of a folder in bf16
  as_stored,  // the blocks in the mapped file; products with them take activations in 8 bits
};

/// What a network is made of, itself included; null for what it has not. Whoever reads a part's options or calls a part
/// takes it from here, so that another kind made of the same parts is read alike.
struct NetworkParts {
  const Encoder* encoder = nullptr;  // of a text
  const Decoder* decoder = nullptr;  // what says tokens, one after the other
  const Captioner* captioner = nullptr;
  const TwoTower* towers = nullptr;
  const ImageEncoder* image_encoder = nullptr;
  const Transcriber* transcriber = nullptr;
};

class Model {
 public:
  /// The kinds of models.
  using Network = std::variant<Decoder,         // one text; a token sees those before it
                               Encoder,         // one text; every token sees all
                               EncoderDecoder,  // a source, and tokens that attend to it
                               Captioner,       // an image, and tokens that attend to its patches
                               TwoTower,        // an image and a text, each with an encoder
                               ImageEncoder,    // an image alone
                               Transcriber>;    // a sound, and tokens that attend to its frames

  explicit Model(Network network, ModelTokenizers tokenizers = {});
  /// The network of a config. Throws InvalidArgument naming the word that is missing or has no meaning.
  Model(const ModelConfig& config, const Init& init, DType dtype = DType::f32, ModelTokenizers tokenizers = {});

  /// What save() wrote, or a folder as others publish models in: config.json with model.safetensors, or with shards and
  /// their index, of the families in docs/models.md; or a GGUF file. The file is mapped: parameters are read where they
  /// lie, in their dtype, and nothing is drawn; quantised ones become what `quantised` says. Throws Error naming the
  /// file: as Safetensors::read() and Gguf::read(), for a file without a config, and with the first differences if
  /// tensors are missing, surplus, of another shape than the config says or in whole numbers. Tensors under
  /// "optimizer/" do not count.
  [[nodiscard]] static Model open(const std::string& path, QuantisedWeights quantised = QuantisedWeights::as_f32);
  /// The same of a file that is open; `path` stands in messages.
  [[nodiscard]] static Model of_file(const Safetensors& file, const std::string& path);
  /// One safetensors file with parameters, config and tokenizers, and `more` among its metadata. It appears whole or
  /// not at all. Throws Error as write_file().
  void save(const std::string& path, const std::map<std::string, std::string>& more = {}) const;
  /// What save() says of config and tokenizers: "model.kind", "tokenizer.pieces".
  [[nodiscard]] std::map<std::string, std::string> metadata() const;

  [[nodiscard]] ModelKind kind() const noexcept { return static_cast<ModelKind>(network_.index()); }
  [[nodiscard]] const KindTraits& traits() const noexcept { return traits_of(kind()); }
  [[nodiscard]] const Network& network() const noexcept { return network_; }
  [[nodiscard]] NetworkParts parts() const;
  [[nodiscard]] ModelConfig config() const;
  [[nodiscard]] const ModelTokenizers& tokenizers() const noexcept { return tokenizers_; }
  [[nodiscard]] Parameters parameters() const;
  /// What of its files open() left out, or reads otherwise than the program that wrote them, a sentence each, for
  /// people. Empty for most models, and for those of save().
  [[nodiscard]] const std::vector<std::string>& cautions() const noexcept { return cautions_; }
  /// The safetensors file that open() or of_file() read, as it was then; null for a folder, GGUF and what was drawn.
  [[nodiscard]] const Safetensors* file() const noexcept { return file_.get(); }
  void add_caution(std::string what) { cautions_.push_back(std::move(what)); }
  /// The tokens of a text as the model reads them: filled up with tokenizers().padding, if it has one, to its length.
  /// Throws InvalidArgument of what they are `called` if there are more than that already.
  [[nodiscard]] std::vector<std::int32_t> padded(std::vector<std::int32_t> tokens,
                                                 std::string_view called = "tokens") const;
  /// How quantised parameters are computed with, for people: "weights of Q4_1 and Q8_0 as in the file, activations in
  /// 8 bits". Empty where all parameters are plain numbers.
  [[nodiscard]] std::string quantised_words() const;
  /// The same model with its parameters, quantised ones too, copied into another dtype: optimisers take f32 and f64
  /// alone.
  [[nodiscard]] Model to(DType dtype) const;
  /// By the arithmetic of the config.
  [[nodiscard]] std::int64_t parameter_count() const;
  /// That the model computes in where a call says nothing else: f64 for parameters of f64, f32 for all others.
  [[nodiscard]] DType dtype() const;
  /// Whether forward() gives scores of tokens: of all but two towers, image encoders and models that give states alone.
  [[nodiscard]] bool scores_tokens() const;

  /// Scores [B, T, vocabulary] in call.dtype: of the token after each, or of an encoder at each place. Throws
  /// InvalidArgument unless scores_tokens(), and as the network does.
  [[nodiscard]] Variable forward(const ModelInput& input, const ModelCall& call = {}) const;
  /// The last states [B, T, d_model] in call.dtype, of an encoder or a decoder, as their hidden() gives them, or of an
  /// image encoder. Throws InvalidArgument for the other kinds, and as the network does.
  [[nodiscard]] Variable states(const ModelInput& input, const ModelCall& call = {}) const;
  /// What the model gives for an input: scores if scores_tokens(), else states; of two towers the vector
  /// [B, d_embedding] of the images, or of the texts where there are no images; of an image encoder with classes their
  /// scores [B, classes].
  [[nodiscard]] Variable result(const ModelInput& input, const ModelCall& call = {}) const;
  /// Of rank 0: the mean cross-entropy of the targets, i64 [B, T], or of an image encoder's classes, i64 [B]; of two
  /// towers their contrastive loss.
  [[nodiscard]] Variable loss(const ModelInput& input, const TensorView& targets, const ModelCall& call = {}) const;
  /// The scores [B, T, vocabulary] that a residual stream [B, T, d_model] would give as the output of the last block of
  /// what says tokens: its last norm, head and output map; of an image encoder the scores [B, classes]. A trace sees
  /// them by their names in forward(). Throws InvalidArgument for a model that scores neither.
  [[nodiscard]] Variable read_out(const Variable& stream, const ModelCall& call = {}) const;
  /// Writes on after ids, over a cache of keys and values. Throws InvalidArgument for an encoder and for two towers,
  /// and as the network does.
  [[nodiscard]] NewTokens generate(const ModelInput& input, const GenerateOptions& options) const;

  /// A forward pass for its trace, in dtype(); nothing is recorded. Of two towers the one whose images or ids are
  /// there; with both, the loss. Throws InvalidArgument naming input if there is neither, and as forward().
  void run(const ModelInput& input, Trace& trace) const;
  /// Where a trace has the attention of a site; nullopt if the model has none.
  [[nodiscard]] std::optional<SiteScope> scope_of(AttentionSite site) const;
  /// Weights of every head, [B, H, Tq, Tk] a layer; empty if the model has no such site. Allocates them all.
  [[nodiscard]] std::vector<Tensor> weights(const ModelInput& input, AttentionSite site) const;

 private:
  Network network_;
  ModelTokenizers tokenizers_;
  std::vector<std::string> cautions_;
  std::shared_ptr<const Safetensors> file_;
};

namespace model_detail {

template <class Network, class... All>
constexpr ModelKind kind_among(std::type_identity<std::variant<All...>> /*all*/) {
  std::uint8_t place = 0;
  static_cast<void>(((std::is_same_v<Network, All> || (++place, false)) || ...));
  return static_cast<ModelKind>(place);
}

}  // namespace model_detail

/// The kind that has this network.
template <class Network>
inline constexpr ModelKind kind_of = model_detail::kind_among<Network>(std::type_identity<Model::Network>());

[[nodiscard]] NetworkParts parts_of(const Model::Network& network);

}  // namespace qkv
