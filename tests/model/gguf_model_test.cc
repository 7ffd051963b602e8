// Models of GGUF files that are written here, and what is wrong with files that lie.
#include <gmock/gmock.h>

#include <cmath>
#include <functional>
#include <map>
#include <optional>

#include "core/error_message.h"
#include "core/random_blocks.h"
#include "files/gguf_bytes.h"
#include "files/temporary_directory.h"
#include "model/families/gguf.h"
#include "model/llama_in_blocks.h"
#include "qkv/files.h"
#include "qkv/random.h"
#include "qkv/threads.h"

namespace qkv::gguf_model_test {
namespace {

using testing::HasSubstr;
using tests::gguf_number;
using tests::GgufBytes;

constexpr std::uint32_t kF32 = 0;

DecoderOptions small_llama() {
  DecoderOptions options{.vocabulary = 11,
                         .length = 32,
                         .layers = 2,
                         .d_model = 16,
                         .heads = 4,
                         .d_ff = 24,
                         .tied = false,
                         .activation = Activation::silu,
                         .bias = false};
  options.choices.norm = NormKind::rms;
  options.choices.feed_forward = FeedForwardKind::gated;
  options.choices.feed_forward_bias = false;
  options.choices.kv_heads = 2;
  options.choices.d_k = 4;
  return options;
}

// "blk.1.attn_q.weight" of "blocks.1.attn.q.weight".
std::string gguf_name(std::string name) {
  static const std::vector<std::pair<std::string, std::string>> kParts = {
      {"blocks.", "blk."},        {"embedding", "token_embd"}, {"ln_final", "output_norm"},
      {".ln1", ".attn_norm"},     {".ln2", ".ffn_norm"},       {".attn.q", ".attn_q"},
      {".attn.k", ".attn_k"},     {".attn.v", ".attn_v"},      {".attn.out", ".attn_output"},
      {".ffn.gate", ".ffn_gate"}, {".ffn.up", ".ffn_up"},      {".ffn.down", ".ffn_down"}};
  for (const auto& [ours, theirs] : kParts) {
    if (const std::size_t at = name.find(ours); at != std::string::npos) name.replace(at, ours.size(), theirs);
  }
  return name;
}

// Rows 0, 2, 1, 3 of each head of 4: what stood in two halves now alternates.
std::size_t interleaved_row(std::size_t row) { return row / 4 * 4 + std::vector<std::size_t>{0, 2, 1, 3}[row % 4]; }

tests::GgufTensor tensor_of(const std::string& name, const TensorView& view) {
  tests::GgufTensor tensor{.name = gguf_name(name), .type = kF32, .extents = {}, .data = {}};
  for (int axis = view.rank(); axis-- > 0;) tensor.extents.push_back(static_cast<std::uint64_t>(view.dim(axis)));
  const std::vector<double> values = view.to_vector();
  const bool turns = name.ends_with(".q.weight") || name.ends_with(".k.weight");
  const auto rows = static_cast<std::size_t>(view.dim(0));
  const std::size_t width = values.size() / rows;
  for (std::size_t row = 0; row < rows; ++row) {
    const std::size_t from = turns ? interleaved_row(row) : row;
    for (std::size_t n = 0; n < width; ++n) {
      tensor.data += gguf_number(static_cast<float>(values[from * width + n]));
    }
  }
  return tensor;
}

GgufBytes words_of_llama() {
  GgufBytes file;
  file.text("general.architecture", "llama").u32("llama.context_length", 32).u32("llama.block_count", 2);
  file.u32("llama.embedding_length", 16).u32("llama.feed_forward_length", 24).u32("llama.attention.head_count", 4);
  file.u32("llama.attention.head_count_kv", 2).f32("llama.attention.layer_norm_rms_epsilon", 1e-5F);
  return file;
}

Model drawn() {
  Generator generator(3);
  return Model(Decoder(small_llama(), generator));
}

GgufBytes with_tensors(GgufBytes file, const Model& model) {
  for (const Parameter& parameter : model.parameters()) file.tensor(tensor_of(parameter.name, parameter.value.value()));
  return file;
}

Model read(const GgufBytes& file) { return families::model_of_gguf(Gguf(file.bytes(), "m.gguf")); }

std::string fault_of(const GgufBytes& file) {
  return error_message<Error>([&] { static_cast<void>(read(file)); });
}

TEST(GgufModel, IsTheModelThatWasWritten) {
  const Model wanted = drawn();
  const Model got = read(with_tensors(words_of_llama(), wanted));
  EXPECT_EQ(got.config(), wanted.config());
  const Parameters ours = got.parameters();
  const Parameters theirs = wanted.parameters();
  ASSERT_EQ(ours.size(), theirs.size());
  for (std::size_t n = 0; n < ours.size(); ++n) {
    EXPECT_EQ(ours[n].value.value().to_vector(), theirs[n].value.value().to_vector()) << ours[n].name;
  }
  EXPECT_THAT(got.cautions(), testing::IsEmpty());
}

TEST(GgufModel, HasTheScalingsThatRotaryPositionsHave) {
  const Model model = drawn();
  const auto scaling = [&](const GgufBytes& words) {
    const ModelConfig config = read(with_tensors(words, model)).config();
    const auto found = config.find("rotary_scaling");
    return found == config.end() ? "none" : found->second;
  };
  EXPECT_EQ(scaling(words_of_llama()), "none");
  const auto factors = [&](float first, float second) {
    GgufBytes words = words_of_llama();
    return words.tensor({"rope_freqs.weight", kF32, {2}, gguf_number(first) + gguf_number(second)});
  };
  EXPECT_EQ(scaling(words_of_llama().text("llama.rope.scaling.type", "linear").f32("llama.rope.scaling.factor", 4)),
            "linear 4");
  // Within 32 positions the first pair makes 5 turns and stays, and the second 0.05.
  EXPECT_EQ(scaling(factors(1, 8)), "llama3 8 1 4 32");
  EXPECT_THAT(fault_of(with_tensors(factors(2, 8), model)),
              HasSubstr("m.gguf: rope_freqs.weight: expected the factors of Llama 3's rotary scaling, got others"));
  EXPECT_THAT(fault_of(with_tensors(words_of_llama().text("llama.rope.scaling.type", "longrope"), model)),
              HasSubstr("llama.rope.scaling.type: expected none, linear or yarn, got \"longrope\""));
  const auto longer = [&](const GgufBytes& words, float magnitude = 1.5F) {
    GgufBytes both = words;
    both.u32("llama.rope.scaling.original_context_length", 16).f32("llama.rope.scaling.attn_factor", magnitude);
    return both.tensor({"rope_factors_long.weight", kF32, {2}, gguf_number(1.1F) + gguf_number(3.F)});
  };
  GgufBytes longrope = longer(words_of_llama());
  longrope.tensor({"rope_factors_short.weight", kF32, {2}, gguf_number(1.F) + gguf_number(1.2F)});
  EXPECT_EQ(scaling(longrope), "longrope 16 1.5 1.5 1 1.2 1.1 3");
  GgufBytes without_magnitude = longer(words_of_llama(), 0);
  without_magnitude.tensor({"rope_factors_short.weight", kF32, {2}, gguf_number(1.F) + gguf_number(1.2F)});
  EXPECT_THAT(fault_of(with_tensors(without_magnitude, model)),
              HasSubstr("llama.rope.scaling.attn_factor: expected a number above 0, got 0"));
  EXPECT_THAT(fault_of(with_tensors(longer(words_of_llama()), model)),
              HasSubstr("m.gguf: rope_factors_short.weight: expected 2 factors, got no such tensor"));
  GgufBytes many = longer(words_of_llama());
  many.tensor({"rope_factors_short.weight", kF32, {3}, std::string(12, '\0')});
  EXPECT_THAT(fault_of(with_tensors(many, model)),
              HasSubstr("rope_factors_short.weight: expected 2 factors, one for two numbers of a head, got 3"));
  EXPECT_THAT(fault_of(with_tensors(words_of_llama().u32("llama.rope.dimension_count", 2), model)),
              HasSubstr("llama.rope.dimension_count: expected 4, the width of a head, got 2"));
}

// As llama.cpp takes them: linear where no type is said, by the key of before 2024, too.
TEST(GgufModel, TakesAScalingThatHasNoType) {
  const Model model = drawn();
  const auto scaling = [&](const GgufBytes& words) {
    const ModelConfig config = read(with_tensors(words, model)).config();
    const auto found = config.find("rotary_scaling");
    return found == config.end() ? "none" : found->second;
  };
  EXPECT_EQ(scaling(words_of_llama().f32("llama.rope.scaling.factor", 4)), "linear 4");
  EXPECT_EQ(scaling(words_of_llama().f32("llama.rope.scale_linear", 4)), "linear 4");
  EXPECT_EQ(scaling(words_of_llama().f32("llama.rope.scale_linear", 4).f32("llama.rope.scaling.factor", 2)),
            "linear 2");
  EXPECT_EQ(scaling(words_of_llama().text("llama.rope.scaling.type", "linear").f32("llama.rope.scale_linear", 4)),
            "linear 4");
  EXPECT_EQ(scaling(words_of_llama().f32("llama.rope.scaling.factor", 0)), "none");
  EXPECT_EQ(scaling(words_of_llama().f32("llama.rope.scale_linear", 1)), "none");
  EXPECT_EQ(scaling(words_of_llama().text("llama.rope.scaling.type", "none").f32("llama.rope.scaling.factor", 4)),
            "none");
  const GgufBytes yarn = words_of_llama().text("llama.rope.scaling.type", "yarn").f32("llama.rope.scale_linear", 4);
  EXPECT_THAT(scaling(yarn), testing::StartsWith("yarn 4 32 "));
  EXPECT_THAT(fault_of(with_tensors(words_of_llama().f32("llama.rope.scale_linear", -2), model)),
              HasSubstr("m.gguf: llama.rope.scale_linear: expected more than 0, got -2"));
  GgufBytes both = words_of_llama().f32("llama.rope.scaling.factor", 4);
  both.tensor({"rope_freqs.weight", kF32, {2}, gguf_number(1.F) + gguf_number(8.F)});
  EXPECT_THAT(fault_of(with_tensors(both, model)),
              HasSubstr("llama.rope.scaling.factor: expected 1 beside rope_freqs.weight: qkv computes one scaling"));
}

TEST(GgufModel, NamesKeysThatItDoesNotRead) {
  const Model model = drawn();
  const auto cautions = [&](const GgufBytes& words) { return read(with_tensors(words, model)).cautions(); };
  GgufBytes idle = words_of_llama().u32("llama.vocab_size", 11).boolean("llama.attention.causal", true);
  idle.boolean("llama.rope.scaling.finetuned", true).f32("llama.logit_scale", 1).u32("llama.pooling_type", 1);
  idle.text("general.name", "a").text("tokenizer.ggml.foo", "b").text("quantize.imatrix.file", "c").u32("split.foo", 1);
  idle.u32("qwen2.foo", 3);
  EXPECT_THAT(cautions(idle), testing::IsEmpty());
  GgufBytes file = words_of_llama().f32("llama.logit_scale", 0.25).boolean("llama.attention.causal", false);
  file.u32("llama.foo", 3).texts("llama.of_nobody", {"a", "b"});
  EXPECT_THAT(cautions(file),
              testing::ElementsAre(
                  "its metadata: llama.attention.causal false, llama.foo 3, llama.logit_scale 0.25, llama.of_nobody a "
                  "list of string with 2: [\"a\",\"b\"]: not read; the program of the model's authors may compute "
                  "something else"));
}

TEST(GgufModel, KeepsTheTemplateOfMessages) {
  GgufBytes file = words_of_llama();
  file.text("tokenizer.chat_template", "{{ messages }}");
  const Model model = read(with_tensors(file, drawn()));
  EXPECT_EQ(model.tokenizers().chat_template, "{{ messages }}");
  EXPECT_EQ(model.metadata().at("reading.chat_template"), "{{ messages }}");
}

TEST(GgufModel, SaysHowATextBecomesAVector) {
  const tests::TemporaryDirectory folder;
  const std::string path = folder / "m.gguf";
  write_file(path, words_of_llama().text_of());
  EXPECT_THAT(embed_options_of(path).pooling, testing::ElementsAre(Pooling::mean));
  EXPECT_EQ(embed_options_of(path).length, std::nullopt);
  write_file(path, words_of_llama().u32("llama.pooling_type", 2).text_of());
  EXPECT_THAT(embed_options_of(path).pooling, testing::ElementsAre(Pooling::first));
  EXPECT_EQ(embed_options_of(path).length, 32);
  write_file(path, words_of_llama().u32("llama.pooling_type", 4).text_of());
  EXPECT_THAT(error_message<Error>([&] { static_cast<void>(embed_options_of(path)); }),
              HasSubstr("m.gguf: llama.pooling_type: expected 0 to 3: none, mean, first or last, got 4"));
}

TEST(GgufModel, NamesAKeyThatIsWrong) {
  const Model model = drawn();
  EXPECT_THAT(fault_of(GgufBytes()), HasSubstr("m.gguf: general.architecture: expected a text, got nothing"));
  const std::string all =
      "general.architecture: expected one of the architectures llama, qwen2, qwen3, gemma, gemma2, gemma3, granite, "
      "smollm3, olmo2, phi3, phi2, starcoder2, stablelm, command-r, cohere2, gpt2, starcoder, gptneox, falcon, bloom, "
      "mpt, bert, nomic-bert, modern-bert, t5, granitemoe, olmoe, qwen2moe, qwen3moe, gpt-oss";
  const auto of_architecture = [](const char* name) {
    return fault_of(GgufBytes().text("general.architecture", name));
  };
  EXPECT_THAT(of_architecture("mamba"),
              HasSubstr(all + "; none is near: this one's layers keep a state in place of attention, got \"mamba\""));
  EXPECT_THAT(of_architecture("qwen2vl"),
              HasSubstr("; qwen2 is the nearest: this one's heads turn by three positions"));
  EXPECT_THAT(
      of_architecture("phimoe"),
      HasSubstr("; phi3 is the nearest: this one's feed-forward layers are experts; the folder that it was made "
                "from, of model_type phimoe, is read, got \"phimoe\""));
  EXPECT_THAT(of_architecture("of-nobody"), HasSubstr(all + ", got \"of-nobody\""));
  EXPECT_THAT(fault_of(words_of_llama()), HasSubstr("m.gguf: llama.block_count: expected from 1 to 0"));
  GgufBytes many;
  many.text("general.architecture", "llama").u32("llama.block_count", 4000000000U);
  many.u32("llama.attention.head_count", 4).u32("llama.embedding_length", 16).u32("llama.context_length", 32);
  many.tensor({"token_embd.weight", kF32, {16, 1}, std::string(64, '\0')});
  EXPECT_THAT(fault_of(many), HasSubstr("llama.block_count: expected a whole number from 0 to 2^31, got 4000000000"));
  EXPECT_THAT(fault_of(with_tensors(words_of_llama().text("general.type", "adapter"), model)),
              HasSubstr("general.type: expected a model, got \"adapter\""));
  EXPECT_THAT(fault_of(with_tensors(words_of_llama().u32("llama.expert_count", 8), model)),
              HasSubstr("llama.expert_used_count: expected a whole number"));
  EXPECT_THAT(fault_of(GgufBytes().text("general.architecture", "qwen2").u32("qwen2.expert_count", 8)),
              HasSubstr("qwen2.expert_count: expected 0: qkv computes no model with experts, got 8"));
  EXPECT_THAT(fault_of(with_tensors(words_of_llama().u32("llama.attention.value_length", 8), model)),
              HasSubstr("llama.attention.value_length: expected 4, the width of keys, got 8"));
}

TEST(GgufModel, NamesTensorsThatAreNotThoseOfTheMetadata) {
  GgufBytes few = words_of_llama();
  few.tensor({"token_embd.weight", kF32, {16, 11}, std::string(11 * 16 * 4, '\0')});
  few.tensor({"blk.0.ffn_up.weight", kF32, {16, 23}, std::string(23 * 16 * 4, '\0')});
  few.tensor({"blk.0.of_nobody.weight", kF32, {1}, std::string(4, '\0')});
  const std::string fault = fault_of(few);
  EXPECT_THAT(fault, HasSubstr(" of its tensors are not those of a llama with its metadata:\n"));
  EXPECT_THAT(fault, HasSubstr("blk.1.attn_q.weight: expected [16, 16], got no such tensor"));
  EXPECT_THAT(fault, HasSubstr("blk.0.ffn_up.weight: expected [24, 16], got [23, 16] of f32"));
  EXPECT_THAT(fault, HasSubstr("blk.0.of_nobody.weight: a tensor that the model has no use for"));
  GgufBytes flat = words_of_llama();
  flat.tensor({"token_embd.weight", kF32, {16}, std::string(64, '\0')}).tensor({"b", kF32, {1}, std::string(4, '\0')});
  EXPECT_THAT(fault_of(flat), HasSubstr("\"token_embd.weight\": expected a table of tokens, got one of 1 axes"));
}

TEST(GgufModel, SaysWhatItKnowsOfOneTensor) {
  const auto with = [](const std::string& name) {
    return with_tensors(words_of_llama(), drawn()).tensor({name, kF32, {1}, std::string(4, '\0')});
  };
  EXPECT_THAT(fault_of(with("blk.0.of_nobody.weight")),
              HasSubstr("m.gguf: 1 of its tensors is not that of a llama with its metadata:\n"));
  EXPECT_THAT(read(with("foo")).cautions(),
              testing::ElementsAre("foo: left out: what qkv computes of a llama has no tensor of such a name"));
}

TEST(GgufModel, IsNotRefusedForAKeyThatNobodyNeeds) {
  GgufBytes file = words_of_llama().add("general.random_seed", 10, gguf_number(~std::uint64_t{0}));
  const std::string one = gguf_number<std::uint32_t>(4) + gguf_number<std::uint64_t>(1) + gguf_number<std::uint32_t>(7);
  file.add("general.lists", 9, gguf_number<std::uint32_t>(9) + gguf_number<std::uint64_t>(1) + one);
  EXPECT_THAT(read(with_tensors(file, drawn())).cautions(), testing::IsEmpty());
  GgufBytes used = words_of_llama();
  used.add("llama.rope.freq_base", 9, gguf_number<std::uint32_t>(9) + gguf_number<std::uint64_t>(1) + one);
  EXPECT_THAT(fault_of(with_tensors(used, drawn())),
              HasSubstr("llama.rope.freq_base: expected a number, got a list of 1 list"));
}

TensorView value_of(const Model& model, const std::string& name) {
  for (const Parameter& parameter : model.parameters()) {
    if (parameter.name == name) return parameter.value.value();
  }
  throw Error("no parameter " + name);
}

TEST(GgufModel, ReadsEachExpertOfATensorOfAll) {
  const Gguf file(tests::llama_in_blocks(core::BlockType::q8_0, 3).bytes(), "m.gguf");
  const Model numbers = families::model_of_gguf(file);
  const Model blocks = families::model_of_gguf(file, QuantisedWeights::as_stored);
  for (const auto& [ours, theirs] :
       {std::pair("gate", "ffn_gate_exps"), {"up", "ffn_up_exps"}, {"down", "ffn_down_exps"}}) {
    const Tensor all = file.load("blk.1." + std::string(theirs) + ".weight");
    ASSERT_EQ(all.dim(0), 3);
    for (std::int64_t e = 0; e < 3; ++e) {
      const std::string name = "blocks.1.ffn.experts." + std::to_string(e) + "." + ours + ".weight";
      const std::vector<double> wanted = all.view().select(0, e).to_vector();
      EXPECT_EQ(value_of(numbers, name).to_vector(), wanted) << name;
      EXPECT_EQ(value_of(blocks, name).to_vector(), wanted) << name;
    }
  }
  for (const Parameter& parameter : blocks.parameters()) {
    const bool is_plain = parameter.value.rank() != 2 || parameter.name.ends_with("router.weight");
    EXPECT_EQ(parameter.value.quantised() == nullptr, is_plain) << parameter.name;
  }
  const Tensor ids(std::vector<std::int64_t>{3, 1, 4, 1, 5}, {1, 5});
  const NoGradient constant;
  const std::vector<double> wanted = numbers.forward({.ids = ids}).value().to_vector();
  EXPECT_EQ(blocks.to(DType::f32).forward({.ids = ids}).value().to_vector(), wanted);
}

TEST(GgufModel, ReadsExpertsThatStandOneByOne) {
  DecoderOptions options = small_llama();
  options.choices.d_k.reset();
  options.choices.experts = {.count = 3, .per_token = 2};
  Generator generator(3);
  const Model wanted(Decoder(options, generator));
  GgufBytes file = words_of_llama().u32("llama.expert_count", 3).u32("llama.expert_used_count", 2);
  for (const Parameter& parameter : wanted.parameters()) {
    std::string name = parameter.name;
    if (const std::size_t at = name.find(".ffn.router"); at != std::string::npos) name.replace(at, 11, ".ffn_gate_inp");
    if (const std::size_t at = name.find(".ffn.experts."); at != std::string::npos) {
      // "blocks.0.ffn.experts.2.up.weight" as "blocks.0.ffn_up.2.weight"
      const std::string e = name.substr(at + 13, 1);
      const std::string map = name.substr(at + 15, name.rfind('.') - at - 15);
      name = name.substr(0, at) + ".ffn_" + map + "." + e + ".weight";
    }
    file.tensor(tensor_of(name, parameter.value.value()));
  }
  const Model got = read(file);
  EXPECT_EQ(got.config(), wanted.config());
  for (const Parameter& parameter : wanted.parameters()) {
    EXPECT_EQ(value_of(got, parameter.name).to_vector(), parameter.value.value().to_vector()) << parameter.name;
  }
}

TEST(GgufModel, RefusesAChoiceOfExpertsThatItDoesNotMake) {
  const auto fault = [](const std::function<void(GgufBytes&)>& add) {
    GgufBytes file = words_of_llama().u32("llama.expert_count", 3).u32("llama.expert_used_count", 2);
    add(file);
    return fault_of(with_tensors(file, drawn()));
  };
  EXPECT_THAT(fault([](GgufBytes& file) { file.u32("llama.expert_gating_func", 2); }),
              HasSubstr("llama.expert_gating_func: expected 1: softmax, got 2"));
  EXPECT_THAT(fault([](GgufBytes& file) { file.f32("llama.expert_weights_scale", 2.5F); }),
              HasSubstr("llama.expert_weights_scale: expected 1, got 2.5"));
  EXPECT_THAT(fault([](GgufBytes& file) { file.u32("llama.expert_group_count", 4); }),
              HasSubstr("llama.expert_group_count: expected 1: experts are chosen from all, got 4"));
  EXPECT_THAT(
      fault([](GgufBytes& file) { file.u32("llama.expert_shared_count", 1); }),
      HasSubstr("llama.expert_shared_count: expected 0: qkv computes no model with experts that every token has"));
  EXPECT_THAT(fault([](GgufBytes& file) { file.u32("llama.expert_used_count", 4); }), HasSubstr("expert"));
}

class InBlocks : public testing::TestWithParam<core::BlockType> {
 protected:
  void SetUp() override {
    const GgufBytes file = tests::llama_in_blocks(GetParam());
    const Gguf read(file.bytes(), "m.gguf");
    numbers_ = families::model_of_gguf(read);
    blocks_ = families::model_of_gguf(read, QuantisedWeights::as_stored);
  }

  static std::vector<double> logits_of(const Model& model, const TensorView& ids) {
    const NoGradient constant;
    return model.forward({.ids = ids}).value().to_vector();
  }

  [[nodiscard]] static Tensor ids() { return Generator(5).randint(0, 64, {1, 12}); }

  std::optional<Model> numbers_;
  std::optional<Model> blocks_;
};

TEST_P(InBlocks, HasTheSameParameters) {
  const Parameters wanted = numbers_->parameters();
  const Parameters got = blocks_->parameters();
  const auto name = std::string(core::layout_of(GetParam()).name);
  ASSERT_EQ(got.size(), wanted.size());
  for (std::size_t n = 0; n < got.size(); ++n) {
    EXPECT_EQ(got[n].value.quantised() != nullptr, got[n].value.rank() == 2) << got[n].name;
    EXPECT_EQ(wanted[n].value.quantised(), nullptr);
    EXPECT_EQ(got[n].value.value().to_vector(), wanted[n].value.value().to_vector()) << got[n].name;
  }
  EXPECT_EQ(numbers_->quantised_words(), "");
  EXPECT_EQ(blocks_->quantised_words(), "weights of " + name + " as in the file, activations in 8 bits");
  EXPECT_EQ(blocks_->parameter_count(), numbers_->parameter_count());
}

// Each product errs by a 250th of the largest of 32 numbers at most; a pass of two layers by a few of them.
TEST_P(InBlocks, HasNearlyTheSameLogits) {
  const std::vector<double> wanted = logits_of(*numbers_, ids());
  const std::vector<double> got = logits_of(*blocks_, ids());
  ASSERT_EQ(got.size(), wanted.size());
  double size = 0;
  double off = 0;
  for (std::size_t n = 0; n < got.size(); ++n) {
    size += wanted[n] * wanted[n];
    off += (got[n] - wanted[n]) * (got[n] - wanted[n]);
  }
  EXPECT_GT(off, 0) << "products of 8 bits";
  EXPECT_LT(std::sqrt(off / size), 0.02);
}

TEST_P(InBlocks, HasTheSameBitsOnAnyNumberOfThreads) {
  const int before = threads();
  set_threads(1);
  const std::vector<double> alone = logits_of(*blocks_, ids());
  set_threads(2);
  EXPECT_EQ(logits_of(*blocks_, ids()), alone);
  set_threads(before);
}

TEST_P(InBlocks, BecomesTheModelInF32) {
  EXPECT_EQ(logits_of(blocks_->to(DType::f32), ids()), logits_of(*numbers_, ids()));
}

INSTANTIATE_TEST_SUITE_P(Types, InBlocks, testing::ValuesIn(tests::block_types()),
                         [](const auto& one) { return std::string(core::layout_of(one.param).name); });

}  // namespace
}  // namespace qkv::gguf_model_test
