#include "text/tokenizer_class.h"

#include <algorithm>
#include <array>
#include <span>
#include <utility>

#include "core/listed.h"
#include "qkv/error.h"

namespace qkv::text {
namespace {

using namespace std::string_view_literals;

constexpr std::array kOfModels = std::to_array<std::pair<std::string_view, std::string_view>>({
    {"bert", "BertTokenizer"},
    {"distilbert", "BertTokenizer"},
    {"electra", "BertTokenizer"},
    {"t5", "T5Tokenizer"},
    {"mt5", "T5Tokenizer"},
    {"siglip", "SiglipTokenizer"},
    {"xlm-roberta", "XLMRobertaTokenizer"},
    {"camembert", "CamembertTokenizer"},
    {"roberta", "RobertaTokenizer"},
    {"roberta-prelayernorm", "RobertaTokenizer"},
    {"bart", "RobertaTokenizer"},
    {"longformer", "RobertaTokenizer"},
    {"gpt2", "GPT2Tokenizer"},
    {"gpt_neo", "GPT2Tokenizer"},
    {"gptj", "GPT2Tokenizer"},
    {"opt", "GPT2Tokenizer"},
    {"whisper", "WhisperTokenizer"},
    {"phi", "GPT2Tokenizer"},
    {"starcoder2", "GPT2Tokenizer"},
    {"codegen", "GPT2Tokenizer"},
    {"clip", "CLIPTokenizer"},
    {"clip_text_model", "CLIPTokenizer"},
    {"clipseg", "CLIPTokenizer"},
    {"groupvit", "CLIPTokenizer"},
    {"owlvit", "CLIPTokenizer"},
    {"owlv2", "CLIPTokenizer"},
    {"qwen2", "Qwen2Tokenizer"},
    {"qwen2_moe", "Qwen2Tokenizer"},
    {"qwen3", "Qwen2Tokenizer"},
    {"qwen3_moe", "Qwen2Tokenizer"},
    {"mpnet", "MPNetTokenizer"},
    {"bert-japanese", "BertJapaneseTokenizer"},
    {"mbart", "MBartTokenizer"},
    {"nllb", "NllbTokenizer"},
    {"m2m_100", "M2M100Tokenizer"},
    {"albert", "AlbertTokenizer"},
    {"xlnet", "XLNetTokenizer"},
    {"pegasus", "PegasusTokenizer"},
    {"big_bird", "BigBirdTokenizer"},
    {"barthez", "BarthezTokenizer"},
    {"rembert", "RemBertTokenizer"},
    {"marian", "MarianTokenizer"},
    {"xglm", "XGLMTokenizer"},
    {"deberta", "DebertaTokenizer"},
    {"deberta-v2", "DebertaV2Tokenizer"},
});

// Names that say no more than the file does.
constexpr std::array kAny = {"PreTrainedTokenizer"sv, "TokenizersBackend"sv};

struct Classes {
  std::span<const std::string_view> known;
  std::span<const std::string_view> others;  // whose tokens are surely not those of the file alone
};

constexpr std::array kWordPiece = {
    "BertTokenizer"sv,       "DistilBertTokenizer"sv,         "ElectraTokenizer"sv,          "LayoutLMTokenizer"sv,
    "MobileBertTokenizer"sv, "ConvBertTokenizer"sv,           "LxmertTokenizer"sv,           "SqueezeBertTokenizer"sv,
    "MPNetTokenizer"sv,      "DPRQuestionEncoderTokenizer"sv, "DPRContextEncoderTokenizer"sv};
constexpr std::array kNotWordPiece = {"BertJapaneseTokenizer"sv, "PhobertTokenizer"sv, "BertweetTokenizer"sv,
                                      "RoFormerTokenizer"sv,     "RoCBertTokenizer"sv, "TapasTokenizer"sv,
                                      "ProphetNetTokenizer"sv};
constexpr std::array kByteLevel = {
    "GPT2Tokenizer"sv,       "RobertaTokenizer"sv, "BartTokenizer"sv,    "Qwen2Tokenizer"sv, "CLIPTokenizer"sv,
    "LongformerTokenizer"sv, "GPTNeoXTokenizer"sv, "CodeGenTokenizer"sv, "LEDTokenizer"sv,   "WhisperTokenizer"sv};
constexpr std::array kNotByteLevel = {
    "DebertaTokenizer"sv,         "FSMTTokenizer"sv,   "XLMTokenizer"sv, "OpenAIGPTTokenizer"sv,
    "BlenderbotSmallTokenizer"sv, "HerbertTokenizer"sv};
constexpr std::array kSentencePiece = {"T5Tokenizer"sv,        "MT5Tokenizer"sv,      "SiglipTokenizer"sv,
                                       "LlamaTokenizer"sv,     "GemmaTokenizer"sv,    "XLMRobertaTokenizer"sv,
                                       "CamembertTokenizer"sv, "CodeLlamaTokenizer"sv};
constexpr std::array kNotSentencePiece = {
    "MBartTokenizer"sv,     "MBart50Tokenizer"sv, "NllbTokenizer"sv,    "M2M100Tokenizer"sv,  "AlbertTokenizer"sv,
    "XLNetTokenizer"sv,     "PegasusTokenizer"sv, "BigBirdTokenizer"sv, "BarthezTokenizer"sv, "RemBertTokenizer"sv,
    "DebertaV2Tokenizer"sv, "MarianTokenizer"sv,  "XGLMTokenizer"sv,    "FNetTokenizer"sv};

Classes classes_of(OlderFile file) {
  if (file == OlderFile::word_piece) return {.known = kWordPiece, .others = kNotWordPiece};
  if (file == OlderFile::byte_level) return {.known = kByteLevel, .others = kNotByteLevel};
  return {.known = kSentencePiece, .others = kNotSentencePiece};
}

}  // namespace

std::string_view tokenizer_class_of(std::string_view model_type) {
  const auto found = std::ranges::find(kOfModels, model_type, [](const auto& pair) { return pair.first; });
  return found == kOfModels.end() ? std::string_view() : found->second;
}

void require_known_class(const FilesBeside& files, OlderFile file, const std::string& source) {
  const std::string name = files.tokenizer_class();
  const Classes classes = classes_of(file);
  const auto is_in = [&](std::span<const std::string_view> names) {
    return std::ranges::find(names, name) != names.end();
  };
  if (name.empty() || is_in(kAny) || is_in(classes.known)) return;
  if (is_in(classes.others)) {
    throw FileError(source, "expected the file of one of " + core::joined(classes.known) + ", got that of " + name +
                                ", which cuts texts in another way; a tokenizer.json would say how");
  }
  files.caution("the tokenizer_class " + name + " is not known: its file is read as that of " +
                std::string(classes.known.front()));
}

bool is_roberta(std::string_view tokenizer_class) {
  constexpr std::array kNames = {"RobertaTokenizer"sv, "BartTokenizer"sv, "LongformerTokenizer"sv, "LEDTokenizer"sv};
  return std::ranges::find(kNames, tokenizer_class) != kNames.end();
}

}  // namespace qkv::text
