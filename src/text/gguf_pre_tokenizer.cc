// Pre-tokenisers by the names that tokenizer.ggml.pre has for them.
#include "text/gguf_pre_tokenizer.h"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <span>

#include "core/found.h"
#include "core/listed.h"
#include "text/byte_level.h"
#include "text/gguf_tokenizer.h"

namespace qkv::text {
namespace {

// Steps that are no pattern, by their names in tokenizer.json.
constexpr std::string_view kDigitsStep = "Digits";
constexpr std::string_view kPunctuationStep = "Punctuation";

constexpr std::string_view kLlama3Pattern =
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)";
constexpr std::string_view kQwen2Pattern =
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)";
// With the marks of letters.
constexpr std::string_view kQwen35Pattern =
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?[\p{L}\p{M}]+|\p{N}| ?[^\s\p{L}\p{M}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)";
constexpr std::string_view kTekkenPattern =
    R"([^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+)";
constexpr std::string_view kO200kPattern =
    R"([^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+)";
// The same with digits one by one.
constexpr std::string_view kYoutuPattern =
    R"([^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+)";
constexpr std::string_view kYoutuScripts =
    R"([가-힣ㄱ-ㆎ]+|[！…“”‘’—：；，、-〿︰-﹏]+|[ㄅ-ㄯ]+|[一-龥぀-ゟ゠-ヿ]+)";
constexpr std::string_view kBloomPattern = R"( ?[^(\s|.,!?…。，、।۔،)]+)";
constexpr std::string_view kThreeDigits = "[0-9][0-9][0-9]";
constexpr std::string_view kUpToThreeDigits = R"(\p{N}{1,3})";
constexpr std::string_view kNumbers = R"(\p{N}+)";
constexpr std::string_view kLineEnd = "[\r\n]";
constexpr std::string_view kLines = R"([^\n]+|[\n]+)";

// DeepSeek's: letters of scripts with capitals, punctuation, and those of Chinese, Japanese and Korean by themselves.
constexpr std::string_view kDeepseekLetters =
    R"(\s?[A-Za-zµÀ-ÖØ-öø-ƺƼ-ƿǄ-ʓʕ-ʯͰ-ͳͶͷͻ-ͽͿΆΈ-ΊΌΎ-ΡΣ-ϵϷ-ҁҊ-ԯԱ-ՖႠ-ჅᎠ-Ᏽᏸ-ᏽᲐ-ᲺᲽ-Ჿᴀ-ᴫᵫ-ᵷᵹ-ᶚḀ-ἕἘ-Ἕἠ-ὅὈ-Ὅὐ-ὗὙὛὝὟ-ώᾀ-ᾴᾶ-ᾼιῂ-ῄῆ-ῌῐ-ΐῖ-Ίῠ-Ῥῲ-ῴῶ-ῼℂℇℊ-ℓℕℙ-ℝℤΩℨK-ℭℯ-ℴℹℼ-ℿⅅ-ⅉⅎↃↄⰀ-ⱻⱾ-ⳤⳫ-ⳮⳲⳳꙀ-ꙭꚀ-ꚛꜢ-ꝯꝱ-ꞇꞋ-ꞎꭰ-ꮿﬀ-ﬆﬓ-ﬗＡ-Ｚａ-ｚ𐐀-𐑏𐒰-𐓓𐓘-𐓻𐲀-𐲲𐳀-𐳲𑢠-𑣟𞤀-𞥃]+)";
constexpr std::string_view kDeepseekStops = R"(\s?[!-/:-~！-／：-～‘-‟　-。]+)";
constexpr std::string_view kDeepseekCjk = "[一-龥ࠀ-一가-퟿]+";
constexpr std::string_view kDeepseek3Cjk = "[一-龥぀-ゟ゠-ヿ]+";
constexpr std::string_view kDeepseek3Pattern =
    R"([!"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~][A-Za-z]+|[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+| ?[\p{P}\p{S}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)";
constexpr std::string_view kSparkPattern =
    R"([!"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~][A-Za-z]+|[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+| ?[\p{P}\p{S}]+|[\r\n]|\s+(?!\S)|\s+)";
constexpr std::string_view kSeedPattern =
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1}| ?[^\s\p{L}\p{N}\r\n]+|\s*[\r\n]+|\s+(?!\S)|\s+)";
constexpr std::string_view kBailingPattern =
    R"('(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]++[\r\n]*|\s*[\r\n]|\s+(?!\S)|\s+)";
constexpr std::string_view kExaoneMoePattern =
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?(?:\p{L}\p{M}*(?: \p{L}\p{M}*)*)+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n/]?|\s*[\r\n]|\s+(?!\S)|\s+)";
constexpr std::string_view kJais2Pattern =
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s{512}(?!\S)|\s{256}(?!\S)|\s{128}(?!\S)|\s{64}(?!\S)|\s{32}(?!\S)|\s{16}(?!\S)|\s{8}(?!\S)|\s{4}(?!\S)|\s{1,2}(?!\S)|\s{1})";
constexpr std::string_view kMinicpm5Pattern =
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}+| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)";
// Qwen 2's without English contractions.
constexpr std::string_view kUfakzekaPattern =
    R"([^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)";
constexpr std::string_view kThreesFromTheRight = R"(\d{1,3}(?=(?:\d{3})*\b))";
constexpr std::string_view kThreesInNumbers = R"((?=(\d{3})+(?!\d)))";

constexpr std::string_view kOnlyDigits[] = {kDigitsStep};
constexpr std::string_view kLlama3Steps[] = {kLlama3Pattern};
constexpr std::string_view kQwen2Steps[] = {kQwen2Pattern};
constexpr std::string_view kQwen35Steps[] = {kQwen35Pattern};
constexpr std::string_view kTekkenSteps[] = {kTekkenPattern};
constexpr std::string_view kO200kSteps[] = {kO200kPattern};
constexpr std::string_view kYoutuSteps[] = {kYoutuScripts, kYoutuPattern};
constexpr std::string_view kFalconSteps[] = {R"([\p{P}\$\+<=>\^~\|`]+)", kGpt2Pattern, kThreeDigits};
constexpr std::string_view kUsualSteps[] = {R"([\p{P}\$\+<=>\^~\|]+)", kGpt2Pattern, kNumbers, kThreeDigits};
constexpr std::string_view kBloomSteps[] = {kBloomPattern};
constexpr std::string_view kVikingSteps[] = {kBloomPattern, kDigitsStep};
constexpr std::string_view kChameleonSteps[] = {"<sentinel:[0-9]+>", "(IMGIMG)((A|B|C|D|E|F|G|H|I){1,4})Z",
                                                R"(([\t\n]|    |  ))", kDigitsStep, kPunctuationStep};
constexpr std::string_view kDeepseekSteps[] = {kLineEnd,  kDeepseekLetters, kDeepseekStops,
                                               R"(\s+$)", kDeepseekCjk,     kNumbers};
constexpr std::string_view kDeepseekCoderSteps[] = {kLineEnd, R"(\s?\p{L}+)", R"(\s?\p{P}+)", kDeepseekCjk,
                                                    kDigitsStep};
constexpr std::string_view kDeepseek3Steps[] = {kUpToThreeDigits, kDeepseek3Cjk, kDeepseek3Pattern};
constexpr std::string_view kSparkSteps[] = {kUpToThreeDigits, kDeepseek3Cjk, kSparkPattern, kDigitsStep};
constexpr std::string_view kSeedSteps[] = {kSeedPattern};
constexpr std::string_view kBailingSteps[] = {kBailingPattern};
constexpr std::string_view kExaoneMoeSteps[] = {kExaoneMoePattern};
constexpr std::string_view kJais2Steps[] = {kJais2Pattern};
constexpr std::string_view kMinicpm5Steps[] = {kUpToThreeDigits, kMinicpm5Pattern};
constexpr std::string_view kUfakzekaSteps[] = {kUfakzekaPattern};
constexpr std::string_view kLagunaSteps[] = {kLines, kQwen2Pattern};
constexpr std::string_view kTinyAyaSteps[] = {kThreesFromTheRight, kO200kPattern};
constexpr std::string_view kSuperbpeSteps[] = {kNumbers, kThreesInNumbers};

// Steps one after the other, then bytes.
struct PreTokenizerForm {
  std::span<const std::string_view> steps = {};
  bool by_gpt2 = false;  // bytes are cut by GPT-2's pattern, too
  bool in_nfc = false;
  bool ignores_merges = false;  // pieces of the vocabulary are taken whole, whatever their merges say
  bool begins = false;          // with a token, where the file does not say
};
constexpr PreTokenizerForm kGpt2{.by_gpt2 = true};
constexpr PreTokenizerForm kSingleDigits{.steps = kOnlyDigits, .by_gpt2 = true};
constexpr PreTokenizerForm kLlama3{.steps = kLlama3Steps, .ignores_merges = true, .begins = true};
constexpr PreTokenizerForm kCl100k{.steps = kLlama3Steps};
constexpr PreTokenizerForm kGlm4{.steps = kLlama3Steps, .ignores_merges = true};
constexpr PreTokenizerForm kQwen2{.steps = kQwen2Steps, .in_nfc = true};
constexpr PreTokenizerForm kGrok2{.steps = kQwen2Steps};
constexpr PreTokenizerForm kQwen35{.steps = kQwen35Steps, .in_nfc = true};
constexpr PreTokenizerForm kTekken{.steps = kTekkenSteps, .ignores_merges = true, .begins = true};
constexpr PreTokenizerForm kO200k{.steps = kO200kSteps};
constexpr PreTokenizerForm kGraniteEmbedding{.steps = kO200kSteps, .ignores_merges = true};
constexpr PreTokenizerForm kYoutu{.steps = kYoutuSteps, .ignores_merges = true};
constexpr PreTokenizerForm kFalcon{.steps = kFalconSteps};
constexpr PreTokenizerForm kUsualForm{.steps = kUsualSteps};
constexpr PreTokenizerForm kBloom{.steps = kBloomSteps};
constexpr PreTokenizerForm kViking{.steps = kVikingSteps};
constexpr PreTokenizerForm kChameleon{.steps = kChameleonSteps, .by_gpt2 = true, .begins = true};
constexpr PreTokenizerForm kDeepseek{.steps = kDeepseekSteps};
constexpr PreTokenizerForm kDeepseekCoder{.steps = kDeepseekCoderSteps};
constexpr PreTokenizerForm kDeepseek3{.steps = kDeepseek3Steps};
constexpr PreTokenizerForm kSpark{.steps = kSparkSteps};
constexpr PreTokenizerForm kSeed{.steps = kSeedSteps};
constexpr PreTokenizerForm kBailing{.steps = kBailingSteps};
constexpr PreTokenizerForm kExaoneMoe{.steps = kExaoneMoeSteps};
constexpr PreTokenizerForm kJais2{.steps = kJais2Steps};
constexpr PreTokenizerForm kMinicpm5{.steps = kMinicpm5Steps, .ignores_merges = true};
constexpr PreTokenizerForm kUfakzeka{.steps = kUfakzekaSteps};
constexpr PreTokenizerForm kLaguna{.steps = kLagunaSteps};
constexpr PreTokenizerForm kTinyAya{.steps = kTinyAyaSteps};
constexpr PreTokenizerForm kSuperbpe{.steps = kSuperbpeSteps};

struct PreTokenizerName {
  std::string_view name;
  const PreTokenizerForm* form;
};
constexpr auto kPreTokenizers = std::to_array<PreTokenizerName>({
    {"gpt-2", &kGpt2},
    {"phi-2", &kGpt2},
    {"mpt", &kGpt2},
    {"olmo", &kGpt2},
    {"jais", &kGpt2},
    {"roberta-bpe", &kGpt2},
    {"jina-es", &kGpt2},
    {"jina-de", &kGpt2},
    {"jina-v2-es", &kGpt2},
    {"jina-v2-de", &kGpt2},
    {"jina-v1-en", &kGpt2},
    {"jina-v2-code", &kGpt2},
    {"modern-bert", &kGpt2},
    {"gigachat", &kGpt2},
    {"exaone4", &kGpt2},
    {"mellum", &kGpt2},
    {"a.x-4.0", &kGpt2},
    {"trillion", &kGpt2},
    {"granite-docling", &kGpt2},
    {"smollm", &kSingleDigits},
    {"starcoder", &kSingleDigits},
    {"refact", &kSingleDigits},
    {"command-r", &kSingleDigits},
    {"codeshell", &kSingleDigits},
    {"exaone", &kSingleDigits},
    {"minerva-7b", &kSingleDigits},
    {"mellum2", &kSingleDigits},
    {"llama-bpe", &kLlama3},
    {"llama3", &kLlama3},
    {"llama-v3", &kLlama3},
    {"falcon3", &kLlama3},
    {"falcon-h1", &kLlama3},
    {"pixtral", &kLlama3},
    {"midm-2.0", &kLlama3},
    {"lfm2", &kLlama3},
    {"jina-v5-nano", &kLlama3},
    {"dbrx", &kCl100k},
    {"smaug-bpe", &kCl100k},
    {"chatglm-bpe", &kCl100k},
    {"glm4", &kGlm4},
    {"glm5", &kGlm4},
    {"qwen2", &kQwen2},
    {"stablelm2", &kQwen2},
    {"deepseek-r1-qwen", &kQwen2},
    {"hunyuan", &kQwen2},
    {"megrez", &kQwen2},
    {"f2llmv2", &kQwen2},
    {"kormo", &kGrok2},
    {"solar-open", &kGrok2},
    {"grok-2", &kGrok2},
    {"qwen35", &kQwen35},
    {"tekken", &kTekken},
    {"gpt-4o", &kO200k},
    {"llama4", &kO200k},
    {"kanana2", &kO200k},
    {"talkie", &kO200k},
    {"minimax-m2", &kO200k},
    {"granite-embed-multi-97m", &kGraniteEmbedding},
    {"youtu", &kYoutu},
    {"falcon", &kFalcon},
    {"bloom", &kBloom},
    {"gpt3-finnish", &kBloom},
    {"poro-chat", &kBloom},
    {"viking", &kViking},
    {"chameleon", &kChameleon},
    {"deepseek-llm", &kDeepseek},
    {"deepseek-coder", &kDeepseekCoder},
    {"deepseek-v3", &kDeepseek3},
    {"hunyuan-dense", &kDeepseek3},
    {"joyai-llm", &kDeepseek3},
    {"hy_v4", &kDeepseek3},
    {"spark2_5", &kSpark},
    {"seed-coder", &kSeed},
    {"bailingmoe", &kBailing},
    {"bailingmoe2", &kBailing},
    {"llada-moe", &kBailing},
    {"exaone-moe", &kExaoneMoe},
    {"jais-2", &kJais2},
    {"minicpm5", &kMinicpm5},
    {"ufakzeka", &kUfakzeka},
    {"laguna", &kLaguna},
    {"tiny_aya", &kTinyAya},
    {"cohere2moe", &kTinyAya},
    {"superbpe", &kSuperbpe},
    {"default", &kUsualForm},
});

// Those that are known by name and not done: they cut no bytes, or by a program.
constexpr std::string_view kNotDone[] = {"afmoe",   "gemma4",     "granite-embed-multi-311m",
                                         "kimi-k2", "sarvam-moe", "whitespace"};

Json by_pattern(std::string_view pattern) {
  return {{"type", "Split"}, {"pattern", {{"Regex", pattern}}}, {"behavior", "Isolated"}, {"invert", false}};
}

Json step_of(std::string_view step) {
  if (step == kDigitsStep) return {{"type", kDigitsStep}, {"individual_digits", true}};
  if (step == kPunctuationStep) return {{"type", kPunctuationStep}, {"behavior", "Isolated"}};
  return by_pattern(step);
}

Json json_of_form(const PreTokenizerForm& form) {
  if (form.steps.empty()) return gguf_bytes_step(form.by_gpt2);
  Json steps = Json::array();
  for (const std::string_view step : form.steps) steps.push_back(step_of(step));
  steps.push_back(gguf_bytes_step(form.by_gpt2));
  return {{"type", "Sequence"}, {"pretokenizers", std::move(steps)}};
}

const PreTokenizerForm& form_in(const files::GgufKeys& keys, std::vector<std::string>& cautions) {
  if (!keys.has(kPreKey)) {
    cautions.push_back(std::string(kPreKey) +
                       ": not there, as in files of before 2024: texts are cut as llama.cpp cuts "
                       "them then, which is not as most models were trained");
    return kUsualForm;
  }
  const std::string& name = keys.text(kPreKey);
  if (const auto* const found = core::found_in(kPreTokenizers, name, &PreTokenizerName::name)) return *found->form;
  const bool is_known = std::ranges::find(kNotDone, name) != std::end(kNotDone);
  keys.refuse(kPreKey, "one of the pre-tokenisers " + core::joined(kPreTokenizers, &PreTokenizerName::name) +
                           (is_known ? "; qkv does not cut as this one does" : ""));
}

// A sequence by its steps, another pre-tokeniser as the only one.
Json steps_of(const Json& pre_tokenizer) {
  if (!pre_tokenizer.is_object()) return Json::array();
  const bool is_sequence = pre_tokenizer.value("type", "") == "Sequence";
  return is_sequence ? pre_tokenizer.value("pretokenizers", Json::array()) : Json::array({pre_tokenizer});
}

// Without what changes no cut.
Json plain_steps(const Json& pre_tokenizer) {
  Json steps = steps_of(pre_tokenizer);
  for (Json& step : steps) {
    if (step.is_object() && step.value("type", "") == "ByteLevel")
      step = gguf_bytes_step(step.value("use_regex", true));
  }
  return steps;
}

bool adds_space(const Json& pre_tokenizer) {
  return std::ranges::any_of(steps_of(pre_tokenizer), [](const Json& step) {
    return step.is_object() && step.value("add_prefix_space", false);
  });
}

}  // namespace

Json gguf_bytes_step(bool by_gpt2) {
  return {{"type", "ByteLevel"}, {"add_prefix_space", false}, {"trim_offsets", true}, {"use_regex", by_gpt2}};
}

GgufPreTokenizer gguf_pre_tokenizer_in(const files::GgufKeys& keys, std::vector<std::string>& cautions) {
  const PreTokenizerForm& form = form_in(keys, cautions);
  return {.json = json_of_form(form),
          .normalizer = form.in_nfc ? Json{{"type", "NFC"}} : Json(),
          .ignores_merges = form.ignores_merges,
          .begins = form.begins};
}

std::string gguf_pre_tokenizer(const Json& json, const std::string& source) {
  const auto refuse = [&](const char* part, const std::string& what) { refuse_tokenizer(source, part, what); };
  const Json own = json.value("pre_tokenizer", Json());
  const Json steps = plain_steps(own);
  const bool ignores = json.at("model").value("ignore_merges", false);
  const auto is_own = [&](const PreTokenizerName& known) { return plain_steps(json_of_form(*known.form)) == steps; };
  auto found = std::ranges::find_if(kPreTokenizers, [&](const PreTokenizerName& known) {
    return known.form->ignores_merges == ignores && is_own(known);
  });
  if (found == kPreTokenizers.end()) found = std::ranges::find_if(kPreTokenizers, is_own);
  if (found == kPreTokenizers.end()) {
    refuse("pre_tokenizer", "that of GPT-2, StarCoder, Llama 3, Qwen 2, Tekken or GPT-4o");
  }
  if (adds_space(own)) refuse("pre_tokenizer.add_prefix_space", "false");
  const Json normalizer = json.value("normalizer", Json());
  const std::string form = normalizer.is_object() ? normalizer.value("type", "") : "none";
  const std::string wanted = found->form->in_nfc ? "NFC" : "none";
  if (form != wanted) refuse("normalizer", wanted + " beside this pre_tokenizer");
  if (found->form->ignores_merges != ignores) refuse("model.ignore_merges", ignores ? "false" : "true");
  return std::string(found->name);
}

}  // namespace qkv::text
