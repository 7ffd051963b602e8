// Folders as others publish models in: what is wrong with one is said by name. What is right is in tests/models.
#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>

#include "core/error_message.h"
#include "files/temporary_directory.h"
#include "model/families/generation_file.h"
#include "model/tower_folder.h"
#include "qkv/error.h"
#include "qkv/files.h"
#include "qkv/model/model.h"

namespace qkv::folder_test {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using tests::TemporaryDirectory;

constexpr const char* kConfig = R"({"model_type": "llama", "vocab_size": 5, "hidden_size": 4, "intermediate_size": 6,
  "num_hidden_layers": 1, "num_attention_heads": 2, "max_position_embeddings": 8, "tie_word_embeddings": true})";

void write(const std::string& path, const std::string& text) { std::ofstream(path, std::ios::binary) << text; }

// A folder with this config and tensors of these shapes.
class Folder {
 public:
  explicit Folder(const std::string& config, const std::vector<std::pair<std::string, Shape>>& tensors = {}) {
    write(directory_ / "config.json", config);
    std::vector<Tensor> values;
    std::vector<NamedView> views;
    for (const auto& [name, shape] : tensors) values.emplace_back(DType::f32, shape);
    for (std::size_t n = 0; n < values.size(); ++n) views.push_back({tensors[n].first, values[n]});
    if (!tensors.empty()) write_file(directory_ / "model.safetensors", encode_safetensors(views));
  }

  [[nodiscard]] std::string error() const {
    try {
      static_cast<void>(Model::open(directory_ / ""));
    } catch (const Error& error) {
      return error.what();
    }
    return "no error";
  }
  [[nodiscard]] std::string operator/(const std::string& name) const { return directory_ / name; }

 private:
  TemporaryDirectory directory_;
};

std::vector<std::pair<std::string, Shape>> weights() {
  return {{"model.embed_tokens.weight", {5, 4}},
          {"model.layers.0.input_layernorm.weight", {4}},
          {"model.layers.0.self_attn.q_proj.weight", {4, 4}},
          {"model.layers.0.self_attn.k_proj.weight", {4, 4}},
          {"model.layers.0.self_attn.v_proj.weight", {4, 4}},
          {"model.layers.0.self_attn.o_proj.weight", {4, 4}},
          {"model.layers.0.post_attention_layernorm.weight", {4}},
          {"model.layers.0.mlp.gate_proj.weight", {6, 4}},
          {"model.layers.0.mlp.up_proj.weight", {6, 4}},
          {"model.layers.0.mlp.down_proj.weight", {4, 6}},
          {"model.norm.weight", {4}}};
}

TEST(Folder, OpensWhatItsConfigSays) {
  const Folder folder(kConfig, weights());
  const Model model = Model::open(folder / "");
  EXPECT_EQ(model.kind(), kind_of<Decoder>);
  EXPECT_EQ(model.parameter_count(), parameter_count(model.parameters()));
  EXPECT_EQ(model.tokenizers().tokens, nullptr);
}

TEST(Folder, SaysWhichTokensEndAText) {
  const std::string config(kConfig, std::string_view(kConfig).size() - 1);
  const auto ends = [](const Folder& folder) { return Model::open(folder / "").tokenizers().ends; };
  EXPECT_THAT(ends(Folder(kConfig, weights())), testing::IsEmpty());
  const Folder folder(config + R"(, "eos_token_id": 4})", weights());
  EXPECT_THAT(ends(folder), testing::ElementsAre(4));
  write(folder / "generation_config.json", R"({"eos_token_id": [2, 3]})");
  EXPECT_THAT(ends(folder), testing::ElementsAre(2, 3));
  write(folder / "generation_config.json", R"({"eos_token_id": ["2"]})");
  EXPECT_THAT(folder.error(), HasSubstr("generation_config.json: eos_token_id: expected a whole number, or a list"));
}

// A GPT-2 of a small vocabulary is saved with 50256.
TEST(Folder, LeavesOutEndsThatAreNoTokens) {
  const Folder folder(kConfig, weights());
  const auto expect_ends = [&](const std::string& said, const std::vector<std::int64_t>& ends) {
    write(folder / "generation_config.json", "{\"eos_token_id\": " + said + "}");
    const Model model = Model::open(folder / "");
    EXPECT_EQ(model.tokenizers().ends, ends);
    EXPECT_THAT(model.cautions(), testing::ElementsAre("generation_config.json: eos_token_id " + said +
                                                       ": what is no token below vocab_size, 5, ends no text"));
  };
  expect_ends("50256", {});
  expect_ends("-1", {});
  expect_ends("[2,5,3]", {2, 3});
}

TEST(Folder, SaysHowItsAuthorsMeanItToWrite) {
  const TemporaryDirectory directory;
  const auto draw = [&](const std::string& text) {
    write(directory / "generation_config.json", text);
    return draw_options_of(directory / "");
  };
  EXPECT_EQ(draw_options_of(directory / "").temperature, 0);
  const GenerateOptions drawn = draw(R"({"do_sample": true, "temperature": 0.6, "top_p": 0.9})");
  EXPECT_EQ(drawn.temperature, 0.6);
  EXPECT_EQ(drawn.top_p, 0.9);
  EXPECT_EQ(drawn.top_k, 50);
  const GenerateOptions searched = draw(R"({"temperature": 0.6, "num_beams": 4, "repetition_penalty": 1.1})");
  EXPECT_EQ(searched.temperature, 0);
  EXPECT_EQ(searched.beams, 4);
  EXPECT_EQ(searched.repetition_penalty, 1.1);
  EXPECT_EQ(error_message<Error>([&] { static_cast<void>(draw(R"({"repetition_penalty": "a"})")); }),
            directory / "generation_config.json: repetition_penalty: expected a number, got \"a\"");
}

TEST(Folder, NamesWhatItsAuthorsAskForThatIsNotDone) {
  const TemporaryDirectory directory;
  const auto unheeded = [&](const std::string& text) {
    write(directory / "generation_config.json", text);
    return unheeded_in_generation(directory / "");
  };
  EXPECT_THAT(unheeded_in_generation(directory / ""), testing::IsEmpty());
  EXPECT_THAT(
      unheeded(
          R"({"bos_token_id": 1, "eos_token_id": [2], "pad_token_id": 0, "transformers_version": "4", "use_cache": true,
                           "do_sample": true, "temperature": 0.6, "top_k": 5, "repetition_penalty": 1.2, "num_beams": 1,
                           "suppress_tokens": [], "typical_p": 1, "bad_words_ids": null, "min_length": 0})"),
      testing::IsEmpty());
  EXPECT_THAT(
      unheeded(R"({"max_length": 20, "no_repeat_ngram_size": 3, "sequence_bias": [1, 2], "typical_p": 0.9,
                           "min_new_tokens": 4, "guidance_scale": 2.0, "encoder_repetition_penalty": 2, "foo": {"a": 1}})"),
      testing::ElementsAre("encoder_repetition_penalty 2", "foo {\"a\":1}", "guidance_scale 2.0", "max_length 20",
                           "min_new_tokens 4", "no_repeat_ngram_size 3", "sequence_bias [1,2]"));
  EXPECT_THAT(unheeded(R"({"do_sample": true, "num_beams": 3, "typical_p": 0.9, "early_stopping": true})"),
              testing::ElementsAre("num_beams 3 of a draw", "early_stopping true", "typical_p 0.9"));
  EXPECT_THAT(unheeded(R"({"early_stopping": true, "temperature": 0.3, "stop_strings": ["a"]})"),
              testing::ElementsAre("stop_strings [\"a\"]"));
  EXPECT_THAT(unheeded(R"({"num_beams": 3, "early_stopping": true})"), testing::ElementsAre("early_stopping true"));
  EXPECT_THAT(unheeded(R"({"decoder_start_token_id": 3})"), testing::IsEmpty());
  EXPECT_THAT(unheeded(R"({"suppress_tokens": [1], "begin_suppress_tokens": [2, 3]})"), testing::IsEmpty());
  EXPECT_THAT(unheeded(R"({"is_multilingual": true, "task_to_id": {"transcribe": 3}, "lang_to_id": {"<|en|>": 4},
                           "no_timestamps_token_id": 5, "max_length": 448})"),
              testing::IsEmpty());
  EXPECT_THAT(unheeded(R"({"forced_decoder_ids": [[1, 3]]})"), testing::ElementsAre("forced_decoder_ids [[1,3]]"));
}

TEST(Folder, SaysWhichTokensItsAuthorsNeverWrite) {
  const TemporaryDirectory directory;
  const auto never = [&](const std::string& text) {
    write(directory / "generation_config.json", text);
    return families::never_written_in(directory / "");
  };
  EXPECT_THAT(families::never_written_in(directory / ""), testing::IsEmpty());
  EXPECT_THAT(never(R"({"bad_words_ids": [[7], [3]], "eos_token_id": 0})"), testing::ElementsAre(7, 3));
  EXPECT_THAT(unheeded_in_generation(directory / ""), testing::IsEmpty());
  EXPECT_THAT(never(R"({"bad_words_ids": [[7], [3]], "eos_token_id": 3})"), testing::ElementsAre(7));
  EXPECT_THAT(never(R"({"bad_words_ids": null})"), testing::IsEmpty());
  EXPECT_THAT(never(R"({"bad_words_ids": [[7]], "suppress_tokens": [5, 6]})"), testing::ElementsAre(5, 6, 7));
  EXPECT_THAT(never(R"({"bad_words_ids": [[7, 8]], "suppress_tokens": [5]})"), testing::ElementsAre(5));
  write(directory / "generation_config.json", R"({"begin_suppress_tokens": [4, 9]})");
  EXPECT_THAT(families::never_written_first_in(directory / ""), testing::ElementsAre(4, 9));
  for (const char* other : {"[[7], [3, 4]]", "[[-1]]", "[7]", "[[\"a\"]]", "3"}) {
    EXPECT_THAT(never(R"({"bad_words_ids": )" + std::string(other) + "}"), testing::IsEmpty()) << other;
    EXPECT_EQ(unheeded_in_generation(directory / "").size(), 1U) << other;
  }
}

TEST(Folder, NamesWordsThatItDoesNotKnow) {
  const auto cautions = [](const std::string& more) {
    const Folder folder(std::string(kConfig, std::string_view(kConfig).size() - 1) + ", " + more + "}", weights());
    return Model::open(folder / "").cautions();
  };
  EXPECT_THAT(cautions(R"("use_cache": false, "torch_dtype": "float16", "attention_foo": null, "is_decoder": false)"),
              testing::IsEmpty());
  EXPECT_THAT(
      cautions(
          R"("b_foo": NaN, "is_decoder": true, "a_foo": {"b": [Infinity]}, "rope_scaling": {"factor": 1, "c_foo": 1})"),
      testing::ElementsAre("config.json: a_foo {\"b\":[Infinity]}, b_foo NaN, is_decoder true, rope_scaling.c_foo 1, "
                           "rope_scaling.factor 1: not read; "
                           "the program of the model's authors may compute something else"));
  EXPECT_THAT(cautions(R"("rope_scaling": {"type": "linear", "factor": 2}, "rope_parameters": {"rope_theta": 3})"),
              testing::ElementsAre(
                  "config.json: rope_parameters: not used, since rope_scaling is there too and goes before it"));
  EXPECT_THAT(cautions(R"("rope_scaling": {"type": "dynamic", "factor": 2})"),
              testing::ElementsAre(HasSubstr("config.json: rope_scaling: type: dynamic: texts of more than 8 tokens")));
}

TEST(Folder, NamesEveryTensorThatDiffers) {
  auto tensors = weights();
  tensors[2].second = {4, 5};
  tensors[9].first = "model.layers.0.mlp.away.weight";
  EXPECT_THAT(Folder(kConfig, tensors).error(),
              AllOf(HasSubstr("3 of its tensors are not those of a llama with this config.json"),
                    HasSubstr("model.layers.0.self_attn.q_proj.weight: expected [4, 4], got [4, 5] of f32"),
                    HasSubstr("model.layers.0.mlp.down_proj.weight: expected [4, 6], got no such tensor"),
                    HasSubstr("model.layers.0.mlp.away.weight: a tensor that the model has no use for")));
}

TEST(Folder, NamesWhatItsConfigLacksOrHasNoMeaningFor) {
  EXPECT_THAT(
      Folder(R"({"model_type": "mamba"})").error(),
      HasSubstr("config.json: model_type: expected one of the families "
                "albert, bart, bert, bloom, camembert, clip, cohere, cohere2, deberta-v2, deepseek_v2, "
                "deepseek_v3, deit, dinov2, dinov2_with_registers, distilbert, "
                "electra, falcon, gemma, gemma2, gemma3_text, glm, glm4, glm4_moe, gpt2, gpt_bigcode, gpt_neo, "
                "gpt_neox, gpt_oss, gptj, granite, granitemoe, llama, marian, mbart, mistral, mixtral, "
                "modernbert, mpnet, mpt, mt5, nomic_bert, olmo2, olmoe, opt, phi, phi3, phimoe, qwen2, qwen2_moe,"
                " qwen3, qwen3_moe, roberta, siglip, smollm3, stablelm, starcoder2, t5, vit, whisper, xlm-roberta; no "
                "family is near: its layers keep a state in place of attention, got \"mamba\""));
  EXPECT_THAT(Folder("{\"model_type\": ").error(),
              HasSubstr("config.json: expected JSON, got other text at line 1, column 16"));
  EXPECT_THAT(Folder("[1]").error(), HasSubstr("config.json: expected a JSON object, got [1]"));
  const auto with = [](const std::string& more) {
    return Folder(std::string(kConfig, std::string_view(kConfig).size() - 1) + ", " + more + "}", weights()).error();
  };
  EXPECT_THAT(with(R"("rope_scaling": {"rope_type": "mrope"})"),
              HasSubstr("config.json: rope_scaling: rope_type: expected default, linear, dynamic, llama3, longrope or "
                        "yarn, got \"mrope\""));
  EXPECT_THAT(with(R"("rope_scaling": {"rope_type": "longrope", "long_factor": [1, 2]})"),
              HasSubstr("config.json: rope_scaling: short_factor: expected a list of numbers, got nothing"));
  EXPECT_THAT(with(R"("rope_scaling": {"type": "ntk", "factor": 2})"),
              HasSubstr("rope_scaling: type: expected default"));
  EXPECT_THAT(with(R"("rope_scaling": {"type": "linear", "factor": "2"})"),
              HasSubstr("rope_scaling: factor: expected a number, got \"2\""));
  EXPECT_THAT(with(R"("rope_scaling": 3)"), HasSubstr("rope_scaling: expected an object, got 3"));
  EXPECT_THAT(with(R"("rope_theta": NaN)"), HasSubstr("config.json: rope_theta: expected a number, got NaN"));
  EXPECT_THAT(with(R"("rope_scaling": {"type": "linear", "factor": 2, "partial_rotary_factor": 0.5})"),
              HasSubstr("rope_scaling: partial_rotary_factor: expected 1.0 beside frequencies that are scaled, got "
                        "0.5"));
  EXPECT_THAT(with(R"("quantization_config": {"quant_method": "gptq"})"),
              HasSubstr("config.json: quantization_config: expected none"));
  EXPECT_THAT(with(R"("hidden_act": "mish")"), HasSubstr("config.json: hidden_act: expected one of gelu"));
  EXPECT_THAT(with(R"("num_key_value_heads": -1)"),
              HasSubstr("config.json: num_key_value_heads: expected a whole number from 0 to 2^31, got -1"));
  EXPECT_THAT(with(R"("num_key_value_heads": 3)"), HasSubstr("kv_heads"));
}

TEST(Folder, NamesWhatNoGemmaHas) {
  const auto gemma = [](const std::string& type, const std::string& more) {
    std::string config(kConfig, std::string_view(kConfig).size() - 1);
    config.replace(config.find("llama"), 5, type);
    return Folder(config + ", " + more + "}", weights()).error();
  };
  EXPECT_THAT(gemma("gemma", R"("use_bidirectional_attention": true)"),
              HasSubstr("config.json: use_bidirectional_attention: expected false, which is all that qkv computes"));
  EXPECT_THAT(gemma("gemma2", R"("rope_parameters": {"full_attention": {}})"),
              HasSubstr("config.json: rope_parameters: expected one object for all layers"));
  EXPECT_THAT(gemma("gemma3_text", R"("attn_logit_softcapping": 50.0)"),
              HasSubstr("config.json: attn_logit_softcapping: expected null, for scores without a cap, got 50.0"));
  EXPECT_THAT(gemma("gemma3_text", R"("rope_parameters": {"full_attention": 3})"),
              HasSubstr("config.json: rope_parameters: full_attention: expected an object, got 3"));
  EXPECT_THAT(gemma("gemma3_text", R"("rope_parameters": {"full_attention": {}, "sliding_attention":
                {"rope_type": "mrope"}})"),
              HasSubstr("sliding_attention: rope_type: expected default, linear, dynamic, llama3, longrope or yarn"));
  EXPECT_THAT(gemma("gemma2", R"("sliding_window": null)"), HasSubstr("sliding_window: expected a whole number"));
  EXPECT_THAT(gemma("gemma2", R"("query_pre_attn_scalar": -1)"),
              HasSubstr("config.json: query_pre_attn_scalar: expected more than 0, got -1"));
  EXPECT_THAT(gemma("gemma2", R"("attn_logit_softcapping": 0)"),
              HasSubstr("config.json: attn_logit_softcapping: expected more than 0, or null, got 0"));
  EXPECT_THAT(gemma("gemma3_text", R"("sliding_window_pattern": 0)"),
              HasSubstr("config.json: sliding_window_pattern: expected 1 or more, got 0"));
}

TEST(Folder, NamesWhatNoT5Has) {
  const auto t5 = [](const std::string& more) {
    return Folder(R"({"model_type": "t5", "vocab_size": 5, "d_model": 4, "d_kv": 2, "d_ff": 6, "num_layers": 1,
      "num_heads": 2, )" +
                      more + "}",
                  {{"shared.weight", {5, 4}}})
        .error();
  };
  EXPECT_THAT(t5(R"("is_encoder_decoder": false)"), testing::Not(HasSubstr("decoder.block.0")));
  EXPECT_THAT(t5(R"("feed_forward_proj": "gated-mish")"),
              HasSubstr("config.json: feed_forward_proj: expected one of gelu"));
  EXPECT_THAT(t5(R"("decoder_start_token_id": 5)"), HasSubstr("config.json: EncoderDecoder: start: expected a token"));
  EXPECT_THAT(t5(R"("tie_word_embeddings": false)"),
              AllOf(HasSubstr("decoder.block.0.layer.1.EncDecAttention.q.weight: expected [4, 4], got no such tensor"),
                    HasSubstr("encoder.block.0.layer.1.DenseReluDense.wi.weight: expected [6, 4]"),
                    testing::Not(HasSubstr("lm_head"))));
}

TEST(Folder, NamesWhatNoTowersHave) {
  const auto clip = [](const std::string& text, const std::string& image) {
    return Folder(R"({"model_type": "siglip", "text_config": {)" + text + R"(}, "vision_config": {)" + image + "}}",
                  {{"logit_scale", {1}}})
        .error();
  };
  EXPECT_THAT(clip("", R"("num_channels": 1)"),
              HasSubstr("config.json: vision_config: num_channels: expected 3, which is all that qkv computes, got 1"));
  EXPECT_THAT(clip("", R"("vision_use_head": false)"), HasSubstr("vision_config: vision_use_head: expected true"));
  EXPECT_THAT(clip("", R"("patch_size": 0)"), HasSubstr("vision_config: patch_size: expected 1 or more"));
  EXPECT_THAT(clip(R"("projection_size": 5)", ""), HasSubstr("TwoTower: d_embedding: expected 768"));
  EXPECT_THAT(clip("", R"("num_hidden_layers": 1)"),
              AllOf(HasSubstr("vision_model.head.attention.in_proj_weight: expected [2304, 768], got no such tensor"),
                    HasSubstr("logit_bias: expected [1], got no such tensor")));
}

TEST(Folder, OfSiglipSaysWithWhatItsTextsArePadded) {
  const tests::TowerFolder folder("siglip");
  const auto padding = [&] { return Model::open(folder.path()).tokenizers().padding; };
  EXPECT_EQ(padding(), 1);  // SiglipTextConfig has no other
  folder.put("special_tokens_map.json", R"({"pad_token": {"content": "<unk>", "lstrip": false}})");
  EXPECT_EQ(padding(), 2);
  folder.put("tokenizer_config.json", R"({"pad_token": "<pad>"})");
  EXPECT_EQ(padding(), 8);
  const std::string file = folder / "own.safetensors";
  Model::open(folder.path()).save(file);
  const Model again = Model::open(file);
  EXPECT_EQ(again.tokenizers().padding, 8);
  EXPECT_EQ(again.padded({4, 1}), (std::vector<std::int32_t>{4, 1, 8, 8, 8, 8, 8, 8, 8}));
  EXPECT_EQ(error_message([&] { static_cast<void>(again.padded(std::vector<std::int32_t>(10))); }),
            "Model::padded: tokens: expected at most 9 tokens, got 10");
  ModelTokenizers unpadded = again.tokenizers();
  unpadded.padding.reset();
  Model(again.network(), unpadded).save(file, {{"reading.padding", "9"}});
  EXPECT_THAT(error_message<Error>([&] { static_cast<void>(Model::open(file)); }),
              HasSubstr("Model::open: reading.padding: expected a token, got \"9\""));
  folder.put("tokenizer_config.json", R"({"pad_token": "<fill>"})");
  EXPECT_THAT(error_message<Error>(padding),
              HasSubstr("tokenizer_config.json: pad_token: expected a piece of the tokenizer, got \"<fill>\""));
  EXPECT_EQ(Model::open(tests::TowerFolder("clip").path()).tokenizers().padding, std::nullopt);
}

TEST(Folder, NamesTheShardAtFault) {
  const Folder none(kConfig);
  EXPECT_THAT(none.error(), HasSubstr("expected model.safetensors or model.safetensors.index.json, got neither"));
  write(none / "model.safetensors.index.json", R"({"weight_map": {"model.norm.weight": "../other.safetensors"}})");
  EXPECT_THAT(none.error(), HasSubstr("weight_map: model.norm.weight: expected the name of a file in the same folder"));
  write(none / "model.safetensors.index.json", R"({"weight_map": {"model.norm.weight": "one.safetensors"}})");
  const Tensor other(DType::f32, {4});
  write_file(none / "one.safetensors", encode_safetensors(std::vector<NamedView>{{"other", other}}));
  EXPECT_THAT(none.error(), HasSubstr("one.safetensors: model.norm.weight: expected this tensor, as the index says"));
  write(none / "one.safetensors", "cut");
  EXPECT_THAT(none.error(), HasSubstr("one.safetensors: HeaderTooSmall"));
}

TEST(Folder, OpensBesideATokenizerOfMorePieces) {
  const Folder folder(kConfig, weights());
  write(folder / "vocab.txt", "[UNK]\n[CLS]\n[SEP]\na\nb\nc\nd\n");
  const std::shared_ptr<const Tokenizer> tokens = Model::open(folder / "").tokenizers().tokens;
  EXPECT_EQ(tokens->size(), 5);
  EXPECT_EQ(tokens->encode("b a").ids, (std::vector<std::int32_t>{1, 4, 3, 2}));
  EXPECT_EQ(error_message([&] { static_cast<void>(tokens->encode("a d")); }),
            "Tokenizer::encode: text: expected tokens of the model, whose table has 5 rows, got \"d\", which would be "
            "row 6");
  EXPECT_EQ(tokens->find("d"), std::nullopt);
  EXPECT_THAT(error_message([&] { static_cast<void>(tokens->piece(5)); }), HasSubstr("expected from 0 to 4, got 5"));
}

TEST(Folder, NumbersTheRowsThatNoPieceHas) {
  const Folder folder(kConfig, weights());
  write(folder / "vocab.txt", "[UNK]\na\nb\n");
  const Model model = Model::open(folder / "");
  const auto expect_fitted = [](const Tokenizer& tokens) {
    EXPECT_EQ(tokens.size(), 5);
    EXPECT_EQ(tokens.piece(4), "<id:4>");
    EXPECT_EQ(shown_token(tokens, 4), "<id:4>");
    EXPECT_EQ(tokens.find("<id:3>"), 3);
    EXPECT_EQ(tokens.decode(std::vector<std::int32_t>{1, 4, 2, 1, 3}), "a<id:4> b a<id:3>");
    EXPECT_EQ(tokens.encode("a b").ids, (std::vector<std::int32_t>{1, 2}));
    EXPECT_THAT(error_message([&] { static_cast<void>(tokens.decode(std::vector<std::int32_t>{5})); }),
                HasSubstr("expected from 0 to 4, got 5"));
  };
  expect_fitted(*model.tokenizers().tokens);
  const std::string file = folder / "own.safetensors";
  model.save(file);
  expect_fitted(*Model::open(file).tokenizers().tokens);
  std::map<std::string, std::string> words = model.tokenizers().tokens->config();
  words["rows"] = "-1";
  EXPECT_THAT(error_message([&] { static_cast<void>(make_tokenizer(words)); }),
              HasSubstr("make_tokenizer: rows: expected a number of rows, got \"-1\""));
}

TEST(Folder, SaysWhatItHasInPlaceOfWeights) {
  const auto with = [](const std::string& name, const std::string& text) {
    const Folder folder(kConfig);
    write(folder / name, text);
    return folder.error();
  };
  constexpr const char* kNeither = "expected model.safetensors or model.safetensors.index.json, got neither; it has ";
  EXPECT_THAT(with("pytorch_model.bin", "PK"), HasSubstr(std::string(kNeither) + "pytorch_model.bin, a pickle"));
  EXPECT_THAT(with("llama.Q4_K.gguf", "GGUF"), HasSubstr("llama.Q4_K.gguf, a GGUF file: give its path"));
  EXPECT_THAT(with("tf_model.h5", ""), HasSubstr("tf_model.h5, weights of TensorFlow"));
  EXPECT_THAT(with("flax_model.msgpack", ""), HasSubstr("flax_model.msgpack, weights of Flax"));
  EXPECT_THAT(with("model.onnx", ""), HasSubstr("model.onnx, a graph of ONNX"));
  EXPECT_THAT(with("weights.safetensors", ""), HasSubstr("call it model.safetensors if it is the whole model"));
  EXPECT_THAT(with("adapter_config.json", R"({"peft_type": "LORA", "base_model_name_or_path": "a/b"})"),
              HasSubstr("an adapter (LORA), which changes the weights of a/b and is no model by itself: merge it"));
  constexpr const char* kPointer = "version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 5\n";
  for (const char* const name : {"model.safetensors", "config.json", "tokenizer.json"}) {
    const Folder folder(kConfig, weights());
    write(folder / name, kPointer);
    EXPECT_THAT(folder.error(), HasSubstr(std::string(name) + ": a Git LFS pointer in place of the file itself"));
  }
  const Folder folder(kConfig, weights());
  const auto file = [&](const std::string& text) {
    write(folder / "file", text);
    return error_message<Error>([&] { static_cast<void>(Model::open(folder / "file")); });
  };
  EXPECT_THAT(file("GGUF\x03 and more of it"), HasSubstr("file: its version: expected 2 or 3, got "));
  EXPECT_THAT(file(kPointer), HasSubstr("a Git LFS pointer"));
  EXPECT_THAT(file(std::string("PK\x03\x04 and more of it")), HasSubstr("a pickle of PyTorch"));
  EXPECT_THAT(error_message<Error>([&] { static_cast<void>(Model::open(folder / "model.safetensors")); }),
              HasSubstr("got tensors alone: give its folder, "));
}

TEST(Folder, NamesALinkThatLeadsNowhere) {
  for (const std::string name : {"model.safetensors", "config.json", "tokenizer.json", "generation_config.json",
                                 "added_tokens.json", "sentencepiece.bpe.model", "sentence_bert_config.json"}) {
    const Folder folder(kConfig, weights());
    std::filesystem::remove(folder / name);
    std::filesystem::create_symlink("../../blobs/abc", folder / name);
    EXPECT_EQ(folder.error(), (folder / name) +
                                  ": expected a file, got a link to ../../blobs/abc, where there is "
                                  "none: fetch the model again");
  }
  const Folder folder(kConfig, weights());
  std::filesystem::create_symlink("nowhere", folder / "README.md");
  EXPECT_EQ(folder.error(), "no error");
}

TEST(Folder, NamesTheFolderThatIsMeant) {
  const Folder cache(kConfig, weights());
  const std::string snapshot = cache / "snapshots/abc";
  std::filesystem::create_directories(snapshot);
  for (const char* name : {"config.json", "model.safetensors"}) {
    std::filesystem::rename(cache / name, snapshot + "/" + name);
  }
  EXPECT_THAT(cache.error(), HasSubstr(": expected a folder with config.json, got one without: give " + snapshot));
  EXPECT_THAT(error_message<Error>([&] { static_cast<void>(Model::open(cache / "snapshots")); }),
              HasSubstr("got one without: give " + snapshot));
  EXPECT_EQ(error_message<Error>([&] { static_cast<void>(Model::open(snapshot + "/config.json")); }),
            snapshot +
                "/config.json: expected a file of safetensors or GGUF, or a folder with config.json, got another file: "
                "give its folder, " +
                snapshot);
}

TEST(Folder, NamesPathsThatCannotBeRead) {
  const auto of_path = [](const std::string& path) {
    return error_message<Error>([&] { static_cast<void>(Model::open(path)); });
  };
  const TemporaryDirectory directory;
  std::filesystem::create_directory(directory / "config.json");
  EXPECT_EQ(of_path(directory / ""), (directory / "config.json") + ": expected a file, got a directory");
  std::filesystem::create_symlink(directory / "loop", directory / "loop");
  EXPECT_THAT(of_path(directory / "loop"), AllOf(HasSubstr("cannot read "), HasSubstr("loop: Too many levels")));
  EXPECT_THAT(of_path(directory / std::string(300, 'a')), HasSubstr("aaa: File name too long"));
}

TEST(Folder, SaysThatWeightsAreQuantised) {
  const Folder silent(kConfig);
  const Tensor bytes(DType::i8, {1, 4});
  write_file(silent / "model.safetensors", encode_safetensors(std::vector<NamedView>{{"mlp.weight", bytes}}));
  EXPECT_THAT(silent.error(), HasSubstr("its weights are quantised (mlp.weight is stored as I8), which is not read"));
}

}  // namespace
}  // namespace qkv::folder_test
