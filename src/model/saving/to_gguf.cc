#include <algorithm>
#include <filesystem>
#include <map>

#include "files/gguf_header.h"
#include "files/json_text.h"
#include "files/place.h"
#include "model/families/folder.h"
#include "model/families/later_gguf_model.h"
#include "model/saving/forms.h"
#include "model/saving/gguf_words.h"
#include "model/saving/meant_use.h"
#include "model/saving/placed_tensors.h"
#include "model/saving/planned_tensors.h"
#include "model/saving/same_model.h"
#include "qkv/error.h"
#include "qkv/text/read_tokenizer.h"
#include "text/files_beside.h"
#include "text/gguf_tokenizer.h"
#include "text/gguf_tokenizer_words.h"

namespace qkv::saving {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

// Scores of masked tokens have no place in a GGUF file: what is left gives states.
Model without_head(const Model& model) {
  const Encoder* encoder = model.traits().fills ? model.parts().encoder : nullptr;
  if (encoder == nullptr || encoder->options().head == EncoderHead::none) return model;
  EncoderOptions options = encoder->options();
  options.head = EncoderHead::none;
  const Encoder bare(options, Init::undrawn());
  std::map<std::string, Variable> values;
  for (const Parameter& parameter : model.parameters()) values.emplace(parameter.name, parameter.value);
  for (const Parameter& parameter : bare.parameters()) {
    parameter.value.replace_value(Tensor(values.at(parameter.name).value()));
  }
  return Model(bare, model.tokenizers());
}

Json json_or_none(const fs::path& path) {
  if (!files::is_there(path.string())) return Json::object();
  Json json = files::read_json(path.string());
  return json.is_object() ? json : Json::object();
}

// Special tokens by the names that GGUF has for them, where the tokenizer's own template did not say them already.
void add_special_tokens(GgufMetadata& words, const std::string& folder, const Model& model) {
  const text::FilesBeside beside = text::read_files_beside(fs::path(folder) / "tokenizer.json", nullptr);
  const Json config = json_or_none(fs::path(folder) / "config.json");
  const Tokenizer& tokenizer = *model.tokenizers().tokens;
  const auto said = [&](const char* name) -> std::optional<std::int64_t> {
    const auto piece = beside.token(name);
    return piece ? tokenizer.find(*piece) : std::nullopt;
  };
  const auto add = [&](const char* name, std::optional<std::int64_t> id) {
    if (id && *id >= 0 && *id < tokenizer.size()) {
      words.try_emplace(text::token_id_key(name), GgufValue{"u32", *id});
    }
  };
  std::vector<std::int64_t> ends = model.tokenizers().ends;
  const auto own_end = said("eos_token");
  const auto own = own_end ? std::ranges::find(ends, *own_end) : ends.end();
  if (own != ends.end()) std::rotate(ends.begin(), own, own + 1);
  const std::size_t count = std::min(ends.size(), text::kEndTokenNames.size());
  for (std::size_t n = 0; n < count; ++n) add(text::kEndTokenNames[n], ends[n]);
  for (const text::SpecialTokenName& name : text::kSpecialTokenNames) {
    add(name.of_gguf, said(name.of_files));
    const Json id = config.value(std::string(name.of_files) + "_id", Json());
    if (id.is_number_integer()) add(name.of_gguf, id.get<std::int64_t>());
  }
}

// Of tokenizer.json, or of the SentencePiece file that it was made from, which says more than GGUF can take from there.
GgufMetadata tokenizer_words(const std::string& folder, const Model& model, std::vector<std::string>& cautions) {
  const std::int64_t rows = families::vocabulary_of(model.network());
  try {
    return text::gguf_tokenizer_words(*model.tokenizers().tokens, rows, folder, cautions);
  } catch (const Error&) {
    for (const char* name : {"tokenizer.model", "spiece.model"}) {
      const std::string file = (fs::path(folder) / name).string();
      if (!files::is_there(file)) continue;
      return text::gguf_tokenizer_words(*read_tokenizer(file), rows, folder, cautions);
    }
    throw;
  }
}

void add_tokenizer(GgufMetadata& words, const std::string& folder, const Model& model,
                   std::vector<std::string>& cautions) {
  if (model.tokenizers().tokens == nullptr) {
    words["tokenizer.ggml.model"] = {"string", std::string("no_vocab")};
    cautions.emplace_back("the folder has no tokenizer: what opens the file cannot read texts");
    return;
  }
  words.merge(tokenizer_words(folder, model, cautions));
  add_special_tokens(words, folder, model);
  if (!model.tokenizers().chat_template.empty()) {
    words["tokenizer.chat_template"] = {"string", model.tokenizers().chat_template};
  }
}

std::string name_of_folder(const std::string& folder) {
  std::error_code none;
  const fs::path whole = fs::weakly_canonical(folder, none);
  return whole.filename().string();
}

// general.file_type of weights of a type.
std::int64_t gguf_file_type(const std::string& type) {
  static const std::map<std::string, std::int64_t> kNumbers = {{"F32", 0},  {"F16", 1},  {"Q4_0", 2}, {"Q4_1", 3},
                                                               {"Q8_0", 7}, {"Q5_0", 8}, {"Q5_1", 9}, {"BF16", 32}};
  const auto found = kNumbers.find(type);
  return found == kNumbers.end() ? 0 : found->second;
}

void add_general(GgufMetadata& words, const std::string& folder, const std::string& type) {
  words["general.type"] = {"string", std::string("model")};
  words["general.name"] = {"string", name_of_folder(folder)};
  words["general.file_type"] = {"u32", gguf_file_type(type)};
  words["general.quantization_version"] = {"u32", std::int64_t{2}};
}

std::string type_of_most(const std::vector<files::LaterTensor>& tensors) {
  std::map<std::string, std::int64_t> bytes;
  for (const files::LaterTensor& tensor : tensors) bytes[tensor.type] += files::bytes_of(tensor);
  return std::ranges::max_element(bytes, {}, [](const auto& one) { return one.second; })->first;
}

TensorUse use_of(std::string_view name, bool has_output) {
  return name == gguf_scores_map(has_output) ? TensorUse::scores : TensorUse::any;
}

// llama.cpp opens no file that lacks a tensor which it asks for, or has one that it does not know.
void require_known_to_llama_cpp(const families::GgufFamily& family, const std::vector<PlacedTensor>& placed,
                                const std::string& folder) {
  const auto is_there = [&](std::string_view name) {
    return std::ranges::find(placed, name, &PlacedTensor::name) != placed.end();
  };
  const std::string file = "a GGUF file of " + std::string(family.architecture);
  for (const std::string_view name : family.needed) {
    if (!is_there(name))
      throw FileError(folder, file + " has to have " + std::string(name) + ", and this model has none");
  }
  for (const std::string_view name : family.unknown) {
    if (is_there(name)) throw FileError(folder, file + " cannot have " + std::string(name) + ", and this model has it");
  }
}

struct Plan {
  GgufMetadata words;
  PlannedTensors all;
};

Conversion written(Plan plan, files::StagedFile& out, const ConvertOptions& options) {
  files::write_gguf(out, plan.words, plan.all.tensors, progress_of(options, "write"));
  out.finish();
  const auto bytes = static_cast<std::int64_t>(fs::file_size(out.temporary()));
  return {.form = "GGUF", .bytes = bytes, .tensors = std::move(plan.all.shown), .cautions = {}};
}

}  // namespace

Conversion folder_to_gguf(const std::string& folder, files::StagedFile& out, const ConvertOptions& options) {
  const Json config = json_or_none(fs::path(folder) / "config.json");
  const families::GgufFamily& family = families::gguf_family_for(config.value("model_type", "none"), folder);
  const Model opened = Model::open(folder);
  const Model model = without_head(opened);
  std::vector<std::string> cautions = opened.cautions();
  if (model.parameters().size() != opened.parameters().size()) {
    cautions.emplace_back("the map to scores of masked tokens is left out, as GGUF has none");
  }
  GgufWords words = gguf_words(family.architecture, model.network());
  Plan plan{.words = std::move(words.words), .all = {}};
  add_tokenizer(plan.words, folder, model, cautions);
  add_meant_use(plan.words, family.architecture, folder, cautions);
  std::vector<std::string> left_out;
  std::map<std::string, std::size_t> places;  // of parameters in the tensors
  std::vector<PlacedTensor> placed = placed_in_gguf(family, model, own_value, left_out);
  const bool has_output = std::ranges::find(placed, "output.weight", &PlacedTensor::name) != placed.end();
  if (!left_out.empty()) throw FileError(folder, "GGUF has no tensor for its " + left_out.front());
  require_known_to_llama_cpp(family, placed, folder);
  for (PlacedTensor& tensor : placed) {
    const std::string own = type_of_dtype(tensor.parts.front().value.dtype());
    const ChosenType chosen =
        gguf_type_for(tensor.name, tensor.shape, use_of(tensor.name, has_output), options.type, own);
    for (const Parameter& part : tensor.parts) places[part.name] = plan.all.tensors.size();
    plan.all.add({std::move(tensor.name), chosen.type, std::move(tensor.shape), std::move(tensor.values)}, chosen.kept);
  }
  add_general(plan.words, folder, type_of_most(plan.all.tensors));
  for (files::LaterTensor& tensor : words.tensors) plan.all.add(std::move(tensor));
  Conversion done = written(std::move(plan), out, options);
  const families::LaterGgufModel back = families::later_model_of_gguf(Gguf::read(out.temporary()));
  require_same_config(model, back.model, folder, "a GGUF file of " + std::string(family.architecture));
  if (model.tokenizers().tokens) {
    text::require_same_cuts(*model.tokenizers().tokens, *back.model.tokenizers().tokens, folder, cautions);
  }
  compare_parameters({model, own_value}, {back.model, back.value}, places, done, options);
  done.cautions = std::move(cautions);
  return done;
}

Conversion gguf_to_gguf(const std::string& path, files::StagedFile& out, const ConvertOptions& options) {
  const Gguf file = Gguf::read(path);
  Plan plan{.words = file.metadata(), .all = {}};
  const bool has_output = file.find("output.weight") != nullptr;
  for (const char* word : {"split.count", "split.no", "split.tensors.count", "general.alignment"})
    plan.words.erase(word);
  for (const GgufEntry& entry : file.entries()) {
    const files::GgufType* stored = files::find_gguf_type(entry.type);
    const DType dtype = stored->dtype.value_or(DType::f32);
    ChosenType chosen{type_of_dtype(dtype)};
    if (is_floating(dtype)) {
      chosen = gguf_type_for(entry.name, entry.shape, use_of(entry.name, has_output), options.type, chosen.type);
    }
    plan.all.add({entry.name, chosen.type, entry.shape, [&file, name = entry.name] { return file.load(name); }},
                 chosen.kept);
  }
  plan.words["general.file_type"] = {"u32", gguf_file_type(type_in_file(*options.type))};
  plan.words["general.quantization_version"] = {"u32", std::int64_t{2}};
  Conversion done = written(std::move(plan), out, options);
  const Gguf back = Gguf::read(out.temporary());
  compare_tensors(
      done, [&](const std::string& name) { return file.load(name); },
      [&](const std::string& name) { return back.load(name); }, options);
  return done;
}

}  // namespace qkv::saving
