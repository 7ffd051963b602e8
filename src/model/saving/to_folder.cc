// A GGUF file as a folder that `transformers` opens.
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>

#include "files/gguf_keys.h"
#include "model/families/folder.h"
#include "model/families/later_gguf_model.h"
#include "model/saving/forms.h"
#include "model/saving/meant_use.h"
#include "model/saving/placed_tensors.h"
#include "model/saving/planned_tensors.h"
#include "model/saving/same_model.h"
#include "model/saving/written_json.h"
#include "qkv/error.h"
#include "qkv/files.h"
#include "text/base64.h"
#include "text/files_beside.h"
#include "text/gguf_tokenizer.h"
#include "text/gguf_tokenizer_words.h"
#include "text/pipeline_tokenizer.h"

namespace qkv::saving {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

constexpr const char* kFolderWeights = "model.safetensors";

void add_token_ids(Json& words, const Gguf& file, const Model& model) {
  const files::GgufKeys keys(file);
  const auto rows = static_cast<std::size_t>(families::vocabulary_of(model.network()));
  if (const auto id = text::special_token(keys, "bos", rows)) words["bos_token_id"] = *id;
  if (const auto id = text::special_token(keys, "padding", rows)) words["pad_token_id"] = *id;
  const std::vector<std::int64_t>& ends = model.tokenizers().ends;
  if (ends.size() == 1) words["eos_token_id"] = ends.front();
  if (ends.size() > 1) words["eos_token_id"] = ends;
}

// Also in the words of `transformers` before 5, which has the base of rotary positions beside them.
void add_older_rope(Json& config) {
  const Json rope = config.value("rope_parameters", Json());
  if (!rope.is_object()) return;
  if (rope.contains("full_attention")) {
    config["rope_theta"] = rope["full_attention"].value("rope_theta", Json());
    config["rope_local_base_freq"] = rope["sliding_attention"].value("rope_theta", Json());
    return;
  }
  config["rope_theta"] = rope.value("rope_theta", Json());
  if (rope.value("rope_type", "default") != "default") config["rope_scaling"] = rope;
}

Json config_of_folder(const families::LaterGgufModel& model, const std::string& type) {
  Json config = model.config;
  config["architectures"] = {model.family->class_name};
  for (const char* word : {"dtype", "torch_dtype"}) config[word] = dtype_in_config(type);
  add_older_rope(config);
  add_token_ids(config, *model.file, model.model);
  return config;
}

// The tokenizer's own file, and beside it tokenizer_config.json with special tokens and the chat template.
void write_tokenizer(files::StagedFolder& out, const Model& model, const Gguf& file) {
  const std::shared_ptr<const Tokenizer>& tokenizer = model.tokenizers().tokens;
  if (tokenizer == nullptr) return;
  const std::map<std::string, std::string> words = tokenizer->config();
  Json config = {{"clean_up_tokenization_spaces", false}};
  if (words.at("kind") == text::kPipelineKind) {
    write_file(out.add("tokenizer.json"), words.at("json"));
    config["tokenizer_class"] = "PreTrainedTokenizerFast";
  } else {
    const bool is_t5 = model.traits().reads_source;
    write_file(out.add(is_t5 ? "spiece.model" : "tokenizer.model"), text::from_base64(words.at("model")).value());
    config["tokenizer_class"] = is_t5 ? "T5Tokenizer" : "LlamaTokenizer";
    config["legacy"] = false;
    if (is_t5) config["extra_ids"] = 0;
  }
  const auto flag = [&](const char* name) {
    const auto found = file.metadata().find(std::string("tokenizer.ggml.") + name);
    if (found == file.metadata().end()) return;
    if (const auto* value = std::get_if<bool>(&found->second.value)) config[name] = *value;
  };
  flag("add_bos_token");
  flag("add_eos_token");
  const auto count = static_cast<std::size_t>(tokenizer->size());
  for (const text::SpecialTokenName& name : text::kSpecialTokenNames) {
    const auto id = text::special_token(files::GgufKeys(file), name.of_gguf, count);
    if (id) config[name.of_files] = tokenizer->piece(static_cast<std::int32_t>(*id));
  }
  if (!model.tokenizers().chat_template.empty()) config["chat_template"] = model.tokenizers().chat_template;
  write_json(out, "tokenizer_config.json", config);
}

std::string folder_type(const Gguf& file, const ConvertOptions& options) {
  if (options.type) return type_in_file(*options.type);
  const GgufEntry* table = file.find("token_embd.weight");
  const bool is_plain = table != nullptr && (table->type == "F16" || table->type == "BF16");
  return is_plain ? table->type : "F32";
}

}  // namespace

Conversion gguf_to_folder(const std::string& path, files::StagedFolder& out, const ConvertOptions& options) {
  const families::LaterGgufModel model = families::later_model_of_gguf(Gguf::read(path));
  const Gguf& file = *model.file;
  const std::string type = folder_type(file, options);
  Conversion done{.form = "a folder", .bytes = 0, .tensors = {}, .cautions = model.model.cautions()};
  PlannedTensors plan;
  std::map<std::string, std::size_t> places;
  for (PlacedTensor& tensor :
       placed_in_folder(families::family_named(model.family->model_type), model.model, model.value)) {
    for (const Parameter& part : tensor.parts) places[part.name] = plan.tensors.size();
    plan.add({std::move(tensor.name), type, std::move(tensor.shape), std::move(tensor.values)});
  }
  done.tensors = std::move(plan.shown);
  write_json(out, "config.json", config_of_folder(model, type));
  Json generation = Json::object();
  add_token_ids(generation, file, model.model);
  write_meant_use(out, generation, path, file.find(text::kTokenTable)->shape.back(), done.cautions);
  if (!generation.empty()) write_json(out, "generation_config.json", generation);
  write_tokenizer(out, model.model, file);
  files::StagedFile weights(out.add(kFolderWeights));
  files::write_safetensors(weights, {{"format", "pt"}}, plan.tensors, progress_of(options, "write"));
  weights.finish();
  weights.appear();
  for (const auto& entry : fs::recursive_directory_iterator(out.temporary())) {
    if (entry.is_regular_file()) done.bytes += static_cast<std::int64_t>(entry.file_size());
  }
  const Model back = Model::open(out.temporary());
  require_same_config(model.model, back, path, "a folder of " + std::string(model.family->model_type));
  if (back.tokenizers().tokens)
    text::require_same_cuts(*model.model.tokenizers().tokens, *back.tokenizers().tokens, path, done.cautions);
  compare_parameters({model.model, model.value}, {back, own_value}, places, done, options);
  return done;
}

}  // namespace qkv::saving
