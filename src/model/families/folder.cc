// Model::open of a folder as others publish models: config.json beside its weights.
#include "model/families/folder.h"

#include <filesystem>

#include "files/place.h"
#include "model/families/config_words.h"
#include "model/families/family.h"
#include "model/families/folder_paths.h"
#include "model/families/heads.h"
#include "model/families/loading.h"
#include "qkv/error.h"
#include "qkv/text/read_tokenizer.h"
#include "text/files_beside.h"
#include "text/fitted_tokenizer.h"

namespace qkv::families {
namespace {

namespace fs = std::filesystem;

constexpr const char* kGeneration = "generation_config.json";

DType stored_dtype(const WeightFiles& files) {
  for (const auto& [name, file] : files.names()) {
    if (!name.ends_with(".weight")) continue;
    if (const DType dtype = files.load(name).dtype(); is_floating(dtype)) return dtype;
  }
  return DType::f32;
}

// That of the folder, if it has one, with a piece for each row of the table of tokens.
std::shared_ptr<const Tokenizer> tokenizer_of(const std::string& folder, std::int64_t vocabulary,
                                              std::vector<std::string>& cautions) {
  return has_tokenizer(folder) ? text::fitted_tokenizer(read_tokenizer(folder, &cautions), vocabulary) : nullptr;
}

// eos_token_id of generation_config.json, else of config.json. One that is no token of the model never comes: a GPT-2
// of a small vocabulary is saved with 50256.
std::vector<std::int64_t> ends_of(const std::string& folder, const ConfigFile& config, std::int64_t vocabulary,
                                  std::vector<std::string>& cautions) {
  constexpr const char* kWord = "eos_token_id";
  const fs::path path = fs::path(folder) / kGeneration;
  const ConfigFile own = files::is_there(path.string()) ? ConfigFile(path.string()) : config;
  const ConfigFile& said = own.has(kWord) ? own : config;
  std::vector<std::int64_t> ends = said.integers(kWord);
  const auto is_none = [&](std::int64_t end) { return end < 0 || end >= vocabulary; };
  if (std::erase_if(ends, is_none) == 0) return ends;
  cautions.push_back(fs::path(said.path()).filename().string() + ": eos_token_id " + said.shown(kWord) +
                     ": what is no token below vocab_size, " + std::to_string(vocabulary) + ", ends no text");
  return ends;
}

// "pad_token" of a file beside the tokenizer: a piece, or an object with one.
std::optional<std::int64_t> padding_in(const fs::path& path, const Tokenizer& tokenizer) {
  constexpr const char* kWord = "pad_token";
  if (!files::is_there(path.string())) return std::nullopt;
  const ConfigFile file(path.string());
  if (!file.has(kWord)) return std::nullopt;
  const std::string piece = file.has_object(kWord) ? file.object(kWord).text("content") : file.text(kWord);
  const std::optional<std::int32_t> token = tokenizer.find(piece);
  if (!token) file.refuse(kWord, "a piece of the tokenizer");
  return *token;
}

// What stands for a text at the last place has read the padding before it, so that it must be the authors'.
std::optional<std::int64_t> padding_of(const std::string& folder, const ConfigFile& config,
                                       const Model::Network& network, const Tokenizer* tokenizer) {
  const TwoTower* towers = parts_of(network).towers;
  if (towers == nullptr || towers->options().text_pooling != TextPooling::last || tokenizer == nullptr) {
    return std::nullopt;
  }
  for (const char* name : {"tokenizer_config.json", "special_tokens_map.json"}) {
    if (const auto token = padding_in(fs::path(folder) / name, *tokenizer)) return token;
  }
  constexpr const char* kWord = "pad_token_id";
  constexpr std::int64_t kUsual = 1;
  const ConfigFile text = config.object("text_config");
  const std::int64_t token = text.integer(kWord, kUsual);
  if (token >= tokenizer->size()) text.refuse(kWord, "a token of the tokenizer");
  return token;
}

// Of a file of its own, else of tokenizer_config.json: a text, or a list of them by name, of which "default" counts.
std::string chat_template_of(const std::string& folder, const text::Json& config) {
  constexpr const char* kWord = "chat_template";
  const fs::path own = fs::path(folder) / "chat_template.jinja";
  if (files::is_there(own.string())) return files::read_text(own.string());
  const text::Json chat = config.value(kWord, text::Json());
  if (chat.is_string()) return chat.get<std::string>();
  for (const text::Json& one : chat.is_array() ? chat : text::Json::array()) {
    const bool is_usual = one.is_object() && one.value("name", text::Json()) == "default";
    if (is_usual && one.value("template", text::Json()).is_string()) return one.at("template").get<std::string>();
  }
  return "";
}

// As a chat template calls them; none without one.
std::map<std::string, std::string> special_tokens_of(const text::FilesBeside& beside,
                                                     const std::string& chat_template) {
  std::map<std::string, std::string> tokens;
  if (chat_template.empty()) return tokens;
  for (const text::SpecialTokenName& name : text::kSpecialTokenNames) {
    if (std::optional<std::string> token = beside.token(name.of_files)) {
      tokens.emplace(name.of_files, std::move(*token));
    }
  }
  return tokens;
}

// config.json, with the first token of an encoder-decoder's texts as generation_config.json has it, which goes before.
ConfigFile config_in(const std::string& folder) {
  constexpr const char* kStart = "decoder_start_token_id";
  const fs::path own = fs::path(folder) / "config.json";
  if (!files::is_there(own.string())) {
    throw FileError(folder, "expected a folder with config.json, got one without");
  }
  ConfigFile config(own.string());
  const fs::path path = fs::path(folder) / kGeneration;
  if (!files::is_there(path.string())) return config;
  const ConfigFile generation(path.string());
  return generation.has(kStart) ? config.with(kStart, generation.integer(kStart)) : config;
}

ModelTokenizers tokenizers_of(const std::string& folder, const ConfigFile& config, const Model::Network& network,
                              std::vector<std::string>& cautions) {
  if (const ImageEncoder* encoder = parts_of(network).image_encoder) {
    return {.classes = encoder->options().classes > 0 ? classes_in(config) : std::vector<std::string>()};
  }
  const std::int64_t vocabulary = vocabulary_of(network);
  const auto source = tokenizer_of(folder, vocabulary, cautions);
  const fs::path of_target = fs::path(folder) / "target.spm";
  const bool has_two = config.text("model_type") == "marian" && files::is_there(of_target.string()) &&
                       !files::is_there((fs::path(folder) / "tokenizer.json").string());
  const auto tokens =
      has_two ? text::fitted_tokenizer(read_tokenizer(of_target.string(), &cautions), vocabulary) : source;
  const text::FilesBeside beside = text::read_files_beside(fs::path(folder) / "tokenizer.json", nullptr);
  const std::string chat_template = chat_template_of(folder, beside.config);
  return {.tokens = tokens,
          .source = has_two ? source : nullptr,
          .ends = ends_of(folder, config, vocabulary, cautions),
          .padding = padding_of(folder, config, network, tokens.get()),
          .chat_template = chat_template,
          .special_tokens = special_tokens_of(beside, chat_template)};
}

}  // namespace

std::int64_t vocabulary_of(const Model::Network& network) {
  return std::visit(
      []<class N>(const N& kind) -> std::int64_t {
        if constexpr (requires { kind.options().vocabulary; }) return kind.options().vocabulary;
        return 0;  // reads no text
      },
      network);
}

Model open_folder(const std::string& folder, QuantisedWeights quantised) {
  refuse_folder_above(folder);
  refuse_dangling_links(folder);
  refuse_adapter(folder);
  const ConfigFile config = config_in(folder);
  const Family& family = family_of(config);
  WeightFiles files(folder);
  if (has_mxfp4(config, family.type)) files.join_mxfp4();
  std::vector<std::string> cautions = files.cautions();
  refuse_quantised(folder, files);
  StoredWeights stored(family, files);
  const DType dtype = stored_dtype(files);
  const auto of_config = [&](const auto& work) {
    try {
      return work();
    } catch (const InvalidArgument& unsound) {
      throw FileError(config.path(), unsound.what());
    }
  };
  FittedNetwork fitted =
      of_config([&] { return fitted_to(stored, config, family.network(config, Init::undrawn(), dtype), dtype); });
  Loading loading(stored, fitted.stack, family.padding != nullptr ? family.padding(config) : 0);
  if (quantised == QuantisedWeights::as_f32) {
    require_memory(folder, files.numbers_in_blocks() * size_of(DType::bf16), DType::bf16);
    loading.set_numbers(DType::bf16);
  }
  if (const Decoder* decoder = parts_of(fitted.network).decoder) {
    loading.set_heads(heads_of(decoder->options()));
    loading.set_experts(decoder->options().choices.experts.count);
    const std::int64_t further = family.further_layers == nullptr ? 0 : family.further_layers(config);
    for (std::int64_t n = 0; n < further; ++n) {
      loading.leave_out("*layers." + std::to_string(decoder->options().layers + n) + ".*");
    }
  }
  for (const std::string_view pattern : fitted.left_out) loading.leave_out(pattern);
  for (const Parameter& parameter : Model(fitted.network).parameters()) loading.add(parameter);
  cautions.insert(cautions.end(), fitted.cautions.begin(), fitted.cautions.end());
  loading.finish(folder, fitted.hint, cautions);
  Model model(fitted.network, of_config([&] { return tokenizers_of(folder, config, fitted.network, cautions); }));
  for (std::string& what : cautions) model.add_caution(std::move(what));
  for (std::string& what : cautions_of(config, family.type)) model.add_caution(std::move(what));
  return model;
}

}  // namespace qkv::families
