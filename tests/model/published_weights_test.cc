// Weights as they are published: older names, heads of other tasks, heads that a config calls tied, states alone.
#include <gmock/gmock.h>

#include <array>
#include <cmath>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <string_view>

#include "core/error_message.h"
#include "model/published_folder.h"
#include "qkv/model/model.h"

namespace qkv::published_weights_test {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using tests::PublishedFolder;

void expect_same_parameters(const Model& a, const Model& b) {
  const Parameters left = a.parameters();
  const Parameters right = b.parameters();
  ASSERT_EQ(left.size(), right.size());
  for (std::size_t n = 0; n < left.size(); ++n) {
    EXPECT_EQ(left[n].name, right[n].name);
    EXPECT_EQ(left[n].value.value().to_vector(), right[n].value.value().to_vector()) << left[n].name;
  }
}

std::vector<double> parameter(const Model& model, const std::string& name) {
  for (const Parameter& one : model.parameters()) {
    if (one.name == name) return one.value.value().to_vector();
  }
  ADD_FAILURE() << "no parameter " << name;
  return {};
}

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  const std::size_t at = text.find(from);
  return at == std::string::npos ? text : text.replace(at, from.size(), to);
}

Tensor ids() { return Tensor(std::vector<std::int64_t>{3, 1, 4, 1, 5}, {1, 5}); }

TEST(PublishedWeights, HaveOlderNamesOfNorms) {
  for (const std::string type : {"bert", "roberta", "distilbert"}) {
    PublishedFolder folder(type);
    const Model plain = folder.open();
    folder.rename([](const std::string& name) {
      const bool is_norm = name.find("ayerNorm") != std::string::npos || name.find("layer_norm") != std::string::npos;
      return is_norm ? replaced(replaced(name, ".weight", ".gamma"), ".bias", ".beta") : name;
    });
    ASSERT_TRUE(std::ranges::any_of(folder.tensors, [](const auto& one) { return one.first.ends_with(".gamma"); }));
    const Model older = folder.open();
    expect_same_parameters(plain, older);
    EXPECT_THAT(older.cautions(), IsEmpty());
  }
}

// The maps of three experts, one below the other, as `transformers` 5 may store them.
Tensor in_one(const PublishedFolder& folder, const std::string& experts, const std::vector<std::string>& maps) {
  std::vector<double> values;
  std::int64_t rows = 0;
  std::int64_t columns = 0;
  for (const char* e : {"0", "1", "2"}) {
    rows = 0;
    for (const std::string& map : maps) {
      const Tensor& part = folder.tensors.at(experts + e + "." + map + ".weight");
      const std::vector<double> own = part.to_vector();
      values.insert(values.end(), own.begin(), own.end());
      rows += part.dim(0);
      columns = part.dim(1);
    }
  }
  return Tensor(values, {3, rows, columns}).to(DType::f32);
}

TEST(PublishedWeights, OfExpertsStandOneByOneOrInOne) {
  for (const std::string type : {"mixtral", "qwen2_moe", "qwen3_moe", "olmoe"}) {
    std::string words = R"(, "num_experts": 3, "num_experts_per_tok": 2)";
    if (type.starts_with("qwen")) words += R"(, "moe_intermediate_size": 6)";
    if (type == "qwen2_moe") words += R"(, "shared_expert_intermediate_size": 5)";
    PublishedFolder folder(type, words);
    const Model plain = folder.open();
    const bool is_mixtral = type == "mixtral";
    for (const std::string layer : {"layers.0.", "layers.1."}) {
      const std::string apart = layer + (is_mixtral ? "block_sparse_moe.experts." : "mlp.experts.");
      const std::vector<std::string> up =
          is_mixtral ? std::vector<std::string>{"w1", "w3"} : std::vector<std::string>{"gate_proj", "up_proj"};
      const std::string down = is_mixtral ? "w2" : "down_proj";
      folder.tensors[layer + "mlp.experts.gate_up_proj"] = in_one(folder, apart, up);
      folder.tensors[layer + "mlp.experts.down_proj"] = in_one(folder, apart, {down});
      std::erase_if(folder.tensors,
                    [&](const auto& one) { return one.first.starts_with(apart) && one.first.ends_with(".weight"); });
    }
    if (is_mixtral) {
      folder.rename([](const std::string& name) { return replaced(name, "block_sparse_moe", "mlp"); });
    }
    const Model in_one = folder.open();
    expect_same_parameters(plain, in_one);
    EXPECT_THAT(in_one.cautions(), IsEmpty());
    const Shape whole = folder.tensors.at("layers.1.mlp.experts.down_proj").shape();
    folder.tensors["layers.1.mlp.experts.down_proj"] = folder.drawn({4, whole[1], whole[2]});
    EXPECT_THAT(folder.error(), HasSubstr("layers.1.mlp.experts.down_proj: expected " + whole.to_string() + ", got " +
                                          Shape{4, whole[1], whole[2]}.to_string() + " of f32"));
  }
}

// What four bits mean, and the powers of two that scales stand for (OCP Microscaling Formats 1.0, 5.3.3 and 5.4.1).
Tensor numbers_of(const Tensor& blocks, const Tensor& scales) {
  constexpr std::array<double, 8> kFloats = {0, 0.5, 1, 1.5, 2, 3, 4, 6};
  const std::vector<double> bytes = blocks.to_vector();
  const std::vector<double> powers = scales.to_vector();
  const std::int64_t E = blocks.dim(0);
  const std::int64_t N = blocks.dim(1);
  const std::int64_t K = blocks.dim(2) * 32;
  std::vector<double> numbers(static_cast<std::size_t>(E * N * K));
  for (std::int64_t n = 0; n < E * N * K; ++n) {
    const auto byte = static_cast<unsigned>(bytes[static_cast<std::size_t>(n / 2)]);
    const unsigned four = n % 2 == 0 ? byte % 16 : byte / 16;
    const double size =
        std::ldexp(kFloats.at(four % 8), static_cast<int>(powers[static_cast<std::size_t>(n / 32)]) - 127);
    // As the file of numbers has it: [E, K, N].
    numbers[static_cast<std::size_t>(n / (N * K) * N * K + n % K * N + n / K % N)] = four < 8 ? size : -size;
  }
  return Tensor(numbers, {E, K, N}).to(DType::bf16);
}

// Of a width that blocks of 32 divide, as numbers in bf16.
class BlocksOfMxfp4 : public testing::Test {
 protected:
  static constexpr std::string_view kWords =
      R"({"model_type": "gpt_oss", "architectures": ["GptOssForCausalLM"], "vocab_size": 9, "hidden_size": 32,
          "intermediate_size": 64, "num_hidden_layers": 2, "num_attention_heads": 2, "num_key_value_heads": 1, "head_dim": 8, "max_position_embeddings": 16,
          "num_local_experts": 3, "num_experts_per_tok": 2)";
  static constexpr std::string_view kQuantised = R"(, "quantization_config": {"quant_method": "mxfp4"})";

  void SetUp() override {
    put_config("");
    tests::put_random_weights(folder_.path());
    const Safetensors file = Safetensors::read(folder_ / "model.safetensors");
    folder_.tensors.clear();
    for (const SafetensorsEntry& entry : file.entries()) {
      folder_.tensors[entry.name] = Tensor(file.load(entry.name).view());
    }
    for (const std::string layer : {"layers.0.", "layers.1."}) {
      put_experts(layer + "mlp.experts.gate_up_proj", 128, 1);
      put_experts(layer + "mlp.experts.down_proj", 32, 2);
    }
    numbers_ = std::make_unique<Model>(folder_.open());
    put_config(kQuantised);
    for (const auto& [name, value] : blocks_) {
      folder_.tensors[name] = value;
      folder_.tensors.erase(name.substr(0, name.rfind('_')));
    }
  }

  void put_config(std::string_view more) const {
    folder_.put("config.json", std::string(kWords) + std::string(more) + "}");
  }
  void put_experts(const std::string& name, std::int64_t N, std::int64_t groups) {
    const auto drawn = [&](const Shape& shape, std::int64_t least, std::int64_t most) {
      Tensor bytes(DType::u8, shape);
      for (std::uint8_t& byte : bytes.values<std::uint8_t>()) {
        byte = static_cast<std::uint8_t>(
            least + static_cast<std::int64_t>(generator_() % static_cast<std::uint64_t>(most - least + 1)));
      }
      return bytes;
    };
    const Tensor blocks = drawn({3, N, groups, 16}, 0, 255);
    const Tensor scales = drawn({3, N, groups}, 120, 124);
    folder_.tensors[name] = numbers_of(blocks, scales);
    blocks_[name + "_blocks"] = blocks;
    blocks_[name + "_scales"] = scales;
  }

  PublishedFolder folder_{"gpt_oss", R"(, "num_local_experts": 3, "num_experts_per_tok": 2)"};
  std::map<std::string, Tensor> blocks_;
  std::unique_ptr<Model> numbers_;
  std::mt19937_64 generator_{3};
};

TEST_F(BlocksOfMxfp4, AreTheNumbersThatTheyMean) {
  const Model model = folder_.open();
  expect_same_parameters(*numbers_, model);
  EXPECT_THAT(model.cautions(), IsEmpty());
  for (const Parameter& one : model.parameters()) {
    const bool is_map = one.name.find(".experts.") != std::string::npos && one.name.ends_with("weight");
    EXPECT_EQ(one.value.dtype(), is_map ? DType::bf16 : DType::f32) << one.name;
  }
}

TEST_F(BlocksOfMxfp4, StayAsTheyAreWhereAsked) {
  folder_.write();
  const Model model = Model::open(folder_.path(), QuantisedWeights::as_stored);
  const Parameters numbers = numbers_->parameters();
  const Parameters blocks = model.parameters();
  ASSERT_EQ(numbers.size(), blocks.size());
  for (std::size_t n = 0; n < blocks.size(); ++n) {
    const bool is_map = blocks[n].name.find(".experts.") != std::string::npos && blocks[n].name.ends_with("weight");
    const QuantisedTensor* found = blocks[n].value.quantised();
    ASSERT_EQ(found != nullptr, is_map) << blocks[n].name;
    if (!is_map) continue;
    EXPECT_EQ(found->dequantised().to_vector(), numbers[n].value.value().to_vector()) << blocks[n].name;
  }
  EXPECT_THAT(model.quantised_words(), HasSubstr("MXFP4"));
}

TEST_F(BlocksOfMxfp4, ThatDoNotFitAreNamed) {
  const std::string name = "layers.1.mlp.experts.down_proj";
  const auto error_with = [&](const std::string& end, const std::optional<Tensor>& other) {
    const Tensor before = folder_.tensors.at(name + end);
    folder_.tensors.erase(name + end);
    if (other) folder_.tensors.emplace(name + end, *other);
    const std::string error = folder_.error();
    folder_.tensors[name + end] = before;
    return error;
  };
  EXPECT_THAT(error_with("_scales", std::nullopt), HasSubstr(name + "_blocks: expected " + name + "_scales beside it"));
  EXPECT_THAT(error_with("_scales", Tensor(DType::f32, {3, 32, 2})), HasSubstr("_scales: expected U8, got F32"));
  EXPECT_THAT(error_with("_scales", Tensor(DType::u8, {3, 32, 1})),
              HasSubstr(name + "_scales: expected [3, 32, 2], got [3, 32, 1]"));
  EXPECT_THAT(error_with("_blocks", Tensor(DType::u8, {3, 32, 32})),
              HasSubstr(name + "_blocks: expected [E, N, K / 32, 16], got [3, 32, 32]"));
  Tensor endless = Tensor(DType::u8, {3, 32, 2});
  endless.values<std::uint8_t>()[7] = 255;
  EXPECT_THAT(error_with("_scales", endless), HasSubstr("_scales: expected scales up to 254, got 255"));
  EXPECT_THAT(folder_.open().cautions(), IsEmpty());
}

TEST_F(BlocksOfMxfp4, AreOfGptOssAlone) {
  put_config(R"(, "quantization_config": {"quant_method": "fp8"})");
  EXPECT_THAT(folder_.error(), HasSubstr("its weights are quantised"));
  const PublishedFolder other("mixtral", std::string(R"(, "num_local_experts": 3)") + std::string(kQuantised));
  EXPECT_THAT(other.error(), AllOf(HasSubstr("quantization_config: expected none"), HasSubstr("mxfp4")));
}

TEST(PublishedWeights, BehindTheLastLayerAreLeftOut) {
  const std::string routed = R"(, "n_routed_experts": 4, "num_experts_per_tok": 2, "n_group": 1, "topk_group": 1,
      "moe_intermediate_size": 6, "first_k_dense_replace": 1)";
  const std::string latent = R"(, "kv_lora_rank": 6, "q_lora_rank": 5, "qk_nope_head_dim": 4, "qk_rope_head_dim": 2,
      "v_head_dim": 3)";
  for (const std::string type : {"deepseek_v3", "glm4_moe"}) {
    PublishedFolder folder(type,
                           (type == "glm4_moe" ? routed : routed + latent) + R"(, "num_nextn_predict_layers": 2)");
    const Model plain = folder.open();
    for (const char* layer : {"layers.2.", "layers.3."}) {
      folder.tensors[std::string(layer) + "enorm.weight"] = folder.drawn({8});
    }
    expect_same_parameters(plain, folder.open());
    folder.tensors["layers.4.enorm.weight"] = folder.drawn({8});
    EXPECT_THAT(folder.error(), HasSubstr("layers.4.enorm.weight: a tensor that the model has no use for"));
  }
}

TEST(PublishedWeights, AreFoundBehindAnyPrefix) {
  PublishedFolder folder("llama");
  const Model plain = folder.open();
  folder.rename([](const std::string& name) { return name == "lm_head.weight" ? name : "model." + name; });
  expect_same_parameters(plain, folder.open());
  folder.rename([](const std::string& name) { return "model." + name; });
  expect_same_parameters(plain, folder.open());
}

TEST(PublishedWeights, LoseTheHeadOfAnotherTaskWithACaution) {
  for (const std::string type : {"bert", "roberta", "distilbert", "gpt2"}) {
    PublishedFolder folder(type, type == "gpt2" ? "" : R"(, "architectures": ["ForSequenceClassification"])");
    if (type == "gpt2") folder.rename([](const std::string& name) { return "transformer." + name; });
    const Model plain = folder.open();
    const std::string prefix = type == "gpt2" ? "" : type + ".";
    folder.rename([&](const std::string& name) { return prefix + name; });
    folder.tensors.emplace("classifier.weight", folder.drawn({2, 8}));
    folder.tensors.emplace("classifier.bias", folder.drawn({2}));
    const Model classifier = folder.open();
    expect_same_parameters(plain, classifier);
    EXPECT_THAT(classifier.cautions(),
                ElementsAre(HasSubstr("classifier.bias, classifier.weight: left out, a head that is not computed")));
  }
}

TEST(PublishedWeights, OfTheBodyMustAllBeKnown) {
  PublishedFolder folder("bert");
  folder.rename([](const std::string& name) { return name.starts_with("cls.") ? name : "bert." + name; });
  folder.tensors.emplace("bert.encoder.adapter.weight", folder.drawn({2, 8}));
  EXPECT_THAT(folder.error(), HasSubstr("bert.encoder.adapter.weight: a tensor that the model has no use for"));
  folder.tensors.erase("bert.encoder.adapter.weight");
  folder.tensors.emplace("lm_head.bias", folder.drawn({9}));
  EXPECT_THAT(folder.open().cautions(), ElementsAre(HasSubstr("lm_head.bias: left out")));
  PublishedFolder llama("llama");
  llama.tensors.emplace("lm_head.bias", llama.drawn({9}));
  EXPECT_THAT(llama.error(), HasSubstr("lm_head.bias: a tensor that the model has no use for"));
}

TEST(PublishedWeights, AreUntiedWhereTheHeadIsNotTheTable) {
  for (const std::string type : {"llama", "mistral", "qwen2", "qwen3", "gemma", "gemma2", "gemma3_text", "gpt2"}) {
    PublishedFolder folder(type, R"(, "tie_word_embeddings": true)");
    const std::string table = type == "gpt2" ? "wte.weight" : "embed_tokens.weight";
    ASSERT_TRUE(folder.tensors.contains(table)) << type;
    EXPECT_THAT(folder.open().cautions(), IsEmpty());
    folder.tensors["lm_head.weight"] = folder.tensors.at(table);
    const Model equal = folder.open();
    EXPECT_THAT(equal.cautions(), IsEmpty());
    EXPECT_EQ(equal.config().at("tied"), "yes");
    folder.tensors["lm_head.weight"] = folder.drawn({9, 8});
    const Model own = folder.open();
    EXPECT_EQ(own.config().at("tied"), "no");
    EXPECT_EQ(parameter(own, "output.weight"), folder.tensors.at("lm_head.weight").to_vector());
    EXPECT_THAT(own.cautions(), ElementsAre(HasSubstr("lm_head.weight is not " + table))) << type;
    folder.tensors.erase(table);
    EXPECT_EQ(parameter(folder.open(), "embedding.weight"), folder.tensors.at("lm_head.weight").to_vector());
  }
}

TEST(PublishedWeights, OfAnEncoderReadTheHeadThatIsThere) {
  const std::map<std::string, std::pair<std::string, std::string>> heads = {
      {"bert", {"cls.predictions.decoder", "cls.predictions"}},
      {"roberta", {"lm_head.decoder", "lm_head"}},
      {"distilbert", {"vocab_projector", "vocab_projector"}}};
  for (const auto& [type, names] : heads) {
    PublishedFolder folder(type);
    const auto& [map, bias] = names;
    ASSERT_TRUE(folder.tensors.contains(bias + ".bias")) << type;
    folder.tensors[map + ".weight"] = folder.tensors.at("embeddings.word_embeddings.weight");
    EXPECT_THAT(folder.open().cautions(), IsEmpty());
    folder.tensors[map + ".weight"] = folder.drawn({9, 8});
    const Model own = folder.open();
    EXPECT_EQ(parameter(own, "output.weight"), folder.tensors.at(map + ".weight").to_vector());
    EXPECT_THAT(own.cautions(), ElementsAre(HasSubstr(map + ".weight is not embeddings.word_embeddings.weight")));
    if (map == bias) continue;
    folder.tensors[map + ".bias"] = folder.drawn({9}, 6);
    const Model other = folder.open();
    EXPECT_EQ(parameter(other, "head.bias"), folder.tensors.at(map + ".bias").to_vector());
    EXPECT_EQ(other.cautions().size(), 2);
  }
}

// As all-mpnet-base-v2 is published: saved of the body, under the config of a model with a head.
TEST(PublishedWeights, OfABodyAloneAreStatesWhateverItsConfigSays) {
  PublishedFolder folder("bert");
  std::erase_if(folder.tensors, [](const auto& tensor) { return tensor.first.starts_with("cls."); });
  const Model states = folder.open();
  EXPECT_FALSE(states.scores_tokens());
  EXPECT_THAT(states.cautions(), ElementsAre(HasSubstr("no head for masked tokens, though architectures name one")));
  folder.rename([](const std::string& name) { return "bert." + name; });
  EXPECT_THAT(folder.error(), HasSubstr("cls.predictions.transform.dense.weight: expected [8, 8], got no such tensor"));
}

TEST(PublishedWeights, OfADecoderMayBeStatesAlone) {
  PublishedFolder folder("llama", R"(, "architectures": ["LlamaModel"])");
  EXPECT_FALSE(folder.tensors.contains("lm_head.weight"));
  const Model states = folder.open();
  EXPECT_FALSE(states.scores_tokens());
  EXPECT_EQ(states.parameter_count(), parameter_count(states.parameters()));
  EXPECT_THAT(error_message([&] { static_cast<void>(states.forward({.ids = ids()})); }),
              HasSubstr("Decoder: scores: expected a model that scores tokens, got one of states alone"));
  EXPECT_THAT(error_message([&] { static_cast<void>(states.generate({.ids = ids()}, {.most = 1})); }),
              HasSubstr("scores: expected a model that scores tokens"));
  const std::vector<double> alone = states.states({.ids = ids()}).value().to_vector();
  const std::string file = folder / "own.safetensors";
  states.save(file);
  EXPECT_EQ(Model::open(file).states({.ids = ids()}).value().to_vector(), alone);
  folder.tensors["lm_head.weight"] = folder.drawn({9, 8});
  const Model whole = folder.open();
  EXPECT_TRUE(whole.scores_tokens());
  Trace trace({"ln_final"});
  whole.run({.ids = ids()}, trace);
  EXPECT_EQ(trace["ln_final"].to_vector(), alone);
  EXPECT_EQ(states.weights({.ids = ids()}, AttentionSite::tokens).size(), 2);
}

TEST(PublishedWeights, OfACausalModelMustHaveItsHead) {
  PublishedFolder folder("llama");
  folder.tensors.erase("lm_head.weight");
  EXPECT_THAT(folder.error(), HasSubstr("lm_head.weight: expected [9, 8], got no such tensor"));
}

TEST(PublishedWeights, OfBertMayBeCausal) {
  PublishedFolder folder("bert", R"(, "architectures": ["BertLMHeadModel"], "is_decoder": true)");
  const Model model = folder.open();
  const Tensor weights = model.weights({.ids = ids()}, AttentionSite::tokens).front();
  EXPECT_EQ(weights.at({0, 0, 0, 1}), 0);
  EXPECT_GT(weights.at({0, 0, 1, 0}), 0);
  EXPECT_TRUE(model.scores_tokens());
}

TEST(PublishedWeights, OfT5HaveTablesAndHeadsOfTheirOwn) {
  PublishedFolder folder("t5");
  EXPECT_THAT(folder.open().cautions(), IsEmpty());
  folder.tensors["lm_head.weight"] = folder.drawn({9, 8});
  const Model own = folder.open();
  EXPECT_EQ(parameter(own, "decoder.output.weight"), folder.tensors.at("lm_head.weight").to_vector());
  EXPECT_TRUE(own.config().contains("output_scale"));  // as the config says
  EXPECT_THAT(own.cautions(), ElementsAre(HasSubstr("lm_head.weight is not shared.weight")));
  folder.tensors["encoder.embed_tokens.weight"] = folder.tensors.at("shared.weight");
  EXPECT_EQ(folder.open().config().at("shared"), "yes");
  folder.tensors["encoder.embed_tokens.weight"] = folder.drawn({9, 8}, 7);
  folder.tensors.erase("lm_head.weight");
  const Model two = folder.open();
  EXPECT_EQ(parameter(two, "encoder.embedding.weight"), folder.tensors.at("encoder.embed_tokens.weight").to_vector());
  EXPECT_EQ(parameter(two, "decoder.embedding.weight"), folder.tensors.at("shared.weight").to_vector());
  EXPECT_EQ(parameter(two, "decoder.output.weight"), folder.tensors.at("shared.weight").to_vector());
}

TEST(PublishedWeights, OfT5MayBeTheEncoderAlone) {
  PublishedFolder whole("t5");
  PublishedFolder folder("t5", R"(, "architectures": ["T5EncoderModel"], "is_encoder_decoder": false)");
  for (auto& [name, value] : folder.tensors) value = whole.tensors.at(name);
  const Model alone = folder.open();
  EXPECT_EQ(alone.kind(), kind_of<Encoder>);
  EXPECT_THAT(alone.cautions(), IsEmpty());
  const Model both = whole.open();
  const Variable wanted = std::get<EncoderDecoder>(both.network()).encoder().hidden({.ids = ids()});
  EXPECT_EQ(alone.states({.ids = ids()}).value().to_vector(), wanted.value().to_vector());
  folder.tensors = whole.tensors;
  EXPECT_THAT(folder.open().cautions(), ElementsAre(HasSubstr("decoder.*: left out")));
}

TEST(PublishedWeights, OfRelativesAreThoseOfTheFamily) {
  const Model roberta = PublishedFolder("roberta").open();
  expect_same_parameters(roberta, PublishedFolder("xlm-roberta").open());
  expect_same_parameters(roberta, PublishedFolder("camembert").open());
  const Model mt5 = PublishedFolder("mt5").open();
  EXPECT_EQ(mt5.config().at("feed_forward"), "gated");
  EXPECT_FALSE(mt5.config().contains("output_scale"));
}

TEST(PublishedWeights, StandInOneShardEach) {
  PublishedFolder folder("gpt2");
  const std::map<std::string, Tensor> all = folder.tensors;
  const Model plain = folder.open();
  std::string index;
  for (const auto& [name, value] : all) {
    if (name != "wte.weight") index += (index.empty() ? "\"" : ", \"") + name + "\": \"b.safetensors\"";
  }
  const std::string listed = R"({"weight_map": {"wte.weight": "a.safetensors", )" + index;
  const auto error = [&] { return error_message<Error>([&] { static_cast<void>(Model::open(folder.path())); }); };
  std::filesystem::remove(folder / "model.safetensors");
  folder.put("model.safetensors.index.json", listed + "}}");
  folder.tensors = {{"wte.weight", all.at("wte.weight")}};
  folder.write("a.safetensors");
  folder.tensors = all;
  folder.write("b.safetensors");
  const Model twice = Model::open(folder.path());
  expect_same_parameters(plain, twice);
  EXPECT_THAT(twice.cautions(), ElementsAre("wte.weight: the same in two shards"));
  folder.tensors["wte.weight"] = folder.drawn({9, 8});
  folder.write("b.safetensors");
  EXPECT_THAT(error(), HasSubstr("wte.weight: expected it in one shard, got it with other values in"));
  folder.tensors.erase("wte.weight");
  folder.write("b.safetensors");
  EXPECT_THAT(Model::open(folder.path()).cautions(), IsEmpty());
  folder.put("model.safetensors.index.json", listed + R"(, "wte.weight": "a.safetensors"}})");
  EXPECT_THAT(error(), HasSubstr("index.json: wte.weight: expected it once, got it twice"));
  folder.put("model.safetensors.index.json", replaced(listed, R"("h.0.ln_1.bias": "b.safetensors", )", "") + "}}");
  EXPECT_THAT(Model::open(folder.path()).cautions(),
              ElementsAre(HasSubstr("h.0.ln_1.bias: in a shard, and not in model.safetensors.index.json")));
  folder.tensors = all;
  EXPECT_THAT(folder.open().cautions(), ElementsAre(HasSubstr("not read, beside model.safetensors")));
}

TEST(PublishedWeights, AreReadInF64) {
  PublishedFolder folder("llama");
  const Model plain = folder.open();
  for (auto& [name, value] : folder.tensors) value = value.to(DType::f64);
  const Model wide = folder.open();
  EXPECT_THAT(wide.cautions(), IsEmpty());
  expect_same_parameters(plain, wide);
  EXPECT_EQ(wide.dtype(), DType::f64);
}

TEST(PublishedWeights, SayWhyAHeadIsMissed) {
  PublishedFolder folder("llama");
  folder.tensors.erase("lm_head.weight");
  EXPECT_THAT(folder.error(), AllOf(HasSubstr("lm_head.weight: expected [9, 8], got no such tensor"),
                                    HasSubstr("(config.json has no tie_word_embeddings: the head is one of its own")));
}

}  // namespace
}  // namespace qkv::published_weights_test
