// Models of each family from a folder to GGUF and back, and what cannot be converted.
#include "qkv/model/convert.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "core/error_message.h"
#include "files/json_text.h"
#include "files/later_tensor.h"
#include "model/published_folder.h"
#include "model/same_models.h"
#include "qkv/files.h"
#include "qkv/gguf.h"
#include "qkv/model/embed.h"
#include "qkv/model/generate.h"
#include "qkv/model/model.h"

namespace qkv::convert_test {
namespace {

using testing::AllOf;
using testing::Each;
using testing::ElementsAre;
using testing::Field;
using testing::HasSubstr;
using testing::IsEmpty;
using tests::expect_same;
using tests::PublishedFolder;
using tests::TemporaryDirectory;

// Rows of whole blocks, where the family lets them be so.
constexpr const char* kInBlocks =
    R"(, "vocab_size": 40, "hidden_size": 32, "intermediate_size": 64, "head_dim": 16, "num_key_value_heads": 1)";

std::string refusal(const std::string& model, const std::string& out, const ConvertOptions& options = {}) {
  return error_message<Error>([&] { static_cast<void>(convert_model(model, out, options)); });
}

// A GGUF file with other metadata.
void write_with(const Gguf& file, const GgufMetadata& metadata, const std::string& path) {
  std::vector<files::LaterTensor> tensors;
  for (const GgufEntry& entry : file.entries()) {
    tensors.push_back({entry.name, entry.type, entry.shape, [&file, name = entry.name] { return file.load(name); }});
  }
  files::StagedFile staged(path);
  files::write_gguf(staged, metadata, tensors, nullptr);
  staged.finish();
  staged.appear();
}

class EachFamily : public testing::TestWithParam<std::pair<std::string, std::string>> {};

TEST_P(EachFamily, ComesBackFromGgufAsItWas) {
  const PublishedFolder folder(GetParam().first, GetParam().second);
  const TemporaryDirectory out;
  const Conversion there = convert_model(folder.path(), out / "m.gguf");
  EXPECT_EQ(there.form, "GGUF");
  EXPECT_THAT(there.tensors, Each(Field(&ConvertedTensor::error, testing::Lt(1e-6))));
  const Model of_file = Model::open(out / "m.gguf");
  const Model of_folder = Model::open(folder.path());
  if (GetParam().first != "gemma" && GetParam().first != "gemma2" && GetParam().first != "gemma3_text") {
    expect_same(of_file, of_folder);
  } else {
    EXPECT_EQ(of_file.config(), of_folder.config());
  }
  const Conversion back = convert_model(out / "m.gguf", out / "folder");
  EXPECT_EQ(back.form, "a folder");
  expect_same(Model::open(out / "folder"), of_file);
  EXPECT_THAT(out.names(), ElementsAre("folder", "m.gguf"));
  EXPECT_EQ(files::read_json(out / "folder/config.json").at("model_type"),
            GetParam().first == "mistral" ? "llama" : GetParam().first);
}

INSTANTIATE_TEST_SUITE_P(
    Convert, EachFamily,
    testing::Values(std::pair("llama", ""), std::pair("llama", R"(, "num_key_value_heads": 1, "rope_theta": 5e5,
      "rope_scaling": {"rope_type": "llama3", "factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0,
                       "original_max_position_embeddings": 8}, "head_dim": 8)"),
                    std::pair("llama", R"(, "rope_scaling": {"rope_type": "linear", "factor": 4.0})"),
                    std::pair("llama", R"(, "attention_bias": true, "mlp_bias": true, "tie_word_embeddings": true)"),
                    std::pair("mistral", R"(, "sliding_window": null)"), std::pair("qwen2", ""), std::pair("qwen3", ""),
                    std::pair("gemma", ""), std::pair("gemma2", R"(, "sliding_window": 8)"),
                    std::pair("gemma3_text", R"(, "sliding_window": 8, "sliding_window_pattern": 2)"),
                    std::pair("gpt2", ""), std::pair("t5", R"(, "decoder_start_token_id": 0)"),
                    std::pair("t5", R"(, "feed_forward_proj": "gated-gelu", "tie_word_embeddings": false)")),
    [](const auto& tested) { return tested.param.first + "_" + std::to_string(tested.index); });

TEST(Convert, LeavesOutTheHeadOfBert) {
  const PublishedFolder folder("bert");
  const TemporaryDirectory out;
  const Conversion done = convert_model(folder.path(), out / "m.gguf");
  EXPECT_THAT(done.cautions, testing::Contains(HasSubstr("masked tokens is left out")));
  const Model bert = Model::open(out / "m.gguf");
  EXPECT_FALSE(bert.scores_tokens());
  EXPECT_EQ(bert.parameters().front().value.value().to_vector(),
            Model::open(folder.path()).parameters().front().value.value().to_vector());
}

TEST(Convert, KeepsHowAModelIsMeantToDraw) {
  const PublishedFolder folder("llama");
  folder.put("generation_config.json",
             R"({"do_sample": true, "temperature": 0.6, "top_k": 7, "top_p": 0.9, "repetition_penalty": 1.1,
                 "no_repeat_ngram_size": 3, "suppress_tokens": [1]})");
  const TemporaryDirectory out;
  const Conversion done = convert_model(folder.path(), out / "m.gguf");
  EXPECT_THAT(done.cautions,
              testing::Contains(AllOf(HasSubstr("GGUF has no word for"), HasSubstr("no_repeat_ngram_size 3"))));
  static_cast<void>(convert_model(out / "m.gguf", out / "back"));
  for (const std::string& place : {out / "m.gguf", out / "back"}) {
    const GenerateOptions draw = draw_options_of(place);
    EXPECT_EQ(draw.temperature, 0.6) << place;
    EXPECT_EQ(draw.top_k, 7) << place;
    EXPECT_EQ(draw.top_p, 0.9) << place;
    EXPECT_EQ(draw.repetition_penalty, 1.1) << place;
  }
}

void put_modules(const PublishedFolder& folder, const std::string& pooling, const std::string& more = "") {
  folder.put("modules.json",
             R"([{"idx": 0, "name": "0", "path": "", "type": "sentence_transformers.models.Transformer"},
    {"idx": 1, "name": "1", "path": "1_Pooling", "type": "sentence_transformers.models.Pooling"})" +
                 more + "]");
  std::filesystem::create_directory(folder / "1_Pooling");
  folder.put("1_Pooling/config.json", "{" + pooling + "}");
}

TEST(Convert, KeepsWhatMakesAVectorOfAText) {
  const PublishedFolder folder("bert");
  put_modules(folder, R"("pooling_mode_cls_token": true)",
              R"(, {"idx": 2, "name": "2", "path": "2_Normalize", "type": "sentence_transformers.models.Normalize"})");
  const TemporaryDirectory out;
  const Conversion done = convert_model(folder.path(), out / "m.gguf");
  EXPECT_THAT(done.cautions, testing::Contains(HasSubstr("GGUF does not say that its vectors have a length of 1")));
  static_cast<void>(convert_model(out / "m.gguf", out / "back"));
  for (const std::string& place : {out / "m.gguf", out / "back"}) {
    EXPECT_THAT(embed_options_of(place).pooling, ElementsAre(Pooling::first)) << place;
  }
  EXPECT_EQ(files::read_json(out / "back/1_Pooling/config.json").at("word_embedding_dimension"),
            files::read_json(out / "back/config.json").at("hidden_size"));
}

TEST(Convert, RefusesVectorsThatNoGgufGives) {
  const PublishedFolder folder("bert");
  const TemporaryDirectory out;
  put_modules(folder, R"("pooling_mode_cls_token": true, "pooling_mode_mean_tokens": true)");
  const auto fault = [&] {
    return error_message<Error>([&] { static_cast<void>(convert_model(folder.path(), out / "m.gguf")); });
  };
  EXPECT_THAT(fault(), HasSubstr("its pooling: expected mean, first or last"));
  put_modules(folder, R"("pooling_mode_max_tokens": true)");
  EXPECT_THAT(fault(), HasSubstr("its pooling: expected mean, first or last"));
  put_modules(folder, R"("pooling_mode_mean_tokens": true)",
              R"(, {"idx": 2, "name": "2", "path": "2_Dense", "type": "sentence_transformers.models.Dense"})");
  std::filesystem::create_directory(folder / "2_Dense");
  folder.put("2_Dense/config.json", R"({"in_features": 2, "out_features": 1, "bias": false})");
  const Tensor weight(std::vector<float>{1, 2}, {1, 2});
  write_file(folder / "2_Dense/model.safetensors",
             encode_safetensors(std::vector<NamedView>{{"linear.weight", weight}}));
  EXPECT_THAT(fault(), HasSubstr("modules.json: expected no Dense or LayerNorm behind the pooling"));
  EXPECT_THAT(out.names(), testing::IsEmpty());
}

TEST(Convert, WritesOverNoPartOfItsModel) {
  const TemporaryDirectory out;
  const std::string first = out / "m-00001-of-00002.gguf";
  write_file(first, "GGUF");
  const auto fault = [&](const std::string& to) {
    return error_message<Error>(
        [&] { static_cast<void>(convert_model(first, to, {.type = "f16", .overwrite = true})); });
  };
  EXPECT_THAT(fault(out / "m-00002-of-00002.gguf"), HasSubstr("the name of a part of `model`"));
  EXPECT_THAT(fault(out / "m-00002-of-00003.gguf"), testing::Not(HasSubstr("the name of a part")));
}

class EachType : public testing::TestWithParam<std::string> {};

TEST_P(EachType, HoldsAModelWithinItsBound) {
  const PublishedFolder folder("llama", kInBlocks);
  const TemporaryDirectory out;
  const Conversion done = convert_model(folder.path(), out / "m.gguf", {.type = GetParam()});
  std::string type = GetParam();
  std::ranges::transform(type, type.begin(), [](char c) { return static_cast<char>(std::toupper(c)); });
  double worst = 0;
  for (const ConvertedTensor& tensor : done.tensors) {
    const bool is_of_scores = tensor.name == "output.weight" && (type.starts_with("Q4") || type.starts_with("Q5"));
    EXPECT_EQ(tensor.type, tensor.shape.size() < 2 ? "F32" : is_of_scores ? "Q8_0" : type) << tensor.name;
    worst = std::max(worst, tensor.error);
  }
  EXPECT_LT(worst, 0.2);
  EXPECT_EQ(worst == 0, GetParam() == "f32");
  const Gguf file = Gguf::read(out / "m.gguf");
  EXPECT_EQ(file.find("blk.1.ffn_down.weight")->type, type);
  // Converted again to the same type, no number changes.
  const Conversion again = convert_model(out / "m.gguf", out / "again.gguf", {.type = GetParam()});
  EXPECT_EQ(again.tensors.size(), done.tensors.size());
  expect_same(Model::open(out / "again.gguf"), Model::open(out / "m.gguf"));
}

INSTANTIATE_TEST_SUITE_P(Convert, EachType, testing::Values("f32", "f16", "bf16", "q8_0", "q4_0", "q5_0"));

TEST(Convert, KeepsRowsThatAreNoWholeBlocks) {
  const PublishedFolder folder("llama");
  const TemporaryDirectory out;
  const Conversion done = convert_model(folder.path(), out / "m.gguf", {.type = "q4_0"});
  EXPECT_EQ(done.tensors.front().type, "F16");
  EXPECT_EQ(done.tensors.front().kept, "rows of 8 numbers are no whole blocks of 32");
}

TEST(Convert, WritesWeightsInAnotherType) {
  PublishedFolder folder("gpt2");
  folder.put("tokenizer_config.json", R"({"model_max_length": 16})");
  folder.put("config.json",
             R"({"model_type": "gpt2", "vocab_size": 9, "n_embd": 8, "n_layer": 2, "n_head": 2, "n_positions": 16,
                 "dtype": "float32", "architectures": ["GPT2LMHeadModel"]})");
  std::filesystem::create_directory(folder / "1_Pooling");
  folder.put("1_Pooling/config.json", "{}");
  folder.put("pytorch_model.bin", "a pickle");
  const TemporaryDirectory out;
  const Conversion done = convert_model(folder.path(), out / "half", {.type = "f16"});
  EXPECT_THAT(done.cautions, ElementsAre("pytorch_model.bin: not copied, as it holds weights in another form"));
  EXPECT_EQ(files::read_json(out / "half/config.json").at("dtype"), "float16");
  EXPECT_TRUE(std::filesystem::exists(out / "half/1_Pooling/config.json"));
  EXPECT_TRUE(std::filesystem::exists(out / "half/tokenizer_config.json"));
  const Model half = Model::open(out / "half");
  EXPECT_EQ(half.parameters().front().value.dtype(), DType::f16);
  EXPECT_EQ(half.config(), Model::open(folder.path()).config());
}

TEST(Convert, CopiesWeightsOfModulesAndNamesThoseOfNoUse) {
  const PublishedFolder folder("gpt2");
  std::filesystem::create_directory(folder / "2_Dense");
  const Tensor weight(std::vector<float>{1, 2}, {2});
  write_file(folder / "2_Dense/model.safetensors",
             encode_safetensors(std::vector<NamedView>{{"linear.weight", weight}}));
  folder.write("consolidated.safetensors");
  const TemporaryDirectory out;
  const Conversion done = convert_model(folder.path(), out / "half", {.type = "f16"});
  EXPECT_THAT(done.cautions, ElementsAre("consolidated.safetensors: not copied, as it is not a shard of the model"));
  EXPECT_FALSE(std::filesystem::exists(out / "half/consolidated.safetensors"));
  EXPECT_EQ(read_file(out / "half/2_Dense/model.safetensors"), read_file(folder / "2_Dense/model.safetensors"));
}

TEST(Convert, WritesEachShard) {
  PublishedFolder folder("gpt2");
  const std::map<std::string, Tensor> all = std::exchange(folder.tensors, {});
  nlohmann::json places;
  for (const auto& [name, value] : all) {
    const std::string shard = name.ends_with("bias") ? "a.safetensors" : "b.safetensors";
    places[name] = shard;
  }
  for (const std::string shard : {"a.safetensors", "b.safetensors"}) {
    folder.tensors.clear();
    for (const auto& [name, value] : all) {
      if (places[name] == shard) folder.tensors.emplace(name, value);
    }
    folder.write(shard);
  }
  folder.put("model.safetensors.index.json", nlohmann::json({{"weight_map", places}}).dump());
  std::filesystem::remove(folder / "model.safetensors");
  const TemporaryDirectory out;
  const Conversion done = convert_model(folder.path(), out / "half", {.type = "f16"});
  EXPECT_EQ(done.tensors.size(), all.size());
  EXPECT_THAT(done.cautions, IsEmpty());
  EXPECT_TRUE(std::filesystem::exists(out / "half/b.safetensors"));
  EXPECT_EQ(Model::open(out / "half").config(), Model::open(folder.path()).config());
}

TEST(Convert, KeepsMasksOfOlderFolders) {
  PublishedFolder folder("gpt2");
  const Tensor mask(std::vector<bool>{true, false, true, true}, {1, 1, 2, 2});
  folder.tensors.emplace("h.0.attn.bias", mask);
  folder.tensors.emplace("h.1.attn.bias", Tensor(mask, DType::u8));
  folder.write();
  const TemporaryDirectory out;
  static_cast<void>(convert_model(folder.path(), out / "half", {.type = "f16"}));
  const Safetensors half = Safetensors::read(out / "half/model.safetensors");
  EXPECT_EQ(half.load("h.0.attn.bias").dtype(), DType::b8);
  EXPECT_THAT(half.load("h.0.attn.bias").to_vector(), ElementsAre(1, 0, 1, 1));
  EXPECT_EQ(half.load("h.1.attn.bias").dtype(), DType::u8);
  EXPECT_THAT(half.load("h.1.attn.bias").to_vector(), ElementsAre(1, 0, 1, 1));
}

TEST(Convert, WritesAModelFileInAnotherType) {
  const TemporaryDirectory out;
  Generator draw(3);
  const Model model(Decoder({.vocabulary = 11, .layers = 1, .d_model = 16, .heads = 2}, draw));
  model.save(out / "m.safetensors");
  const Conversion done = convert_model(out / "m.safetensors", out / "half.safetensors", {.type = "bf16"});
  EXPECT_EQ(done.form, "safetensors");
  const Model half = Model::open(out / "half.safetensors");
  EXPECT_EQ(half.config(), model.config());
  EXPECT_EQ(half.parameters().front().value.dtype(), DType::bf16);
}

TEST(Convert, RefusesPlacesThatAreNotFree) {
  const PublishedFolder folder("llama");
  const TemporaryDirectory out;
  EXPECT_EQ(refusal(folder.path(), folder / "m.gguf"),
            "convert_model: out: expected a place outside of `model`, got " + (folder / "m.gguf"));
  EXPECT_THAT(refusal(folder.path(), folder / "new/../deep", {.type = "f16"}), HasSubstr("outside of `model`"));
  write_file(out / "m.gguf", "mine");
  EXPECT_EQ(refusal(folder.path(), out / "m.gguf"),
            "convert_model: out: expected a name where nothing is, or `overwrite` beside it, got " + (out / "m.gguf") +
                ", which is there already");
  EXPECT_THAT(refusal(folder.path(), out.path(), {.type = "f16"}), HasSubstr("a folder is not replaced"));
  EXPECT_THAT(refusal(folder.path(), out / "none/m.gguf"), HasSubstr("cannot write"));
  static_cast<void>(convert_model(folder.path(), out / "m.gguf", {.overwrite = true}));
  EXPECT_THAT(refusal(out / "m.gguf", out / "m.gguf", {.type = "f16", .overwrite = true}), HasSubstr("another file"));
  EXPECT_EQ(refusal(out / "m.gguf", out / "again.gguf"),
            "convert_model: type: expected a type, since `out` has the form that `model` has, got none");
  EXPECT_THAT(out.names(), ElementsAre("m.gguf"));
}

TEST(Convert, ReplacesNoDevice) {
  const PublishedFolder folder("llama");
  const TemporaryDirectory out;
  std::filesystem::create_symlink("/dev/null", out / "m.gguf");
  EXPECT_EQ(refusal(folder.path(), out / "m.gguf", {.overwrite = true}),
            "cannot write " + (out / "m.gguf") + ": it is a device or a pipe, not a file");
  EXPECT_TRUE(std::filesystem::is_symlink(out / "m.gguf"));
}

TEST(Convert, RefusesWhatTheNewFormCannotHold) {
  const TemporaryDirectory out;
  const PublishedFolder roberta("roberta");
  EXPECT_EQ(
      refusal(roberta.path(), out / "m.gguf"),
      roberta.path() +
          ": model_type: expected one that is written as GGUF, llama, mistral, qwen2, qwen3, gemma, gemma2, "
          "gemma3_text, granite, smollm3, olmo2, phi3, phi, starcoder2, stablelm, cohere, cohere2, gpt2, gpt_bigcode, "
          "gpt_neox, falcon, bloom, mpt, bert, nomic_bert, modernbert, t5, mixtral, granitemoe, olmoe, qwen2_moe, "
          "qwen3_moe, gpt_oss, got roberta");
  const PublishedFolder windows("mistral", R"(, "sliding_window": 4)");
  EXPECT_EQ(refusal(windows.path(), out / "m.gguf"),
            windows.path() + ": a GGUF file of llama cannot hold this model: windows is 4 4, and would be not said");
  const PublishedFolder gelu("llama", R"(, "hidden_act": "gelu")");
  EXPECT_THAT(refusal(gelu.path(), out / "m.gguf"), HasSubstr("activation is "));
  const PublishedFolder llama("llama");
  EXPECT_THAT(refusal(llama.path(), out / "m", {.type = "q4_0"}),
              HasSubstr("type: expected f32, f16, bf16, which safetensors hold, got q4_0"));
  EXPECT_THAT(refusal(llama.path(), out / "m.gguf", {.type = "q4_k"}), HasSubstr("q5_1, got q4_k"));
  EXPECT_THAT(refusal(llama.path(), out / "m.safetensors"),
              HasSubstr("expected a folder, or a name that ends in .gguf"));
  EXPECT_THAT(refusal(llama.path(), out / "m"), HasSubstr("type: expected a type"));
  PublishedFolder large("llama");
  large.tensors.at("embed_tokens.weight").set({0, 0}, 1e5);
  large.write();
  EXPECT_EQ(refusal(large.path(), out / "m.gguf", {.type = "f16"}),
            "\"token_embd.weight\": 100000.000000 is among its numbers, which F16 does not hold");
  EXPECT_THAT(out.names(), IsEmpty());
}

// A byte-level tokenizer of the letters a to d.
nlohmann::json byte_level(const char* pre_tokenizer) {
  return {{"version", "1.0"},
          {"added_tokens",
           {{{"id", 6},
             {"content", "<end>"},
             {"special", true},
             {"single_word", false},
             {"lstrip", false},
             {"rstrip", false},
             {"normalized", false}}}},
          {"normalizer", nullptr},
          {"pre_tokenizer", nlohmann::json::parse(pre_tokenizer)},
          {"post_processor", nullptr},
          {"decoder", {{"type", "ByteLevel"}, {"add_prefix_space", false}, {"trim_offsets", true}}},
          {"model",
           {{"type", "BPE"},
            {"vocab", {{"a", 0}, {"b", 1}, {"c", 2}, {"d", 3}, {"ab", 4}, {"\u0120", 5}}},
            {"merges", {"a b"}}}}};
}

constexpr const char* kByteLevel = R"({"type": "ByteLevel", "add_prefix_space": false, "trim_offsets": true})";

TEST(Convert, CarriesTokenizerTemplateAndEnds) {
  const PublishedFolder folder("llama");
  folder.put("tokenizer.json", byte_level(kByteLevel).dump());
  folder.put(
      "tokenizer_config.json",
      R"({"tokenizer_class": "PreTrainedTokenizerFast", "eos_token": "<end>", "chat_template": "{{ messages }}"})");
  folder.put("generation_config.json", R"({"eos_token_id": [3, 6]})");
  const TemporaryDirectory out;
  static_cast<void>(convert_model(folder.path(), out / "m.gguf"));
  const Gguf file = Gguf::read(out / "m.gguf");
  EXPECT_EQ(std::get<std::string>(file.metadata().at("tokenizer.ggml.pre").value), "gpt-2");
  EXPECT_EQ(std::get<std::int64_t>(file.metadata().at("tokenizer.ggml.eos_token_id").value), 6);
  EXPECT_EQ(std::get<std::int64_t>(file.metadata().at("tokenizer.ggml.eot_token_id").value), 3);
  EXPECT_EQ(std::get<std::vector<std::string>>(file.metadata().at("tokenizer.ggml.tokens").value).size(), 9U);
  static_cast<void>(convert_model(out / "m.gguf", out / "folder"));
  for (const std::string& path : {out / "m.gguf", out / "folder"}) {
    const Model model = Model::open(path);
    ASSERT_NE(model.tokenizers().tokens, nullptr);
    EXPECT_THAT(model.tokenizers().tokens->encode("ab cd<end>a").ids, ElementsAre(4, 5, 2, 3, 6, 0)) << path;
    EXPECT_EQ(model.tokenizers().chat_template, "{{ messages }}");
    EXPECT_THAT(model.tokenizers().ends, testing::UnorderedElementsAre(3, 6));
  }
}

TEST(Convert, ReadsSpecialTokensOfTheirOlderFile) {
  const PublishedFolder folder("llama");
  folder.put("tokenizer.json", byte_level(kByteLevel).dump());
  folder.put("special_tokens_map.json", R"({"pad_token": "c", "bos_token": {"content": "d"}})");
  const TemporaryDirectory out;
  static_cast<void>(convert_model(folder.path(), out / "m.gguf"));
  const Gguf file = Gguf::read(out / "m.gguf");
  EXPECT_EQ(std::get<std::int64_t>(file.metadata().at("tokenizer.ggml.padding_token_id").value), 2);
  EXPECT_EQ(std::get<std::int64_t>(file.metadata().at("tokenizer.ggml.bos_token_id").value), 3);
}

TEST(Convert, TakesNoTokenForOneThatGgufHasNot) {
  const PublishedFolder folder("llama");
  const TemporaryDirectory out;
  static_cast<void>(convert_model(folder.path(), out / "m.gguf"));
  const Gguf file = Gguf::read(out / "m.gguf");
  GgufMetadata metadata = file.metadata();
  metadata["tokenizer.ggml.bos_token_id"] = {"u32", std::int64_t{0xFFFFFFFF}};
  metadata["tokenizer.ggml.padding_token_id"] = {"u32", std::int64_t{5}};
  write_with(file, metadata, out / "none.gguf");
  static_cast<void>(convert_model(out / "none.gguf", out / "folder"));
  const nlohmann::json config = files::read_json(out / "folder/config.json");
  EXPECT_FALSE(config.contains("bos_token_id"));
  EXPECT_EQ(config.at("pad_token_id"), 5);
  metadata["tokenizer.ggml.padding_token_id"] = {"u32", std::int64_t{9}};
  write_with(file, metadata, out / "beyond.gguf");
  EXPECT_THAT(refusal(out / "beyond.gguf", out / "other"),
              HasSubstr("tokenizer.ggml.padding_token_id: expected a token from 0 to 8, got 9"));
}

TEST(Convert, RefusesTokenizersThatGgufCannotHold) {
  const PublishedFolder folder("llama");
  const TemporaryDirectory out;
  folder.put("tokenizer.json", byte_level(R"({"type": "Sequence", "pretokenizers": [{"type": "Whitespace"},
      {"type": "ByteLevel", "add_prefix_space": false, "trim_offsets": true}]})")
                                   .dump());
  EXPECT_THAT(refusal(folder.path(), out / "m.gguf"),
              AllOf(HasSubstr(folder.path()), HasSubstr("its tokenizer: pre_tokenizer: expected that of GPT-2")));
  folder.put("tokenizer.json",
             byte_level(R"({"type": "ByteLevel", "add_prefix_space": true, "trim_offsets": true})").dump());
  EXPECT_THAT(refusal(folder.path(), out / "m.gguf"), HasSubstr("pre_tokenizer.add_prefix_space: expected false"));
  nlohmann::json words = byte_level(kByteLevel);
  words["pre_tokenizer"] = {{"type", "Whitespace"}};
  words["model"] = {{"type", "WordLevel"}, {"vocab", {{"a", 0}, {"b", 1}}}, {"unk_token", "a"}};
  folder.put("tokenizer.json", words.dump());
  EXPECT_THAT(refusal(folder.path(), out / "m.gguf"), HasSubstr("its tokenizer: model WordLevel: expected"));
  EXPECT_THAT(out.names(), IsEmpty());
}

TEST(Convert, TellsHowFarItIs) {
  const PublishedFolder folder("llama");
  const TemporaryDirectory out;
  std::vector<std::string> stages;
  std::int64_t last = 0;
  std::int64_t compared = 0;
  static_cast<void>(convert_model(folder.path(), out / "m.gguf",
                                  {.progress = [&](std::string_view stage, std::int64_t done, std::int64_t all) {
                                    if (stages.empty() || stages.back() != stage) stages.emplace_back(stage);
                                    EXPECT_LE(done, all);
                                    last = all - done;
                                    compared = all;
                                  }}));
  EXPECT_THAT(stages, ElementsAre("write", "check"));
  EXPECT_EQ(last, 0);
  std::int64_t bytes = 0;
  for (const Parameter& parameter : Model::open(folder.path()).parameters()) {
    bytes += parameter.value.shape().product() * static_cast<std::int64_t>(sizeof(float));
  }
  EXPECT_EQ(compared, bytes);
}

}  // namespace
}  // namespace qkv::convert_test
