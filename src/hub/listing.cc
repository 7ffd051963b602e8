#include "hub/listing.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

#include "hub/gguf_models.h"

namespace qkv::hub {
namespace {

using Json = nlohmann::json;

constexpr std::array<std::string_view, 19> kRead = {"config.json",
                                                    "generation_config.json",
                                                    "tokenizer.json",
                                                    "tokenizer_config.json",
                                                    "chat_template.jinja",
                                                    "special_tokens_map.json",
                                                    "added_tokens.json",
                                                    "tokenizer.model",
                                                    "spiece.model",
                                                    "source.spm",
                                                    "target.spm",
                                                    "sentencepiece.bpe.model",
                                                    "vocab.txt",
                                                    "vocab.json",
                                                    "merges.txt",
                                                    "preprocessor_config.json",
                                                    "modules.json",
                                                    "sentence_bert_config.json",
                                                    "config_sentence_transformers.json"};
constexpr std::array<std::string_view, 5> kLicences = {"LICENSE", "LICENSE.txt", "LICENSE.md", "NOTICE",
                                                       "USE_POLICY.md"};
constexpr std::string_view kWhole = "model.safetensors";
constexpr std::string_view kIndex = "model.safetensors.index.json";

// "model-00001-of-00003.safetensors"
bool is_shard(std::string_view name) {
  constexpr std::string_view kForm = "model-00000-of-00000.safetensors";
  if (name.size() != kForm.size()) return false;
  return std::ranges::equal(
      name, kForm, [](char got, char wanted) { return wanted == '0' ? got >= '0' && got <= '9' : got == wanted; });
}

bool is_hash(std::string_view text) {
  const bool has_digits =
      std::ranges::all_of(text, [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); });
  return has_digits && (text.size() == 40 || text.size() == 64);
}

HubFile file_of(const Json& entry) {
  HubFile file{.name = entry.at("rfilename").get<std::string>()};
  const bool is_large = entry.contains("lfs") && entry["lfs"].is_object();
  const Json& where = is_large ? entry["lfs"] : entry;
  file.size = where.at("size").get<std::int64_t>();
  file.hash = where.at(is_large ? "sha256" : "blobId").get<std::string>();
  if (file.size < 0 || !is_hash(file.hash)) throw Error("of " + file.name + ": no size and hash");
  return file;
}

// "2_Dense/config.json": of a file in the folder of a sentence transformer's module its name there, else all of it.
std::string_view name_in_module(std::string_view name) {
  const std::size_t slash = name.find('/');
  const std::size_t digits = name.find_first_not_of("0123456789");
  const bool is_module = slash != name.npos && digits > 0 && digits < slash && name[digits] == '_';
  return is_module ? name.substr(slash + 1) : name;
}

// In the model's folder, by a name that a terminal may show.
bool is_below(std::string_view name) {
  const auto is_control = [](char c) { return static_cast<unsigned char>(c) < ' ' || c == 127; };
  return std::ranges::none_of(name, is_control) && !name.starts_with('/') && !name.starts_with("../") &&
         name.find("/../") == name.npos;
}

bool is_licence(std::string_view name) { return std::ranges::find(kLicences, name) != kLicences.end(); }

bool is_weights(std::string_view name) { return name == kWhole || name == kIndex || is_shard(name); }

// What is small, and the weights of modules.
bool is_read(const HubFile& file) {
  const std::string_view own = name_in_module(file.name);
  const bool is_small = std::ranges::find(kRead, own) != kRead.end() || is_licence(own);
  return is_small || (own.size() < file.name.size() && is_weights(own));
}

// The folder of the first module, where older sentence transformers keep the whole model: "0_Transformer/".
bool is_of_first_module(std::string_view name) { return name.starts_with("0_") && name_in_module(name) != name; }

}  // namespace

HubModel parse_listing(std::string_view json, const std::string& name, const std::string& source) {
  try {
    const Json reply = Json::parse(json);
    HubModel model{.name = name, .revision = reply.at("sha").get<std::string>(), .files = {}};
    if (!is_hash(model.revision)) throw Error("a revision that is no commit: " + model.revision);
    for (const Json& entry : reply.at("siblings")) {
      const std::string file = entry.at("rfilename").get<std::string>();
      const bool is_gguf = is_gguf_model(file) && is_below(file);
      if (is_gguf || is_weights(file) || is_read({.name = file})) model.files.push_back(file_of(entry));
    }
    return model;
  } catch (const std::exception& error) {
    throw Error(fmt::format("{}: expected what a hub says of a model, got: {}", source, error.what()));
  }
}

namespace {

// The folder that `transformers` reads; empty where there are no weights of safetensors.
std::vector<HubFile> folder_of(const HubModel& model) {
  std::vector<HubFile> small;
  std::vector<HubFile> whole;
  std::vector<HubFile> shards;
  for (const HubFile& file : model.files) {
    if (is_read(file)) small.push_back(file);
    if (file.name == kWhole) whole.push_back(file);
    if (file.name == kIndex || is_shard(file.name)) shards.push_back(file);
  }
  const std::vector<HubFile>& weights = whole.empty() ? shards : whole;
  const auto has = [&](auto&& is_one) {
    return std::ranges::any_of(small, [&](const HubFile& file) {
      return is_one(is_of_first_module(file.name) ? name_in_module(file.name) : std::string_view(file.name));
    });
  };
  if (weights.empty() && !has(is_weights)) return {};
  if (!has([](std::string_view name) { return name == "config.json"; }))
    throw Error(model.name + " has no config.json, which says what its weights are");
  small.insert(small.end(), weights.begin(), weights.end());
  return small;
}

void take_gguf(HubModel& model, const GgufModel& chosen) {
  if (chosen.parts.size() != chosen.count) {
    throw Error(fmt::format("{} has {} of the {} parts of {}", model.name, chosen.parts.size(), chosen.count,
                            chosen.parts.front().name));
  }
  std::erase_if(model.files, [](const HubFile& file) { return !is_licence(file.name); });
  model.files.insert(model.files.end(), chosen.parts.begin(), chosen.parts.end());
  model.gguf = chosen.parts.front().name;
}

}  // namespace

void refuse_choice(const HubModel& model, std::string_view given) {
  const std::vector<GgufModel> models = gguf_models(model.files);
  if (models.empty()) {
    throw InvalidArgument("fetch", "name", "\"" + model.name + "\", which has no GGUF files to choose from",
                          fmt::format("\"{}\"", given));
  }
  const std::vector<std::string> choices = choices_of(models);
  const auto usual = std::ranges::find(choices, "Q4_K_M");
  throw InvalidArgument("fetch", "name",
                        fmt::format("one of its GGUF files, as in \"{}:{}\": {}", model.name,
                                    usual == choices.end() ? choices.front() : *usual, told_choices(models)),
                        fmt::format("\"{}\"", given));
}

void choose_files(HubModel& model, std::string_view choice) {
  const std::vector<GgufModel> models = gguf_models(model.files);
  if (!choice.empty()) {
    const GgufModel* const chosen = find_model(models, choice);
    if (chosen == nullptr) refuse_choice(model, fmt::format("{}:{}", model.name, choice));
    return take_gguf(model, *chosen);
  }
  std::vector<HubFile> folder = folder_of(model);
  if (!folder.empty()) {
    model.files = std::move(folder);
  } else if (models.size() == 1) {
    take_gguf(model, models.front());
  } else if (!models.empty()) {
    std::erase_if(model.files, [](const HubFile& file) { return !is_gguf_model(file.name); });
    model.choices = choices_of(models);
  } else {
    throw Error(model.name + " has no safetensors and no GGUF files, which are what qkv reads");
  }
}

}  // namespace qkv::hub
