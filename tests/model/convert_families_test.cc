// Families that differ from Llama in more than words: from a folder to GGUF and back, with every option that GGUF can
// say, and the refusal of those that it cannot.
#include <gmock/gmock.h>

#include "core/error_message.h"
#include "files/json_text.h"
#include "model/published_folder.h"
#include "model/same_models.h"
#include "qkv/gguf.h"
#include "qkv/model/convert.h"

namespace qkv::convert_families_test {
namespace {

using testing::Each;
using testing::Field;
using testing::HasSubstr;
using tests::PublishedFolder;
using tests::TemporaryDirectory;

struct ConvertedFamily {
  std::string type;
  std::string words = "";
};

class ConvertsFamily : public testing::TestWithParam<ConvertedFamily> {};

Tensor scores(const Model& model) {
  const Tensor ids(std::vector<std::int64_t>{3, 1, 8, 2, 2, 5, 0, 7, 4, 6}, {1, 10});
  const Encoder* encoder = model.parts().encoder;
  return Tensor(encoder == nullptr ? model.forward({.ids = ids}).value() : encoder->hidden({.ids = ids}).value());
}

TEST_P(ConvertsFamily, ComesBackFromGgufAsItWas) {
  const PublishedFolder folder(GetParam().type, GetParam().words);
  const TemporaryDirectory out;
  const Conversion there = convert_model(folder.path(), out / "m.gguf");
  EXPECT_THAT(there.tensors, Each(Field(&ConvertedTensor::error, 0)));
  const Model of_folder = Model::open(folder.path());
  const Model of_file = Model::open(out / "m.gguf");
  const bool is_left_without_head = of_folder.traits().fills;
  if (!is_left_without_head) tests::expect_same(of_file, of_folder);
  EXPECT_EQ(scores(of_file).to_vector(), scores(of_folder).to_vector());
  static_cast<void>(convert_model(out / "m.gguf", out / "folder"));
  tests::expect_same(Model::open(out / "folder"), of_file);
  EXPECT_EQ(files::read_json(out / "folder/config.json").at("model_type"), GetParam().type);
}

constexpr const char* kLongRope =
    R"(, "original_max_position_embeddings": 4,
         "rope_scaling": {"type": "longrope", "long_factor": [1.5, 2.1], "short_factor": [1.1, 1.2]})";
constexpr const char* kGranite = R"(, "embedding_multiplier": 12.0, "attention_multiplier": 0.015625,
                                      "residual_multiplier": 0.22, "logits_scaling": 3.0)";
constexpr const char* kQwenExperts =
    R"(, "num_experts": 4, "num_experts_per_tok": 2, "moe_intermediate_size": 6, "attention_bias": false)";
constexpr const char* kGptOss = R"(, "num_local_experts": 4, "num_experts_per_tok": 2, "sliding_window": 3,
  "rope_theta": 150000.0, "rope_scaling": {"rope_type": "yarn", "factor": 4.0, "beta_fast": 32.0, "beta_slow": 1.0,
  "truncate": false, "original_max_position_embeddings": 4})";

INSTANTIATE_TEST_SUITE_P(
    Convert, ConvertsFamily,
    testing::Values(
        ConvertedFamily{"phi3"}, ConvertedFamily{"phi3", R"(, "sliding_window": 3, "num_key_value_heads": 1)"},
        ConvertedFamily{"phi3", R"(, "partial_rotary_factor": 0.5, "tie_word_embeddings": true)"},
        ConvertedFamily{"phi3", kLongRope},
        ConvertedFamily{"phi", R"(, "partial_rotary_factor": 0.5, "tie_word_embeddings": false)"},
        ConvertedFamily{"granite", kGranite},
        ConvertedFamily{"granite", R"(, "attention_bias": true, "mlp_bias": true, "tie_word_embeddings": true)"},
        ConvertedFamily{"smollm3", R"(, "num_hidden_layers": 5)"},
        ConvertedFamily{"smollm3", R"(, "tie_word_embeddings": false, "num_key_value_heads": 1)"},
        ConvertedFamily{"olmo2", R"(, "num_key_value_heads": 1, "rms_norm_eps": 0.001)"}, ConvertedFamily{"starcoder2"},
        ConvertedFamily{"starcoder2", R"(, "tie_word_embeddings": false)"},
        ConvertedFamily{"stablelm", R"(, "partial_rotary_factor": 0.5)"},
        ConvertedFamily{"stablelm", R"(, "use_parallel_residual": true, "use_qkv_bias": true,
                                         "partial_rotary_factor": 0.5)"},
        ConvertedFamily{"cohere", R"(, "logit_scale": 0.5)"},
        ConvertedFamily{"cohere2", R"(, "sliding_window": 3, "num_hidden_layers": 5)"},
        ConvertedFamily{"cohere2", R"(, "sliding_window": 3, "layer_types": ["full_attention", "sliding_attention"])"},
        ConvertedFamily{"gpt_neox", R"(, "rotary_pct": 0.5)"},
        ConvertedFamily{"gpt_neox", R"(, "rotary_pct": 1.0, "use_parallel_residual": false)"},
        ConvertedFamily{"falcon"},
        ConvertedFamily{"falcon", R"(, "new_decoder_architecture": true, "num_attention_heads": 4, "num_kv_heads": 2,
                                       "hidden_size": 16, "tie_word_embeddings": false)"},
        ConvertedFamily{"falcon", R"(, "new_decoder_architecture": true, "num_kv_heads": 2,
                                       "num_ln_in_parallel_attn": 1)"},
        ConvertedFamily{"falcon", R"(, "multi_query": false)"}, ConvertedFamily{"bloom"},
        ConvertedFamily{"bloom", R"(, "num_attention_heads": 1, "tie_word_embeddings": false)"},
        ConvertedFamily{"mpt", R"(, "max_seq_len": 16)"}, ConvertedFamily{"gpt_bigcode"},
        ConvertedFamily{"gpt_bigcode", R"(, "multi_query": false, "tie_word_embeddings": false)"},
        ConvertedFamily{"modernbert", R"(, "num_hidden_layers": 5, "local_attention": 4)"},
        ConvertedFamily{"modernbert", R"(, "global_attn_every_n_layers": 2, "local_attention": 2,
                                           "hidden_activation": "silu", "num_hidden_layers": 4)"},
        ConvertedFamily{"mixtral", R"(, "num_local_experts": 3, "num_experts_per_tok": 2)"},
        ConvertedFamily{"granitemoe", std::string(kGranite) + R"(, "num_local_experts": 3, "num_experts_per_tok": 2)"},
        ConvertedFamily{"olmoe", R"(, "num_experts": 3, "num_experts_per_tok": 2)"},
        ConvertedFamily{"qwen2_moe", R"(, "num_experts": 3, "num_experts_per_tok": 2, "moe_intermediate_size": 6,
                                          "shared_expert_intermediate_size": 10)"},
        ConvertedFamily{"qwen3_moe", std::string(kQwenExperts) + R"(, "norm_topk_prob": true)"},
        ConvertedFamily{"gpt_oss", kGptOss}),
    [](const auto& tested) { return tested.param.type + "_" + std::to_string(tested.index); });

std::string refusal_of(const std::string& type, const std::string& words) {
  const PublishedFolder folder(type, words);
  const TemporaryDirectory out;
  const std::string refusal =
      error_message<Error>([&] { static_cast<void>(convert_model(folder.path(), out / "m.gguf")); });
  EXPECT_THAT(out.names(), testing::IsEmpty());
  EXPECT_THAT(refusal, testing::StartsWith(folder.path()));
  return refusal.substr(std::min(refusal.size(), folder.path().size()));
}

TEST(ConvertFamilies, RefuseWhatLlamaCppWouldComputeOtherwise) {
  EXPECT_EQ(refusal_of("qwen3_moe", kQwenExperts),
            ": a GGUF file of qwen3moe cannot hold this model: expert_shares is of_all, and would be not said");
  EXPECT_THAT(refusal_of("smollm3", R"(, "no_rope_layer_interval": 2)"), HasSubstr("unturned is 0 1, and would be"));
  EXPECT_THAT(refusal_of("gpt_oss", std::string(kGptOss) + R"(, "swiglu_limit": 3.0)"), HasSubstr("feed_forward"));
  EXPECT_THAT(refusal_of("falcon", R"(, "parallel_attn": false)"),
              HasSubstr("order is not said, and would be parallel"));
  EXPECT_THAT(refusal_of("mpt", R"(, "max_seq_len": 16, "attn_config": {"softmax_scale": 0.5})"),
              HasSubstr("scale is 0.5"));
  EXPECT_THAT(refusal_of("modernbert", R"(, "mlp_bias": true)"),
              HasSubstr("a GGUF file of modern-bert cannot have blk.0.ffn_up.bias, and this model has it"));
}

TEST(ConvertFamilies, NameTensorsThatLlamaCppMisses) {
  EXPECT_EQ(refusal_of("olmo2", R"(, "tie_word_embeddings": true)"),
            ": a GGUF file of olmo2 has to have output.weight, and this model has none");
  EXPECT_EQ(refusal_of("starcoder2", R"(, "use_bias": false)"),
            ": a GGUF file of starcoder2 has to have blk.0.attn_output.bias, and this model has none");
  EXPECT_EQ(refusal_of("cohere", R"(, "tie_word_embeddings": false)"),
            ": a GGUF file of command-r cannot have output.weight, and this model has it");
  EXPECT_THAT(refusal_of("qwen3", R"(, "attention_bias": true)"), HasSubstr("cannot have blk.0.attn_output.bias"));
}

// Rows of a tensor that holds q, k and v, or gate and up, are read in their blocks.
TEST(ConvertFamilies, KeepTheBlocksOfJoinedMaps) {
  for (const char* type : {"phi3", "gpt_neox", "falcon"}) {
    const PublishedFolder folder(type, R"(, "hidden_size": 32, "intermediate_size": 64, "head_dim": 16,
                                            "num_key_value_heads": 1, "rotary_pct": 1.0)");
    const TemporaryDirectory out;
    static_cast<void>(convert_model(folder.path(), out / "m.gguf", {.type = "q8_0"}));
    const Parameters blocks = Model::open(out / "m.gguf", QuantisedWeights::as_stored).parameters();
    const Parameters numbers = Model::open(out / "m.gguf").parameters();
    ASSERT_EQ(blocks.size(), numbers.size());
    for (std::size_t n = 0; n < blocks.size(); ++n) {
      const QuantisedTensor* own = blocks[n].value.quantised();
      EXPECT_EQ(own != nullptr, blocks[n].value.rank() == 2) << type << " " << blocks[n].name;
      if (own == nullptr) continue;
      EXPECT_EQ(own->dequantised().to_vector(), numbers[n].value.value().to_vector()) << type << " " << blocks[n].name;
    }
  }
}

TEST(ConvertFamilies, SayTheirOptionsInTheWordsOfTheFormat) {
  const TemporaryDirectory out;
  const auto metadata_of = [&](const std::string& type, const std::string& words) {
    const PublishedFolder folder(type, words);
    static_cast<void>(convert_model(folder.path(), out / "m.gguf", {.overwrite = true}));
    return Gguf::read(out / "m.gguf");
  };
  const auto number = [](const Gguf& file, const char* key) {
    return static_cast<float>(std::get<double>(file.metadata().at(key).value));
  };
  const auto whole = [](const Gguf& file, const char* key) {
    return std::get<std::int64_t>(file.metadata().at(key).value);
  };
  const Gguf granite = metadata_of("granite", kGranite);
  EXPECT_FLOAT_EQ(number(granite, "granite.logit_scale"), 3);
  EXPECT_FLOAT_EQ(number(granite, "granite.residual_scale"), 0.22F);
  EXPECT_FLOAT_EQ(number(granite, "granite.embedding_scale"), 12);
  EXPECT_FLOAT_EQ(number(granite, "granite.attention.scale"), 0.015625F);
  const Gguf gpt_oss = metadata_of("gpt_oss", kGptOss);
  EXPECT_EQ(whole(gpt_oss, "gpt-oss.expert_count"), 4);
  EXPECT_EQ(whole(gpt_oss, "gpt-oss.expert_feed_forward_length"), 12);
  EXPECT_EQ(whole(gpt_oss, "gpt-oss.attention.sliding_window"), 3);
  EXPECT_EQ(gpt_oss.find("blk.1.ffn_gate_exps.weight")->shape, (std::vector<std::int64_t>{4, 12, 8}));
  EXPECT_EQ(gpt_oss.find("blk.1.ffn_down_exps.bias")->shape, (std::vector<std::int64_t>{4, 8}));
  EXPECT_EQ(gpt_oss.find("blk.1.attn_sinks.weight")->shape, (std::vector<std::int64_t>{2}));
  const Gguf phi3 = metadata_of("phi3", kLongRope);
  EXPECT_EQ(phi3.load("rope_factors_long.weight").to_vector(), (std::vector<double>{1.5F, 2.1F}));
  EXPECT_EQ(phi3.find("blk.0.attn_qkv.weight")->shape, (std::vector<std::int64_t>{24, 8}));
  EXPECT_EQ(phi3.find("blk.0.ffn_up.weight")->shape, (std::vector<std::int64_t>{24, 8}));
  EXPECT_EQ(whole(phi3, "phi3.rope.scaling.original_context_length"), 4);
  EXPECT_EQ(whole(phi3, "phi3.attention.sliding_window"), 0);
  const Gguf neox = metadata_of("gpt_neox", R"(, "rotary_pct": 0.5)");
  EXPECT_EQ(whole(neox, "gptneox.rope.dimension_count"), 2);
  EXPECT_TRUE(std::get<bool>(neox.metadata().at("gptneox.use_parallel_residual").value));
}

}  // namespace
}  // namespace qkv::convert_families_test
