// The tokenizer in a GGUF file's metadata.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "files/gguf_keys.h"
#include "qkv/text/tokenizer.h"

namespace qkv::text {

/// The tensor with a row for each token.
inline constexpr std::string_view kTokenTable = "token_embd.weight";

/// Of tokenizer.ggml.model "gpt2" (byte-level BPE with the pre-tokeniser that tokenizer.ggml.pre names), "llama"
/// (SentencePiece BPE), "t5" (its unigrams) or "bert" (WordPiece): the tokens of the folder that the file was made
/// from. nullptr where the file has no tokenizer. Throws Error naming the key, what was expected and what came, for
/// another model or pre-tokeniser, too. Adds to `cautions` what the file does not say.
[[nodiscard]] std::shared_ptr<const Tokenizer> gguf_tokenizer(const files::GgufKeys& keys,
                                                              std::vector<std::string>& cautions);

/// The same, of as many pieces as the file's table of tokens has rows; as it is where there is no such table.
[[nodiscard]] std::shared_ptr<const Tokenizer> fitted_gguf_tokenizer(const files::GgufKeys& keys,
                                                                     std::vector<std::string>& cautions);

/// The name in tokenizer.ggml.pre of a pre-tokeniser and what goes with it: the normaliser and ignore_merges. `json` is
/// a tokenizer.json. Throws Error naming `source` and the part for one that has no name there.
[[nodiscard]] std::string gguf_pre_tokenizer(const nlohmann::json& json, const std::string& source);

/// Throws Error: `part` of the tokenizer is not what GGUF can hold.
[[noreturn]] void refuse_tokenizer(const std::string& source, const std::string& part, const std::string& expected);

/// A special token by GGUF's name. nullopt if there is no such key, or its value means "no token". Throws Error naming
/// the key if the value is not below `count`.
[[nodiscard]] std::optional<std::int64_t> special_token(const files::GgufKeys& keys, const std::string& name,
                                                        std::size_t count);

/// The key of a special token by GGUF's name: "tokenizer.ggml.bos_token_id" of "bos".
[[nodiscard]] std::string token_id_key(std::string_view name);

/// GGUF's names of tokens of which each ends a text that the model writes: of the end of a text, a turn and a message.
inline constexpr std::array<const char*, 3> kEndTokenNames = {"eos", "eot", "eom"};
/// The tokens of these names, each once.
[[nodiscard]] std::vector<std::int64_t> gguf_ends(const files::GgufKeys& keys);

/// Special tokens by the names that chat templates have for them: {"bos_token", "<s>"}.
[[nodiscard]] std::map<std::string, std::string> gguf_special_tokens(const files::GgufKeys& keys);

}  // namespace qkv::text
