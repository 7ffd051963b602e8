// Weights as they are published: older names, heads of other tasks, heads that a config calls tied, states alone.
#include <gmock/gmock.h>

#include <string>

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

TEST(PublishedWeights, InBlocksOfMxfp4AreRefused) {
  const std::string words = R"(, "num_local_experts": 3, "num_experts_per_tok": 2)";
  EXPECT_THAT(PublishedFolder("gpt_oss", words).open().cautions(), IsEmpty());
  const PublishedFolder blocks("gpt_oss", words + R"(, "quantization_config": {"quant_method": "mxfp4"})");
  EXPECT_THAT(blocks.error(), AllOf(HasSubstr("quantization_config: expected none"), HasSubstr("mxfp4")));
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
  EXPECT_EQ(alone.kind(), ModelKind::encoder);
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
