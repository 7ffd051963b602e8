#include "train/starting_model.h"

#include <algorithm>
#include <array>
#include <optional>

#include "core/number_text.h"
#include "model/words.h"
#include "qkv/error.h"
#include "qkv/train/text_task.h"
#include "qkv/train/trained_model.h"

namespace qkv {
namespace {

constexpr std::int64_t kUsualLength = 128;

std::string word_in(const ModelConfig& config, const std::string& word) {
  const auto found = config.find(word);
  return found == config.end() ? "" : found->second;
}

std::int64_t number_in_config(const ModelConfig& config, const std::string& word) {
  return core::number_from<std::int64_t>(word_in(config, word)).value_or(0);
}

void require_scores(const Model& model, const std::string& from) {
  const KindTraits& kind = model.traits();
  if (kind.reads_images || kind.reads_sound) {
    throw InvalidArgument(
        "train", "from", "a model that reads texts alone and scores their tokens",
        from + ", of kind " + std::string(kind.name) +
            (kind.is_pair ? ": its towers give a vector for each picture and text, and no scores of tokens" : ""));
  }
  if (model.tokenizers().tokens == nullptr) {
    throw InvalidArgument("train", "from", "a model with its tokenizer", from + ", which has none");
  }
  if (!model.scores_tokens()) {
    const char* const expected = kind.fills ? "a model with a head for masked tokens, as a folder of BertForMaskedLM, "
                                              "RobertaForMaskedLM or DistilBertForMaskedLM has it"
                                            : "a model that scores tokens, as a folder of LlamaForCausalLM has it";
    throw InvalidArgument("train", "from", expected,
                          from +
                              ", which gives states alone: it was published without that head, so nothing says which "
                              "token a state stands for");
  }
}

TextObjective objective_of(const KindTraits& kind) {
  if (kind.fills) return TextObjective::masked;
  return kind.reads_source ? TextObjective::continued : TextObjective::next;
}

// Learned positions end somewhere; those of a model of the box, where its examples did.
std::optional<std::int64_t> most_tokens(const ModelConfig& config) {
  if (word_in(config, "positions") != "learned") return std::nullopt;
  return number_in_config(config, "length");
}

}  // namespace

Model training::starting_model(const TrainSettings& settings) {
  Model model = Model::open(trained_model_path(*settings.from));
  require_scores(model, *settings.from);
  return model;
}

std::unique_ptr<const Task> training::text_task_for(const Model& model, std::string_view text,
                                                    const TrainSettings& settings) {
  const ModelConfig config = model.config();
  const std::optional<std::int64_t> most = most_tokens(config);
  const std::int64_t length = settings.length.value_or(std::min(kUsualLength, most.value_or(kUsualLength)));
  if (most && length > *most) {
    throw InvalidArgument("train", "length", "at most the " + std::to_string(*most) + " positions of " + *settings.from,
                          std::to_string(length));
  }
  return make_text_task(text, settings.data,
                        {.seed = settings.seed,
                         .length = length,
                         .tokenizer = model.tokenizers().tokens,
                         .objective = objective_of(model.traits()),
                         .start = static_cast<std::int32_t>(number_in_config(config, "start"))});
}

TrainSettings with_starting_model(TrainSettings settings) {
  if (!settings.from) return settings;
  const Model model = training::starting_model(settings);
  const ModelConfig config = model.config();
  settings.model = name_of(model.kind());
  settings.layers = number_in_config(config, "layers");
  settings.d_model = number_in_config(config, "d_model");
  settings.heads = number_in_config(config, "heads");
  settings.d_ff = number_in_config(config, "d_ff");
  settings.positions = word_in(config, "positions");
  if (!settings.stored) settings.stored = name_of(model.parameters().front().value.dtype());
  return settings;
}

}  // namespace qkv
