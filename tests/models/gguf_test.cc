// GGUF files held against the folders that they were made from, and SmolLM2 against what `transformers` makes of the
// same file.
#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>

#include "files/temporary_directory.h"
#include "models/expected.h"
#include "models/models_folder.h"
#include "qkv/model/chat.h"
#include "qkv/model/model.h"
#include "qkv/softmax.h"
#include "qkv/threads.h"

namespace qkv::gguf_models_test {
namespace {

using tests::expect_site;
using tests::Inputs;
using tests::kNear;
using tests::largest_difference;

constexpr const char* kFile = "/model.gguf";

std::vector<std::string> converted_models() {
  std::vector<std::string> names = tests::made_models();
  std::erase_if(names, [](const std::string& name) {
    return name == "smollm2" || !std::filesystem::exists(tests::models_folder() / name / "model.gguf");
  });
  return names.empty() ? std::vector<std::string>{""} : names;
}

class GgufFamilies : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    if (GetParam().empty()) {
      GTEST_SKIP() << "no GGUF files in " << tests::models_folder() << ": make test-models makes them";
    }
  }

  [[nodiscard]] std::string folder() const { return tests::models_folder() / GetParam(); }
  [[nodiscard]] Safetensors expected() const { return Safetensors::read(folder() + "/expected.safetensors"); }
};

TEST_P(GgufFamilies, HaveTheConfigOfTheFolder) {
  ModelConfig of_file = Model::open(folder() + kFile).config();
  ModelConfig of_folder = Model::open(folder()).config();
  for (ModelConfig* config : {&of_file, &of_folder}) {
    // What llama.cpp leaves out: the head of a BERT, and how long T5's texts were.
    for (const char* word : {"head", "head_activation"}) config->erase(word);
  }
  EXPECT_EQ(of_file, of_folder);
}

TEST_P(GgufFamilies, HaveTheHiddenStatesAndAttentionOfEachLayer) {
  const Safetensors wanted = expected();
  const Model model = Model::open(folder() + kFile);
  Trace trace({"*.resid_pre", "*.resid_post", "*ln_final", "*.attn.weights", "*.cross.weights", "*logits"});
  model.run(Inputs(wanted).all(), trace);
  const bool has_source = wanted.contains("source");
  if (model.scores_tokens()) {
    EXPECT_LT(largest_difference(trace[has_source ? "decoder.logits" : "logits"], wanted.load("logits")), kNear);
  }
  if (has_source) {
    expect_site(trace, wanted, {"decoder.", "hidden.", "weights."});
    expect_site(trace, wanted, {"encoder.", "source.hidden.", "source.weights."});
    expect_site(trace, wanted, {"decoder.", "", "cross.", "cross"});
  } else {
    expect_site(trace, wanted, {"", "hidden.", "weights."});
  }
}

TEST_P(GgufFamilies, WriteTheSameText) {
  const Safetensors wanted = expected();
  if (!wanted.contains("greedy")) GTEST_SKIP() << "it writes no text";
  const Tensor greedy = wanted.load("greedy");
  const Model model = Model::open(folder() + kFile);
  const NewTokens written = model.generate(Inputs(wanted).to_write_from(), {.most = greedy.dim(1)});
  std::vector<double> all;
  for (const auto& text : written) all.insert(all.end(), text.begin(), text.end());
  EXPECT_EQ(all, greedy.to_vector());
}

TEST_P(GgufFamilies, ComeBackFromAFileOfOurs) {
  const Model model = Model::open(folder() + kFile);
  const tests::TemporaryDirectory directory;
  const std::string path = directory / "model.safetensors";
  model.save(path);
  const Model again = Model::open(path);
  EXPECT_EQ(again.config(), model.config());
  const Parameters left = model.parameters();
  const Parameters right = again.parameters();
  ASSERT_EQ(left.size(), right.size());
  for (std::size_t n = 0; n < left.size(); ++n) {
    EXPECT_EQ(left[n].value.value().to_vector(), right[n].value.value().to_vector()) << left[n].name;
  }
}

INSTANTIATE_TEST_SUITE_P(Made, GgufFamilies, testing::ValuesIn(converted_models()), [](const auto& one) {
  std::string name = one.param.empty() ? "none" : one.param;
  std::ranges::replace(name, '-', '_');
  return name;
});

// A model of 135 M parameters that was trained, in blocks of 4 and 8 bits.
class SmolLm2 : public testing::Test {
 protected:
  static constexpr std::int64_t kPrompts = 20;

  void SetUp() override {
    if (!std::filesystem::exists(folder() / "expected-gguf.safetensors")) {
      GTEST_SKIP() << "no " << folder() << ": make test-models makes it";
    }
  }

  [[nodiscard]] static std::filesystem::path folder() { return tests::models_folder() / "smollm2"; }
  [[nodiscard]] static Model model() { return Model::open(folder() / "model.gguf"); }
  [[nodiscard]] static Safetensors expected() {
    return Safetensors::read((folder() / "expected-gguf.safetensors").string());
  }

  // Of the largest number.
  static double relative_difference(const TensorView& ours, const TensorView& wanted) {
    double largest = 0;
    for (const double number : wanted.to_vector()) largest = std::max(largest, std::fabs(number));
    return largest_difference(ours, wanted) / largest;
  }
};

constexpr double kNearEnough = 1e-3;

TEST_F(SmolLm2, CutsPromptsAlike) {
  const auto tokens = model().tokenizers().tokens;
  const Safetensors wanted = expected();
  const nlohmann::json prompts = nlohmann::json::parse(wanted.metadata().at("prompts"));
  ASSERT_EQ(prompts.size(), static_cast<std::size_t>(kPrompts));
  for (std::int64_t n = 0; n < kPrompts; ++n) {
    const auto ids = tokens->encode(prompts.at(static_cast<std::size_t>(n)).get<std::string>()).ids;
    EXPECT_EQ(std::vector<double>(ids.begin(), ids.end()), wanted.load("ids." + std::to_string(n)).to_vector()) << n;
  }
}

TEST_F(SmolLm2, HasTheLogitsOfTheSameFile) {
  const Model opened = model();
  const Safetensors wanted = expected();
  for (std::int64_t n = 0; n < kPrompts; ++n) {
    const Tensor ids = wanted.load("ids." + std::to_string(n));
    Trace trace({"logits"});
    opened.run({.ids = ids}, trace);
    const Tensor logits = trace["logits"];
    EXPECT_LT(relative_difference(logits.select(0, 0), wanted.load("logits." + std::to_string(n))), kNearEnough) << n;
  }
}

TEST_F(SmolLm2, HasTheHiddenStatesAndAttentionOfEachLayer) {
  const Safetensors wanted = expected();
  const Tensor ids = wanted.load("ids.0");
  Trace trace({"*.resid_pre", "*ln_final", "*.attn.weights"});
  model().run({.ids = ids}, trace);
  std::int64_t layers = 0;
  for (; wanted.contains("weights." + std::to_string(layers)); ++layers) {
    const std::string n = std::to_string(layers);
    const std::string block = "blocks." + n + ".";
    EXPECT_LT(largest_difference(trace[block + "attn.weights"], wanted.load("weights." + n)), kNearEnough) << block;
    EXPECT_LT(relative_difference(trace[block + "resid_pre"], wanted.load("hidden." + n)), kNearEnough) << block;
  }
  EXPECT_EQ(layers, 30);
  EXPECT_LT(relative_difference(trace["ln_final"], wanted.load("hidden.30")), kNearEnough);
}

// Prompts of as many tokens share their passes.
TEST_F(SmolLm2, WritesTheSame128Tokens) {
  constexpr std::int64_t kWritten = 128;
  const Model opened = model();
  const Safetensors wanted = expected();
  std::map<std::int64_t, std::vector<std::int64_t>> by_length;
  for (std::int64_t n = 0; n < kPrompts; ++n) {
    by_length[wanted.load("ids." + std::to_string(n)).dim(1)].push_back(n);
  }
  for (const auto& [length, prompts] : by_length) {
    std::vector<double> ids;
    for (const std::int64_t n : prompts) {
      const std::vector<double> prompt = wanted.load("ids." + std::to_string(n)).to_vector();
      ids.insert(ids.end(), prompt.begin(), prompt.end());
    }
    const Tensor all = Tensor(ids, {std::ssize(prompts), length}).to(DType::i64);
    const NewTokens written = opened.generate({.ids = all}, {.most = kWritten});
    for (std::size_t row = 0; row < prompts.size(); ++row) {
      EXPECT_EQ(std::vector<double>(written[row].begin(), written[row].end()),
                wanted.load("greedy." + std::to_string(prompts[row])).to_vector())
          << prompts[row];
    }
  }
}

// By the blocks of the file and activations in 8 bits, against the same file in f32.
class SmolLm2InBlocks : public SmolLm2 {
 protected:
  static constexpr std::int64_t kTexts = 6;  // of the prompts: each is read twice, to its last of 128 tokens

  [[nodiscard]] static Model model_in_blocks() {
    return Model::open(folder() / "model.gguf", QuantisedWeights::as_stored);
  }

  // A prompt and the 128 tokens that the model writes after it.
  [[nodiscard]] static Tensor text(std::int64_t n) {
    const Safetensors wanted = expected();
    std::vector<std::int64_t> ids;
    for (const char* part : {"ids.", "greedy."}) {
      for (const double id : wanted.load(part + std::to_string(n)).to_vector()) {
        ids.push_back(static_cast<std::int64_t>(id));
      }
    }
    return Tensor(ids, {1, std::ssize(ids)});
  }

  // Logarithms of probabilities, [T, V].
  [[nodiscard]] static std::vector<std::vector<double>> said_by(const Model& model, const Tensor& ids) {
    const NoGradient constant;
    const Tensor logits(model.forward({.ids = ids}).value().select(0, 0), DType::f64);
    const Tensor logs = log_softmax(logits, -1);
    std::vector<std::vector<double>> all;
    for (std::int64_t t = 0; t < logs.dim(0); ++t) all.push_back(logs.view().select(0, t).to_vector());
    return all;
  }
};

TEST_F(SmolLm2InBlocks, ReadsAllMapsAndTheTableInTheirBlocks) {
  const Model blocks = model_in_blocks();
  for (const Parameter& parameter : blocks.parameters()) {
    EXPECT_EQ(parameter.value.quantised() != nullptr, parameter.value.rank() == 2) << parameter.name;
  }
  EXPECT_THAT(blocks.quantised_words(), testing::EndsWith(" as in the file, activations in 8 bits"));
}

TEST_F(SmolLm2InBlocks, SaysNearlyWhatItsNumbersSay) {
  const Model numbers = model();
  const Model blocks = model_in_blocks();
  double divergence = 0;
  double surprise = 0;
  double surprise_in_blocks = 0;
  std::int64_t count = 0;
  std::int64_t agree = 0;
  for (std::int64_t n = 0; n < kTexts; ++n) {
    const Tensor ids = text(n);
    const auto wanted = said_by(numbers, ids);
    const auto got = said_by(blocks, ids);
    for (std::size_t t = 0; t + 1 < wanted.size(); ++t) {
      for (std::size_t v = 0; v < wanted[t].size(); ++v) {
        divergence += std::exp(wanted[t][v]) * (wanted[t][v] - got[t][v]);
      }
      const auto next = static_cast<std::size_t>(ids.at({0, static_cast<std::int64_t>(t) + 1}));
      surprise -= wanted[t][next];
      surprise_in_blocks -= got[t][next];
      agree +=
          std::ranges::max_element(wanted[t]) - wanted[t].begin() == std::ranges::max_element(got[t]) - got[t].begin();
      ++count;
    }
  }
  const auto all = static_cast<double>(count);
  EXPECT_GT(divergence, 0);
  EXPECT_LT(divergence / all, 5e-3);
  EXPECT_NEAR(surprise_in_blocks / all, surprise / all, 5e-3) << "perplexity within 0.5 %";
  EXPECT_GT(static_cast<double>(agree) / all, 0.96);
}

TEST_F(SmolLm2InBlocks, HasTheSameBitsOnAnyNumberOfThreads) {
  const Model blocks = model_in_blocks();
  const Tensor ids = text(0);
  const int before = threads();
  set_threads(1);
  const auto alone = said_by(blocks, ids);
  set_threads(2);
  EXPECT_EQ(said_by(blocks, ids), alone);
  set_threads(before);
}

// Of 64 tokens that it writes, each after those that it wrote in f32: what it would write over keys and values of other
// types. Whole texts part at the first near tie.
TEST_F(SmolLm2, WritesTheSameOverOtherCaches) {
  constexpr std::int64_t kWritten = 64;
  const Model opened = model();
  const Decoder& decoder = std::get<Decoder>(opened.network());
  const Safetensors wanted = expected();
  std::vector<double> text = wanted.load("ids.0").to_vector();
  const auto prompt = std::ssize(text);
  const std::vector<double> greedy = wanted.load("greedy.0").to_vector();
  text.insert(text.end(), greedy.begin(), greedy.begin() + kWritten);
  const Tensor ids = Tensor(text, {1, std::ssize(text)}).to(DType::i64);
  const NoGradient constant;
  const Tensor exact(decoder.forward(ids).value());
  const auto error_of = [&](const TensorView& scores) { return relative_difference(scores, exact); };
  const double whole = error_of(decoder.forward(ids, {.dtype = DType::bf16}).value());
  for (const auto& [dtype, least] : {std::pair(DType::bf16, 60), {DType::f16, 63}, {DType::i8, 56}}) {
    DecoderCache cache = decoder.make_cache(1, std::ssize(text), dtype);
    const Variable scores = decoder.forward_cached(ids, cache);
    std::int64_t same = 0;
    for (std::int64_t t = 0; t < kWritten; ++t) {
      const std::vector<double> row = scores.value().select(0, 0).select(0, prompt - 1 + t).to_vector();
      same += std::ranges::max_element(row) - row.begin() == static_cast<std::ptrdiff_t>(greedy[t]) ? 1 : 0;
    }
    EXPECT_GE(same, least) << name_of(dtype);
    EXPECT_LT(error_of(scores.value()), 4 * whole) << name_of(dtype);
  }
}

TEST_F(SmolLm2, TalksInItsTemplate) {
  const TextModel talking(model(), (folder() / "model.gguf").string());
  EXPECT_EQ(ChatForm(talking).end_of_turn(), 2);
  Chat chat(talking);
  chat.say({.role = "user", .content = "What is the capital of France?"});
  const WrittenText answer = chat.answer({.draw = {.most = 30}});
  EXPECT_EQ(answer.text, "The capital of France is Paris.");
  EXPECT_EQ(answer.end, WriteEnd::token);
}

}  // namespace
}  // namespace qkv::gguf_models_test
