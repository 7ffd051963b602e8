// A tokenizer.json as a tokenizer.
#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "qkv/text/read_tokenizer.h"
#include "text/pipeline_tokenizer.h"

namespace qkv::text {

std::shared_ptr<const Tokenizer> pipeline_from_json(std::string text, const std::string& source) {
  const Json json = parse_json(text, source);
  return pipeline_of(json, std::move(text), source);
}

std::shared_ptr<const Tokenizer> pipeline_of(const Json& json, std::string text, const std::string& source) {
  return pipeline_of(
      read_subword_model(JsonField(json, source).at("model")), json, [text = std::move(text)] { return text; }, source);
}

std::shared_ptr<const Tokenizer> pipeline_of(SubwordModelPtr model, const Json& others,
                                             std::function<std::string()> json, const std::string& source) {
  const JsonField root(others, source);
  root.require_only({"version", "truncation", "padding", "added_tokens", "normalizer", "pre_tokenizer",
                     "post_processor", "decoder", "model"});
  if (const auto version = root.find("version"); version && version->string() != "1.0") version->fail("\"1.0\"");
  PipelineStages stages;
  stages.model = std::move(model);
  if (const auto field = root.find("normalizer")) stages.normalizer = read_normalizer(*field);
  if (const auto field = root.find("pre_tokenizer")) stages.pre_tokenizer = read_pre_tokenizer(*field);
  if (const auto field = root.find("decoder")) stages.decoder = read_decoder(*field);
  std::int32_t size = stages.model->pieces().size();
  if (const auto field = root.find("added_tokens")) {
    stages.added_tokens = read_added_tokens(*field, stages.model->pieces());
    for (const AddedToken& token : stages.added_tokens) size = std::max(size, token.id + 1);
  }
  if (const auto field = root.find("post_processor")) stages.post_processor = read_post_processor(*field, size);
  return std::make_shared<PipelineTokenizer>(std::move(stages), std::move(json));
}

}  // namespace qkv::text

namespace qkv {

std::shared_ptr<const Tokenizer> parse_tokenizer_json(std::string_view json, const std::string& source) {
  return text::pipeline_from_json(std::string(json), source);
}

}  // namespace qkv
