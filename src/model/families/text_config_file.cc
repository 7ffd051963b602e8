// sentence_bert_config.json and its older names: how long a text may be, in what case it is read, and what else
// sentence-transformers is told of its Transformer.
#include <algorithm>
#include <array>
#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>

#include "files/place.h"
#include "model/families/sentence_files.h"
#include "qkv/error.h"
#include "qkv/text/read_tokenizer.h"

namespace qkv::families {
namespace {

namespace fs = std::filesystem;
using Names = std::span<const std::string_view>;

constexpr std::array<const char*, 7> kTextConfigs = {
    "sentence_bert_config.json",      "sentence_roberta_config.json", "sentence_distilbert_config.json",
    "sentence_camembert_config.json", "sentence_albert_config.json",  "sentence_xlm-roberta_config.json",
    "sentence_xlnet_config.json"};
// query_length and the two after it count for encode_query() and encode_document() alone.
constexpr std::array<std::string_view, 17> kTextWords = {
    "max_seq_length",    "do_lower_case",    "transformer_task", "modality_config", "module_output_name",
    "processing_kwargs", "processor_kwargs", "tokenizer_args",   "model_kwargs",    "model_args",
    "config_kwargs",     "config_args",      "unpad_inputs",     "query_length",    "document_length",
    "query_expansion",   "backend"};
// What says from where and how files are loaded, and in which dtype: qkv computes in its own.
constexpr std::array<std::string_view, 16> kLoadingWords = {"torch_dtype",
                                                            "dtype",
                                                            "attn_implementation",
                                                            "device_map",
                                                            "low_cpu_mem_usage",
                                                            "revision",
                                                            "code_revision",
                                                            "trust_remote_code",
                                                            "use_safetensors",
                                                            "cache_dir",
                                                            "token",
                                                            "local_files_only",
                                                            "add_pooling_layer",
                                                            "subfolder",
                                                            "use_cache",
                                                            "file_name"};
constexpr std::array<std::string_view, 9> kTokenizerWords = {
    "model_max_length", "truncation_side", "padding_side",     "use_fast",         "cache_dir",
    "revision",         "token",           "local_files_only", "trust_remote_code"};
constexpr std::array<std::string_view, 11> kCallWords = {"max_length",
                                                         "truncation",
                                                         "padding",
                                                         "padding_side",
                                                         "pad_to_multiple_of",
                                                         "return_tensors",
                                                         "return_attention_mask",
                                                         "return_token_type_ids",
                                                         "return_length",
                                                         "verbose",
                                                         "logits_to_keep"};
constexpr std::array<std::string_view, 6> kCallKinds = {"text", "common", "audio", "image", "video", "chat_template"};

// The file's object, or an empty one under the first name.
ConfigFile text_config_in(const fs::path& folder) {
  for (const char* name : kTextConfigs) {
    if (files::is_there((folder / name).string())) return ConfigFile((folder / name).string());
  }
  return ConfigFile::without_words((folder / kTextConfigs.front()).string());
}

// As sentence-transformers, which makes a Transformer of its own where no modules.json names one.
ConfigFile without_text_config(const fs::path& folder, EmbedOptions& options) {
  const ConfigFile left_out = text_config_in(folder);
  if (!left_out.words().empty()) {
    options.cautions.push_back(left_out.path() + ": not read, since there is no modules.json that names a Transformer");
  }
  return ConfigFile::without_words(left_out.path());
}

ConfigFile file_or_none(const fs::path& path) {
  return files::is_there(path.string()) ? ConfigFile(path.string()) : ConfigFile::without_words(path.string());
}

ConfigFile part_of_config(const ConfigFile& config, const char* word, const char* before = "") {
  const char* said = config.has(word) ? word : before;
  return config.has(said) ? config.object(said) : ConfigFile(nlohmann::json::object(), config.path() + ": " + word);
}

// A length in tokens; none where the file has none, or one as large as 1e30, which means the same.
std::optional<std::int64_t> length_in(const ConfigFile& config, const char* word) {
  constexpr double kUnlimited = 1LL << 31;
  if (!config.has(word)) return std::nullopt;
  const double length = config.number(word);
  if (!(length >= 1) || (length < kUnlimited && length != std::floor(length))) config.refuse(word, "1 or more");
  return length < kUnlimited ? std::optional(static_cast<std::int64_t>(length)) : std::nullopt;
}

// Tokens that the model has positions for. Of RoBERTa and its like the first ones are never used.
std::optional<std::int64_t> places_in(const ConfigFile& model) {
  constexpr std::array<std::string_view, 6> kBehindPadding = {"roberta",   "xlm-roberta", "xlm-roberta-xl",
                                                              "camembert", "mpnet",       "roberta-prelayernorm"};
  const char* word = model.has("max_position_embeddings") ? "max_position_embeddings" : "n_positions";
  const std::string type = model.text("model_type", "");
  if (type == "t5" || type == "mt5") return std::nullopt;  // its biases of distances end nowhere
  const std::optional<std::int64_t> places = length_in(model, word);
  if (!places || std::ranges::find(kBehindPadding, type) == kBehindPadding.end()) return places;
  // MPNet's positions begin behind 1, whatever its padding is.
  const std::int64_t padding = type == "mpnet" ? 1 : model.integer("pad_token_id", 1);
  return std::max<std::int64_t>(1, *places - padding - 1);
}

CutAt side_of(const ConfigFile& config, const char* word) {
  const std::string side = config.text(word);
  if (side != "right" && side != "left") config.refuse(word, "right or left");
  return side == "left" ? CutAt::beginning : CutAt::end;
}

// "direction" of "truncation" in tokenizer.json, which stands before its pieces.
CutAt side_in_tokenizer(const fs::path& path) {
  std::string begin(4096, ' ');
  std::ifstream file(path, std::ios::binary);
  file.read(begin.data(), static_cast<std::streamsize>(begin.size()));
  const std::size_t colon = begin.find(':', begin.find("\"truncation\""));
  const std::size_t brace = begin.find_first_not_of(": \t\r\n", colon);
  if (colon == std::string::npos || brace == std::string::npos || begin[brace] != '{') return CutAt::end;
  const nlohmann::json json =
      nlohmann::json::parse(begin.substr(brace, begin.find('}', brace) + 1 - brace), nullptr, false);
  const bool is_left = json.is_object() && json.contains("direction") && json["direction"] == "Left";
  return is_left ? CutAt::beginning : CutAt::end;
}

CutAt cut_side(const fs::path& folder, const ConfigFile& processor, const ConfigFile& tokenizer) {
  constexpr const char* kWord = "truncation_side";
  if (processor.has(kWord)) return side_of(processor, kWord);
  return tokenizer.has(kWord) ? side_of(tokenizer, kWord) : side_in_tokenizer(folder / "tokenizer.json");
}

// Whether texts are cut at all; `common` goes before `text`.
bool cuts_texts(const ConfigFile& text, const ConfigFile& common) {
  constexpr const char* kWord = "truncation";
  constexpr std::array<std::string_view, 3> kNotDone = {"false", "null", "\"do_not_truncate\""};
  constexpr std::array<std::string_view, 3> kOn = {"true", "\"longest_first\"", "\"only_first\""};
  const ConfigFile& said = common.contains(kWord) ? common : text;
  if (!said.contains(kWord) || std::ranges::find(kOn, said.shown(kWord)) != kOn.end()) return true;
  if (std::ranges::find(kNotDone, said.shown(kWord)) == kNotDone.end()) {
    said.refuse(kWord, "true, false, null, longest_first, only_first or do_not_truncate");
  }
  return false;
}

void read_length(const fs::path& folder, const ConfigFile& config, EmbedOptions& options) {
  const ConfigFile tokenizer = file_or_none(folder / "tokenizer_config.json");
  const ConfigFile processor = part_of_config(config, "processor_kwargs", "tokenizer_args");
  const ConfigFile calls = part_of_config(config, "processing_kwargs");
  const ConfigFile text = part_of_config(calls, "text");
  name_other_words(processor, kTokenizerWords, options);
  name_other_words(calls, kCallKinds, options);
  name_other_words(text, kCallWords, options);
  const ConfigFile common = part_of_config(calls, "common");
  name_other_words(common, kCallWords, options);
  if (processor.has("model_max_length")) {
    options.length = length_in(processor, "model_max_length");
  } else if (config.has("max_seq_length")) {
    options.length = length_in(config, "max_seq_length");
  } else {
    options.length = length_in(tokenizer, tokenizer.has("model_max_length") ? "model_max_length" : "max_len");
  }
  const ConfigFile& call = common.contains("max_length") ? common : text;
  if (call.has("max_length")) options.length = length_in(call, "max_length");
  options.cut_at = cut_side(folder, processor, tokenizer);
  if (!cuts_texts(text, common)) {
    options.length.reset();
    return;
  }
  const std::optional<std::int64_t> places = places_in(file_or_none(folder / "config.json"));
  if (places) options.length = std::min(options.length.value_or(*places), *places);
}

// What sentence-transformers asks the model for: the last states of each token of a text.
void require_states(const ConfigFile& config) {
  config.require("transformer_task", "feature-extraction");
  config.require("module_output_name", "token_embeddings");
  if (!config.has("modality_config")) return;
  const ConfigFile modalities = config.object("modality_config");
  const ConfigFile text = modalities.object(modalities.has("text") ? "text" : "message");
  text.require("method", "forward");
  const std::string output = text.text("method_output_name", "last_hidden_state");
  if (output != "last_hidden_state") text.refuse("method_output_name", "\"last_hidden_state\"");
}

bool has_chat_template(const fs::path& folder) {
  return files::is_there((folder / "chat_template.jinja").string()) ||
         file_or_none(folder / "tokenizer_config.json").has("chat_template");
}

// sentence-transformers 5.4 and newer put each text into the chat template of a tokenizer that has one.
void name_chat_template(const fs::path& folder, const ConfigFile& config, EmbedOptions& options) {
  const bool is_asked =
      config.has("modality_config") ? config.object("modality_config").has("message") : has_chat_template(folder);
  if (!is_asked || !has_chat_template(folder)) return;
  options.cautions.push_back(config.path() +
                             ": sentence-transformers would put each text into the tokenizer's chat template; qkv "
                             "reads the text itself");
}

// The tokenizer with a lower-casing step before all others, unless it has one.
std::shared_ptr<const Tokenizer> lower_cased(const fs::path& folder, const ConfigFile& config) {
  const auto words = read_tokenizer(folder.string())->config();
  if (!words.contains("json")) config.refuse("do_lower_case", "false beside tokenizer.model alone");
  nlohmann::json json = nlohmann::json::parse(words.at("json"));
  const nlohmann::json normalizer = json.value("normalizer", nlohmann::json());
  nlohmann::json steps = nlohmann::json::array();
  if (normalizer.is_object() && normalizer.value("type", "") == "Sequence") {
    steps = normalizer.at("normalizers");
  } else if (normalizer.is_object()) {
    steps.push_back(normalizer);
  }
  const auto lowers = [](const nlohmann::json& step) { return step.value("type", "") == "Lowercase"; };
  if (std::ranges::any_of(steps, lowers)) return nullptr;
  steps.insert(steps.begin(), nlohmann::json{{"type", "Lowercase"}});
  json["normalizer"] = nlohmann::json{{"type", "Sequence"}, {"normalizers", steps}};
  return parse_tokenizer_json(json.dump(), (folder / "tokenizer.json").string());
}

}  // namespace

void read_text_config(const fs::path& transformer, bool has_modules, EmbedOptions& options) {
  const ConfigFile config = has_modules ? text_config_in(transformer) : without_text_config(transformer, options);
  name_other_words(config, kTextWords, options);
  name_other_words(part_of_config(config, "model_kwargs", "model_args"), kLoadingWords, options);
  name_other_words(part_of_config(config, "config_kwargs", "config_args"), kLoadingWords, options);
  read_length(transformer, config, options);
  require_states(config);
  name_chat_template(transformer, config, options);
  if (config.flag("do_lower_case", false) && has_tokenizer(transformer.string())) {
    options.tokenizer = lower_cased(transformer, config);
  }
}

void read_prompts(const fs::path& folder, EmbedOptions& options) {
  constexpr std::array<std::string_view, 7> kWords = {"__version__",        "prompts",      "default_prompt_name",
                                                      "similarity_fn_name", "truncate_dim", "model_type",
                                                      "requirements"};
  constexpr std::array<std::string_view, 4> kSimilarities = {"cosine", "dot", "euclidean", "manhattan"};
  const ConfigFile config = file_or_none(folder / "config_sentence_transformers.json");
  name_other_words(config, kWords, options);
  config.require("model_type", "SentenceTransformer");
  options.prompts = {{"query", ""}, {"document", ""}};
  const ConfigFile prompts = part_of_config(config, "prompts");
  for (const std::string& name : prompts.words()) options.prompts[name] = prompts.text(name, "");
  if (config.has("default_prompt_name")) {
    const auto found = options.prompts.find(config.text("default_prompt_name"));
    if (found == options.prompts.end()) config.refuse("default_prompt_name", "a name of prompts");
    options.prompt = found->second;
  }
  options.width = length_in(config, "truncate_dim");
  options.similarity = config.text("similarity_fn_name", "cosine");
  if (std::ranges::find(kSimilarities, options.similarity) == kSimilarities.end()) {
    options.cautions.push_back(config.path() + ": similarity_fn_name " + options.similarity + " is not known to qkv");
  }
}

}  // namespace qkv::families
