// What the files of a sentence transformer say, in its words of before and of now.
#include <gmock/gmock.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "core/error_message.h"
#include "files/temporary_directory.h"
#include "model/random_weights.h"
#include "qkv/files.h"
#include "qkv/model/embed.h"
#include "qkv/safetensors.h"

namespace qkv::sentence_files_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr const char* kModules =
    R"([{"idx": 0, "name": "0", "path": "", "type": "sentence_transformers.models.Transformer"},
  {"idx": 1, "name": "1", "path": "1_Pooling", "type": "sentence_transformers.models.Pooling"}])";

// A folder of Transformer and Pooling, whose files are written over.
class SentenceFiles : public testing::Test {
 protected:
  SentenceFiles() {
    write("modules.json", kModules);
    write("1_Pooling/config.json", R"({"word_embedding_dimension": 4, "pooling_mode_mean_tokens": true})");
  }

  void write(const std::string& name, const std::string& text) const {
    std::filesystem::create_directories(std::filesystem::path(directory_ / name).parent_path());
    write_file(directory_ / name, text);
  }
  // Modules behind the first two, as "Dense" in the folder "2_Dense".
  void write_modules(const std::vector<std::string>& behind) const {
    std::string all = kModules;
    all.pop_back();
    int number = 2;
    for (const std::string& kind : behind) {
      all += R"(, {"path": ")" + std::to_string(number++) + "_" + kind +
             R"(", "type": "sentence_transformers.models.)" + kind + "\"}";
    }
    write("modules.json", all + "]");
  }
  [[nodiscard]] EmbedOptions options() const { return embed_options_of(directory_ / ""); }
  [[nodiscard]] std::vector<Pooling> pooling(const std::string& config) const {
    write("1_Pooling/config.json", config);
    return options().pooling;
  }
  [[nodiscard]] std::string message() const {
    return error_message<Error>([&] { static_cast<void>(options()); });
  }
  [[nodiscard]] std::string message(const std::string& name, const std::string& text) const {
    write(name, text);
    return message();
  }

  tests::TemporaryDirectory directory_;
};

TEST_F(SentenceFiles, HaveThePoolingOfAWordAListOrFlags) {
  EXPECT_THAT(pooling(R"({"embedding_dimension": 4, "pooling_mode": "cls", "include_prompt": true})"),
              ElementsAre(Pooling::first));
  EXPECT_THAT(pooling(R"({"pooling_mode": "max"})"), ElementsAre(Pooling::max));
  EXPECT_THAT(pooling(R"({"pooling_mode": ["lasttoken"]})"), ElementsAre(Pooling::last));
  EXPECT_THAT(pooling(R"({"pooling_mode": ["weightedmean", "mean_sqrt_len_tokens", "mean"]})"),
              ElementsAre(Pooling::weightedmean, Pooling::mean_sqrt_len_tokens, Pooling::mean));
  EXPECT_THAT(pooling(R"({"pooling_mode": "max", "pooling_mode_cls_token": true})"), ElementsAre(Pooling::max));
  // Several flags stand in sentence-transformers' order, not in that of the file.
  EXPECT_THAT(
      pooling(R"({"pooling_mode_weightedmean_tokens": true, "pooling_mode_mean_sqrt_len_tokens": true,
    "pooling_mode_lasttoken": true, "pooling_mode_max_tokens": true, "pooling_mode_cls_token": true})"),
      ElementsAre(Pooling::first, Pooling::max, Pooling::mean_sqrt_len_tokens, Pooling::weightedmean, Pooling::last));
  EXPECT_THAT(pooling("{}"), ElementsAre(Pooling::mean));
  EXPECT_THAT(options().cautions, IsEmpty());
}

TEST_F(SentenceFiles, NameAPoolingThatIsNotKnown) {
  const std::string file = "1_Pooling/config.json";
  EXPECT_THAT(
      message(file, R"({"pooling_mode": "median"})"),
      HasSubstr("config.json: pooling_mode: expected one of cls, max, mean, mean_sqrt_len_tokens, weightedmean, "
                "lasttoken, or a list of them, got \"median\""));
  EXPECT_THAT(message(file, R"({"pooling_mode": []})"), HasSubstr("pooling_mode: expected one of cls"));
  EXPECT_THAT(message(file, R"({"pooling_mode": null})"), HasSubstr("got null"));
  EXPECT_THAT(message(file, R"({"pooling_mode_median": true})"), HasSubstr("pooling_mode_median: expected false"));
  EXPECT_THAT(message(file, R"({"include_prompt": 1})"), HasSubstr("include_prompt: expected true or false"));
  write(file, R"({"pooling_mode": "cls", "colour": "red"})");
  EXPECT_THAT(options().cautions, ElementsAre(HasSubstr("config.json: colour is not known to qkv: it is left out")));
}

TEST_F(SentenceFiles, HaveTheLongestText) {
  const std::string own = "sentence_bert_config.json";
  const std::string tokenizer = "tokenizer_config.json";
  EXPECT_EQ(options().length, std::nullopt);
  write(tokenizer, R"({"model_max_length": 1000000000000000019884624838656})");
  EXPECT_EQ(options().length, std::nullopt);
  write("config.json", R"({"model_type": "bert", "max_position_embeddings": 64})");
  EXPECT_EQ(options().length, 64);
  write(tokenizer, R"({"model_max_length": 10, "truncation_side": "left"})");
  EXPECT_EQ(options().length, 10);
  EXPECT_EQ(options().cut_at, CutAt::beginning);
  write(own, R"({"max_seq_length": null, "do_lower_case": false})");
  EXPECT_EQ(options().length, 10);
  write(own, R"({"max_seq_length": 12})");
  EXPECT_EQ(options().length, 12);
  write(own, R"({"max_seq_length": 12, "tokenizer_args": {"model_max_length": 9, "truncation_side": "right"}})");
  EXPECT_EQ(options().length, 9);
  EXPECT_EQ(options().cut_at, CutAt::end);
  write(own, R"({"max_seq_length": 12, "processing_kwargs": {"text": {"max_length": 7}}})");
  EXPECT_EQ(options().length, 7);
  // `common` goes before `text`, and cuts no more where `truncation` is off.
  const auto length = [&](const std::string& kinds) {
    write(own, R"({"max_seq_length": 12, "processing_kwargs": {)" + kinds + "}}");
    return options().length;
  };
  EXPECT_EQ(length(R"("common": {"max_length": 6}, "text": {"max_length": 7})"), 6);
  EXPECT_EQ(length(R"("common": {"max_length": null}, "text": {"max_length": 7})"), 12);
  EXPECT_EQ(length(R"("common": {"truncation": false})"), std::nullopt);
  EXPECT_EQ(length(R"("text": {"truncation": null, "max_length": 7})"), std::nullopt);
  EXPECT_EQ(length(R"("text": {"truncation": "do_not_truncate"})"), std::nullopt);
  EXPECT_EQ(length(R"("common": {"truncation": true}, "text": {"truncation": false})"), 12);
  EXPECT_EQ(length(R"("text": {"truncation": "longest_first"})"), 12);
  EXPECT_THAT(message(own, R"({"processing_kwargs": {"text": {"truncation": "only_second"}}})"),
              HasSubstr("processing_kwargs: text: truncation: expected true, false, null, longest_first, only_first or "
                        "do_not_truncate, got \"only_second\""));
  write(own, R"({"max_seq_length": 500})");
  EXPECT_EQ(options().length, 64);
  // The first two positions of RoBERTa stand for no token.
  write("config.json", R"({"model_type": "roberta", "max_position_embeddings": 64, "pad_token_id": 1})");
  EXPECT_EQ(options().length, 62);
  EXPECT_THAT(message(own, R"({"max_seq_length": 0})"),
              HasSubstr("sentence_bert_config.json: max_seq_length: expected 1 or more, got 0"));
  EXPECT_THAT(message(own, R"({"processor_kwargs": {"truncation_side": "top"}})"),
              HasSubstr("truncation_side: expected right or left, got \"top\""));
}

TEST_F(SentenceFiles, CutWhereTokenizerJsonSays) {
  write("tokenizer.json", R"({"version": "1.0", "truncation": {"direction": "Left", "max_length": 9, "stride": 0}})");
  EXPECT_EQ(options().cut_at, CutAt::beginning);
  EXPECT_EQ(options().length, std::nullopt);
  write("tokenizer.json", R"({"version": "1.0", "truncation": null, "model": {"direction": "Left"}})");
  EXPECT_EQ(options().cut_at, CutAt::end);
}

TEST_F(SentenceFiles, HavePromptsAndWidth) {
  const std::string file = "config_sentence_transformers.json";
  write(file, R"({"__version__": {"sentence_transformers": "6.2.0"}, "model_type": "SentenceTransformer",
    "prompts": {"query": "query: ", "passage": null}, "default_prompt_name": "query", "similarity_fn_name": "dot",
    "truncate_dim": 3})");
  const EmbedOptions said = options();
  EXPECT_EQ(said.prompt, "query: ");
  EXPECT_EQ(said.width, 3);
  EXPECT_EQ(said.similarity, "dot");
  EXPECT_TRUE(said.pools_prompt);
  EXPECT_THAT(said.cautions, IsEmpty());
  EXPECT_EQ(prompt_named(said, "passage"), "");
  EXPECT_EQ(error_message([&] { static_cast<void>(prompt_named(said, "title")); }),
            "embed_texts: prompt_name: expected one of document, passage, query, got \"title\"");
  write("1_Pooling/config.json", R"({"pooling_mode": "mean", "include_prompt": false})");
  EXPECT_FALSE(options().pools_prompt);
  EXPECT_THAT(message(file, R"({"prompts": {"a": "b"}, "default_prompt_name": "c"})"),
              HasSubstr("default_prompt_name: expected a name of prompts, got \"c\""));
  EXPECT_THAT(message(file, R"({"model_type": "SparseEncoder"})"),
              HasSubstr("model_type: expected \"SentenceTransformer\""));
  EXPECT_THAT(message(file, R"({"truncate_dim": -1})"), HasSubstr("truncate_dim: expected 1 or more"));
  EXPECT_THAT(message(file, R"({"prompts": {"a": 1}})"), HasSubstr("prompts: a: expected a text"));
}

TEST_F(SentenceFiles, RefuseWhatTheStatesAreAskedForOtherwise) {
  const std::string own = "sentence_bert_config.json";
  write(own, R"({"transformer_task": "feature-extraction", "modality_config": {"text": {"method": "forward",
    "method_output_name": "last_hidden_state"}}, "module_output_name": "token_embeddings", "unpad_inputs": null})");
  EXPECT_THAT(options().cautions, IsEmpty());
  EXPECT_THAT(message(own, R"({"transformer_task": "fill-mask"})"),
              HasSubstr("transformer_task: expected \"feature-extraction\""));
  EXPECT_THAT(message(own, R"({"modality_config": {"text": {"method": "get_text_features"}}})"),
              HasSubstr("modality_config: text: method: expected \"forward\""));
  EXPECT_THAT(message(own, R"({"modality_config": {"text": {"method_output_name": "pooler_output"}}})"),
              HasSubstr("method_output_name: expected \"last_hidden_state\", got \"pooler_output\""));
  EXPECT_THAT(message(own, R"({"module_output_name": "sentence_embedding"})"),
              HasSubstr("module_output_name: expected"));
  write(own, R"({"model_args": {"torch_dtype": "float16", "colour": 1}, "config_args": {"is_decoder": true}})");
  EXPECT_THAT(options().cautions, ElementsAre(HasSubstr("model_args: colour is not known"),
                                              HasSubstr("config_args: is_decoder is not known")));
}

TEST_F(SentenceFiles, NameAChatTemplate) {
  write("tokenizer_config.json", R"({"chat_template": "{{ messages }}"})");
  EXPECT_THAT(options().cautions, ElementsAre(HasSubstr("chat template")));
  write("sentence_bert_config.json", R"({"modality_config": {"text": {"method": "forward"}}})");
  EXPECT_THAT(options().cautions, IsEmpty());
}

TEST_F(SentenceFiles, RefuseModulesByName) {
  write_modules({"CNN"});
  EXPECT_THAT(message(), HasSubstr("modules.json: type: expected Transformer, Pooling, Dense, LayerNorm, Dropout or "
                                   "Normalize of sentence_transformers, got \"sentence_transformers.models.CNN\""));
  EXPECT_THAT(message("modules.json", R"([{"type": "custom_st.Transformer"}])"),
              HasSubstr("got \"custom_st.Transformer\""));
  EXPECT_THAT(message("modules.json", R"([{"type": "sentence_transformers.models.StaticEmbedding"}])"),
              HasSubstr("type: expected a module Transformer"));
  EXPECT_THAT(message("modules.json", R"([{"type": "sentence_transformers.models.Transformer"}])"),
              HasSubstr("modules.json: expected a module Pooling, got none"));
  EXPECT_THAT(message("modules.json", "{}"), HasSubstr("expected a list of JSON"));
  for (const char* path : {"../1_Pooling", "/1_Pooling", "a/../../b", "..\\\\b", "C:\\\\b"}) {
    const std::string json =
        std::string(R"([{"type": "sentence_transformers.models.Transformer", "path": ")") + path + "\"}]";
    EXPECT_THAT(message("modules.json", json), HasSubstr("path: expected a path below the folder")) << path;
  }
}

// Dense, LayerNorm and Normalize behind each other, held against the arithmetic.
TEST_F(SentenceFiles, ComputeTheModulesBehindThePooling) {
  write_modules({"Dense", "Dropout", "LayerNorm", "Normalize"});
  write("2_Dense/config.json", R"({"in_features": 2, "out_features": 2, "bias": true,
    "activation_function": "torch.nn.modules.activation.Tanh"})");
  const Tensor weight(Tensor(std::vector<double>{1, 2, 0, -1}, {2, 2}), DType::f32);
  const Tensor bias(Tensor(std::vector<double>{0.5, 0}, {2}), DType::f32);
  const auto bytes = [](std::initializer_list<NamedView> tensors) {
    return encode_safetensors(std::vector<NamedView>(tensors), {});
  };
  write_file(directory_ / "2_Dense/model.safetensors", bytes({{"linear.bias", bias}, {"linear.weight", weight}}));
  write("4_LayerNorm/config.json", R"({"dimension": 2})");
  write_file(directory_ / "4_LayerNorm/model.safetensors", bytes({{"norm.bias", bias}, {"norm.weight", bias}}));
  const Tensor states(std::vector<double>{0.1, 0.3}, {1, 2});
  const double x = std::tanh(0.1 + 0.6 + 0.5);
  const double y = std::tanh(-0.3);
  const double half = (x - y) / 2;
  const double normed = half / std::sqrt(half * half + 1e-5) * 0.5 + 0.5;
  EXPECT_THAT(vector_of_states(states, options()),
              ElementsAre(testing::DoubleNear(normed / std::abs(normed), 1e-7), 0));
  EXPECT_THAT(error_message<Error>([&] {
                const Tensor wide(std::vector<double>{1, 2, 3}, {1, 3});
                static_cast<void>(vector_of_states(wide, options()));
              }),
              HasSubstr("2_Dense: expected vectors of 2 numbers, as its config.json says, got 3"));
}

TEST_F(SentenceFiles, NameWhatIsWrongWithADense) {
  write_modules({"Dense"});
  const auto said = [&](const std::string& more) {
    return message("2_Dense/config.json", R"({"in_features": 2, "out_features": 2)" + more + "}");
  };
  EXPECT_THAT(said(""), HasSubstr("2_Dense/model.safetensors: expected the weights of the module, got no such file"));
  const Tensor weight(DType::f32, {2, 3});
  write_file(directory_ / "2_Dense/model.safetensors",
             encode_safetensors(std::vector<NamedView>{{"linear.weight", weight}}, {}));
  EXPECT_THAT(said(""), HasSubstr("linear.weight: expected [2, 2], got [2, 3]"));
  EXPECT_THAT(said(R"(, "module_input_name": "token_embeddings")"),
              HasSubstr("module_input_name: expected \"sentence_embedding\""));
  const Tensor square(DType::f32, {2, 2});
  write_file(directory_ / "2_Dense/model.safetensors",
             encode_safetensors(std::vector<NamedView>{{"linear.weight", square}}, {}));
  EXPECT_THAT(said(R"(, "bias": true)"), HasSubstr("linear.bias: expected [2], got no such tensor"));
  EXPECT_THAT(said(R"(, "bias": false, "activation_function": "torch.nn.modules.activation.Mish")"),
              HasSubstr("activation_function: expected one of torch's Identity, Tanh, GELU"));
  write("2_Dense/config.json", R"({"in_features": 2, "out_features": 2, "bias": false, "activation_function": "a.B"})");
  EXPECT_THAT(options().cautions, ElementsAre(HasSubstr("activation_function a.B is not of torch: tanh is taken")));
}

TEST_F(SentenceFiles, OpenTheModelOfASubfolder) {
  write("modules.json", R"([{"path": "0_BERT", "type": "sentence_transformers.models.Transformer"},
    {"path": "1_Pooling", "type": "sentence_transformers.models.Pooling"}])");
  write("config.json", R"({"__version__": "0.2.0"})");
  write("0_BERT/config.json", R"({"model_type": "bert", "vocab_size": 6, "hidden_size": 4, "intermediate_size": 6,
    "num_hidden_layers": 1, "num_attention_heads": 2, "max_position_embeddings": 8})");
  write("0_BERT/vocab.txt", "[PAD]\n[UNK]\n[CLS]\n[SEP]\nthe\ncat\n");
  write("0_BERT/sentence_bert_config.json", R"({"max_seq_length": 5, "do_lower_case": true})");
  tests::put_random_weights(directory_ / "0_BERT");
  const Model model = Model::open(directory_ / "");
  EXPECT_EQ(options().length, 5);
  const std::vector<std::string> texts = {"The CAT", "the cat"};
  const Tensor vectors = embed_texts(model, texts, options());
  EXPECT_EQ(vectors.view().select(0, 0).to_vector(), vectors.view().select(0, 1).to_vector());
}

// A saved folder: its files, with weights for each Dense and LayerNorm.
class SavedFolder {
 public:
  explicit SavedFolder(const nlohmann::json& files) {
    for (const auto& [name, json] : files.items()) {
      const std::filesystem::path path(directory_ / (name + ".json"));
      std::filesystem::create_directories(path.parent_path());
      write_file(path.string(), json.dump());
      if (json.contains("in_features")) write_weights(path, dense(json));
      if (json.contains("dimension")) {
        const Tensor row(DType::f32, {json["dimension"].get<std::int64_t>()});
        write_weights(path, {{"norm.weight", row}, {"norm.bias", row}});
      }
    }
  }
  [[nodiscard]] std::string path() const { return directory_ / ""; }

 private:
  using Tensors = std::map<std::string, Tensor>;
  static Tensors dense(const nlohmann::json& json) {
    const auto in = json["in_features"].get<std::int64_t>();
    const auto out = json["out_features"].get<std::int64_t>();
    Tensors all = {{"linear.weight", Tensor(DType::f32, {out, in})}};
    if (json["bias"]) all.emplace("linear.bias", Tensor(DType::f32, {out}));
    return all;
  }
  static void write_weights(const std::filesystem::path& config, const Tensors& tensors) {
    std::vector<NamedView> views;
    for (const auto& [name, tensor] : tensors) views.push_back({name, tensor});
    write_file((config.parent_path() / "model.safetensors").string(), encode_safetensors(views));
  }

  tests::TemporaryDirectory directory_;
};

void expect_options(const EmbedOptions& options, const nlohmann::json& expected) {
  std::vector<std::string> pooling;
  for (const Pooling one : options.pooling) pooling.emplace_back(name_of(one));
  EXPECT_EQ(nlohmann::json(pooling), expected.at("pooling"));
  std::vector<std::string> steps;
  for (const VectorStep& step : options.steps) steps.push_back(step.module);
  EXPECT_EQ(nlohmann::json(steps), expected.at("steps"));
  EXPECT_EQ(options.length, expected.at("length").get<std::int64_t>());
  EXPECT_EQ(options.prompt, expected.value("prompt", ""));
  EXPECT_EQ(options.width.value_or(0), expected.value("width", 0));
  EXPECT_THAT(options.cautions, IsEmpty());
}

// Every field of published folders, and of those that sentence-transformers 6.2 saves, is known.
TEST(SavedSentenceTransformers, AreReadOrRefusedByName) {
  std::ifstream file(QKV_SOURCE_DIR "/tests/model/fixtures/sentence_transformers.json");
  const nlohmann::json all = nlohmann::json::parse(file);
  EXPECT_GE(all.size(), 30U);
  for (const nlohmann::json& one : all) {
    SCOPED_TRACE(one.at("name").get<std::string>());
    const SavedFolder folder(one.at("files"));
    const nlohmann::json& expected = one.at("expected");
    if (expected.contains("refused")) {
      EXPECT_THAT(error_message<Error>([&] { static_cast<void>(embed_options_of(folder.path())); }),
                  HasSubstr(expected["refused"].get<std::string>()));
    } else {
      expect_options(embed_options_of(folder.path()), expected);
    }
  }
}

// As sentence-transformers: its own files count where modules.json names them, and a text of what goes on is its last
// token.
TEST_F(SentenceFiles, CountBesideModulesAlone) {
  std::filesystem::remove(directory_ / "modules.json");
  write("sentence_bert_config.json", R"({"max_seq_length": 5, "do_lower_case": true})");
  EXPECT_EQ(options().length, std::nullopt);
  EXPECT_THAT(options().cautions, ElementsAre(HasSubstr("sentence_bert_config.json: not read, since there is no "
                                                        "modules.json")));
  const auto pooling_of = [&](const std::string& config) {
    write("config.json", "{" + config + "}");
    return options().pooling;
  };
  EXPECT_THAT(pooling_of(""), ElementsAre(Pooling::mean));
  EXPECT_THAT(pooling_of(R"("architectures": ["LlamaForCausalLM"])"), ElementsAre(Pooling::last));
  EXPECT_THAT(pooling_of(R"("architectures": ["LlamaForCausalLM"], "is_causal": false)"), ElementsAre(Pooling::mean));
  EXPECT_THAT(pooling_of(R"("architectures": ["GPT2LMHeadModel"])"), ElementsAre(Pooling::mean));
  EXPECT_THAT(pooling_of(R"("architectures": ["BertForMaskedLM"])"), ElementsAre(Pooling::mean));
}

TEST(EmbedOptions, AreTheDefaultsWhereThereIsNoFolder) {
  const EmbedOptions options = embed_options_of("no such folder");
  EXPECT_THAT(options.pooling, ElementsAre(Pooling::mean));
  EXPECT_EQ(options.length, std::nullopt);
}

}  // namespace
}  // namespace qkv::sentence_files_test
