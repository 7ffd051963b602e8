#include "model/saving/meant_use.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>

#include "core/listed.h"
#include "files/place.h"
#include "model/families/generation_file.h"
#include "model/families/gguf.h"
#include "model/saving/written_json.h"
#include "qkv/error.h"
#include "qkv/model/embed.h"
#include "qkv/model/generate.h"

namespace qkv::saving {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

void add_float(GgufMetadata& words, const char* key, double value) { words[key] = {"f32", value}; }

void add_sampling(GgufMetadata& words, const std::string& folder, std::vector<std::string>& cautions) {
  const GenerateOptions draw = draw_options_of(folder);
  if (draw.temperature > 0) {
    add_float(words, "general.sampling.temp", draw.temperature);
    words["general.sampling.top_k"] = {"i32", draw.top_k};
    add_float(words, "general.sampling.top_p", draw.top_p);
    if (draw.min_p > 0) add_float(words, "general.sampling.min_p", draw.min_p);
  }
  if (draw.repetition_penalty != 1) {
    add_float(words, "general.sampling.penalty_repeat", draw.repetition_penalty);
    words["general.sampling.penalty_last_n"] = {"i32", std::int64_t{-1}};
  }
  std::vector<std::string> lost = unheeded_in_generation(folder);
  if (draw.beams > 1) lost.push_back("num_beams " + std::to_string(draw.beams));
  if (!families::never_written_in(folder).empty() || !families::never_written_first_in(folder).empty()) {
    lost.emplace_back("tokens that are not to be written");
  }
  if (!lost.empty()) cautions.push_back("generation_config.json: GGUF has no word for " + core::listed(lost, 8));
}

void caution_of_vectors(const EmbedOptions& options, std::vector<std::string>& cautions) {
  std::vector<std::string> lost;
  if (options.normalised || !options.steps.empty()) lost.emplace_back("that its vectors have a length of 1");
  if (options.length) lost.push_back("that texts are cut at " + std::to_string(*options.length) + " tokens");
  if (options.width) lost.push_back("that vectors end after " + std::to_string(*options.width) + " numbers");
  if (!options.prompt.empty() || !options.prompts.empty()) lost.emplace_back("its prompts");
  if (!options.pools_prompt) lost.emplace_back("that a prompt takes no part in the pooling");
  if (!lost.empty()) cautions.push_back("a sentence transformer: GGUF does not say " + core::joined(lost));
}

void add_pooling(GgufMetadata& words, std::string_view architecture, const std::string& folder,
                 std::vector<std::string>& cautions) {
  const bool has_modules = files::is_there((fs::path(folder) / "modules.json").string());
  if (!has_modules && !architecture.ends_with("bert")) return;
  const EmbedOptions options = embed_options_of(folder);
  const auto* const known = std::ranges::find(families::kGgufPoolings, options.pooling.front());
  const bool is_known = options.pooling.size() == 1 && known != families::kGgufPoolings.end();
  if (!has_modules && !is_known) return;
  if (!is_known) throw FileError(folder, "its pooling: expected mean, first or last, as GGUF can hold it, got another");
  if (!std::ranges::all_of(options.steps, &VectorStep::normalises)) {
    throw FileError(folder,
                    "modules.json: expected no Dense or LayerNorm behind the pooling, as GGUF can hold it, got one");
  }
  words[std::string(architecture) + ".pooling_type"] = {"u32", known - families::kGgufPoolings.begin() + 1};
  if (has_modules) caution_of_vectors(options, cautions);
}

Json module_of(int number, const char* kind, const char* path) {
  return {{"idx", number},
          {"name", std::to_string(number)},
          {"path", path},
          {"type", std::string("sentence_transformers.models.") + kind}};
}

void write_pooling(files::StagedFolder& out, const EmbedOptions& options, std::int64_t width) {
  const Pooling pooling = options.pooling.front();
  write_json(out, "modules.json", {module_of(0, "Transformer", ""), module_of(1, "Pooling", "1_Pooling")});
  write_json(out, "1_Pooling/config.json",
             {{"word_embedding_dimension", width},
              {"pooling_mode_cls_token", pooling == Pooling::first},
              {"pooling_mode_mean_tokens", pooling == Pooling::mean},
              {"pooling_mode_max_tokens", false},
              {"pooling_mode_mean_sqrt_len_tokens", false},
              {"pooling_mode_weightedmean_tokens", false},
              {"pooling_mode_lasttoken", pooling == Pooling::last},
              {"include_prompt", true}});
  write_json(out, "sentence_bert_config.json",
             {{"max_seq_length", options.length.value_or(512)}, {"do_lower_case", false}});
}

}  // namespace

void add_meant_use(GgufMetadata& words, std::string_view architecture, const std::string& folder,
                   std::vector<std::string>& cautions) {
  add_sampling(words, folder, cautions);
  add_pooling(words, architecture, folder, cautions);
}

void write_meant_use(files::StagedFolder& out, Json& generation, const std::string& gguf, std::int64_t width,
                     std::vector<std::string>& cautions) {
  const GenerateOptions draw = draw_options_of(gguf);
  if (draw.temperature > 0) {
    generation.update({{"do_sample", true},
                       {"temperature", draw.temperature},
                       {"top_k", draw.top_k},
                       {"top_p", draw.top_p},
                       {"min_p", draw.min_p}});
  }
  if (draw.repetition_penalty != 1) generation["repetition_penalty"] = draw.repetition_penalty;
  const std::vector<std::string> lost = unheeded_in_generation(gguf);
  if (!lost.empty()) cautions.push_back("generation_config.json has no word for " + core::listed(lost, 8));
  const EmbedOptions options = embed_options_of(gguf);
  // Of a file without a pooling embed_options_of() says no length.
  if (options.length) write_pooling(out, options, width);
}

}  // namespace qkv::saving
