#include "qkv/study/bottleneck.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "files/temporary_directory.h"
#include "qkv/autograd/softmax.h"
#include "qkv/files.h"

namespace qkv {
namespace {

SequenceToSequence small(Recall recall, DType dtype = DType::f64) {
  Generator generator(3);
  return {{.tokens = 5, .embedding = 4, .width = 6, .recall = recall, .d_k = 3, .dtype = dtype}, generator};
}

Tensor ids_of(std::vector<std::int64_t> ids) {
  const Shape shape = {1, std::ssize(ids)};
  return {ids, shape};
}

class BottleneckModel : public testing::TestWithParam<Recall> {};

// The encoder, the attention and the decoder at once: a fault in any of their gradients shows in some parameter.
TEST_P(BottleneckModel, GradientsAreThoseOfDifferences) {
  const SequenceToSequence model = small(GetParam());
  const Tensor ids = ids_of({1, 4, 0, 2});
  const auto loss = [&] { return cross_entropy(model.forward(ids, ids), ids); };
  backward(loss());
  constexpr double kStep = 1e-5;
  for (const Parameter& one : model.parameters()) {
    const std::vector<double> gradient = Tensor(one.value.gradient()).to_vector();
    for (std::int64_t n = 0; n < one.value.size(); n += 7) {
      double& element = static_cast<double*>(one.value.mutable_value().data())[n];
      const double before = element;
      element = before + kStep;
      const double above = loss().item();
      element = before - kStep;
      const double below = loss().item();
      element = before;
      EXPECT_NEAR(gradient[static_cast<std::size_t>(n)], (above - below) / (2 * kStep), 1e-8) << one.name << " " << n;
    }
  }
}

TEST_P(BottleneckModel, WritesWhatItsScoresSay) {
  const SequenceToSequence model = small(GetParam());
  const Tensor ids = ids_of({3, 3, 1});
  const Written written = model.write(ids);
  const NoGradient constant;
  const Tensor scores(model.forward(ids, written.tokens).value());
  for (std::int64_t t = 0; t < 3; ++t) {
    const auto said = static_cast<std::int64_t>(written.tokens.at({0, t}));
    for (std::int64_t token = 0; token < 5; ++token) EXPECT_LE(scores.at({0, t, token}), scores.at({0, t, said}));
  }
  EXPECT_EQ(written.weights.dim(1), GetParam() == Recall::all_states ? 3 : 0);
  for (std::int64_t t = 0; t < written.weights.dim(1); ++t) {
    double sum = 0;
    for (std::int64_t s = 0; s < 3; ++s) sum += written.weights.at({0, t, s});
    EXPECT_NEAR(sum, 1, 1e-12);
  }
}

INSTANTIATE_TEST_SUITE_P(Both, BottleneckModel, testing::Values(Recall::last_state, Recall::all_states));

TEST(Bottleneck, ModelsHaveTheSameSizeAndSurviveTheirFile) {
  const BottleneckModels models = make_bottleneck_models({});
  const auto vector = static_cast<double>(parameter_count(models.vector.parameters()));
  const auto attention = static_cast<double>(parameter_count(models.attention.parameters()));
  EXPECT_LT(std::abs(vector / attention - 1), 0.05);
  const tests::TemporaryDirectory directory;
  write_bottleneck_models(models, {}, directory / "both");
  const BottleneckModels again = read_bottleneck_models(directory / "both");
  const Tensor ids = bottleneck_ids("abca");
  EXPECT_EQ(again.attention.write(ids).probabilities.to_vector(),
            models.attention.write(ids).probabilities.to_vector());
  EXPECT_EQ(again.vector.options().recall, Recall::last_state);
}

TEST(Bottleneck, TrainingLowersTheLossAndIsAFunctionOfItsSeed) {
  const BottleneckSetup setup = {.longest = 3,
                                 .embedding = 8,
                                 .width = 16,
                                 .vector = 16,
                                 .d_k = 8,
                                 .steps = 60,
                                 .batch = 16,
                                 .learning_rate = 1e-2};
  const auto losses = [&] { return train_bottleneck(make_bottleneck_models(setup), setup, {}); };
  const auto [vector, attention] = losses();
  const double guess = std::log(static_cast<double>(kLetters));
  EXPECT_LT(vector, 0.9 * guess);
  EXPECT_LT(attention, 0.9 * guess);
  EXPECT_EQ(losses(), std::pair(vector, attention));
}

TEST(Bottleneck, TheBoxShowsWhatAttentionDoes) {
  const BottleneckModels models = bottleneck_models_of_the_box();
  const BottleneckScore of_short = measure_bottleneck(models.vector, 4, 64, 9);
  const BottleneckScore of_long = measure_bottleneck(models.vector, 24, 64, 9);
  EXPECT_GT(of_short.letters, 0.97);
  EXPECT_LT(of_long.letters, 0.6);
  EXPECT_GT(measure_bottleneck(models.attention, 24, 64, 9).letters, 0.97);
}

TEST(Bottleneck, TheDocumentSaysWhatTheCardDoes) {
  const auto text_of = [](const std::string& path) {
    const std::vector<std::byte> bytes = read_file(QKV_SOURCE_DIR "/" + path);
    return std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  };
  const auto card = nlohmann::json::parse(text_of("models/bottleneck/card.json"));
  const std::string document = text_of("docs/bottleneck.md");
  const auto percent = [](const nlohmann::json& share) { return fmt::format("{:.1f} %", 100 * share.get<double>()); };
  int rows = 0;
  for (const auto& point : card["lengths"]) {
    const int length = point["length"];
    if (length % 4 != 0) continue;
    ++rows;
    const std::string row = fmt::format("| {} | {} | {} | {} | {} |", length, percent(point["vector"]["letters"]),
                                        percent(point["vector"]["texts"]), percent(point["attention"]["letters"]),
                                        percent(point["attention"]["texts"]));
    EXPECT_NE(document.find(row), std::string::npos) << row;
  }
  EXPECT_EQ(rows, 8);
  const BottleneckModels models = bottleneck_models_of_the_box();
  EXPECT_EQ(parameter_count(models.vector.parameters()), card["parameters"]["vector"]);
  EXPECT_EQ(parameter_count(models.attention.parameters()), card["parameters"]["attention"]);
}

TEST(Bottleneck, AStateDependsOnWhatWasReadAndOnNothingElse) {
  const SequenceToSequence model = small(Recall::last_state);
  const Tensor ids = ids_of({1, 4, 0});
  const Tensor dependence = state_dependence(model, ids);
  for (std::int64_t s = 0; s < 3; ++s) {
    for (std::int64_t t = 0; t < 3; ++t) EXPECT_EQ(dependence.at({s, t}) > 0, t <= s) << s << " " << t;
  }
  // By hand: after the first letter, how far each of the four others moves the state.
  const NoGradient constant;
  const std::vector<double> own = model.encode(ids)[0].value().to_vector();
  double squares = 0;
  for (std::int64_t letter = 0; letter < 5; ++letter) {
    const std::vector<double> other = model.encode(ids_of({letter}))[0].value().to_vector();
    for (std::size_t n = 0; n < own.size(); ++n) squares += (other[n] - own[n]) * (other[n] - own[n]);
  }
  EXPECT_NEAR(dependence.at({0, 0}), std::sqrt(squares / 4), 1e-12);
}

TEST(Bottleneck, RefusesWhatIsNoLetter) {
  EXPECT_THROW(static_cast<void>(bottleneck_ids("a b")), InvalidArgument);
  EXPECT_THROW(static_cast<void>(bottleneck_ids("")), InvalidArgument);
}

}  // namespace
}  // namespace qkv
