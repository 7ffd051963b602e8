#include "qkv/train/checkpoint.h"

#include <gmock/gmock.h>
#include <sys/resource.h>

#include <csignal>

#include "core/error_message.h"
#include "files/temporary_directory.h"
#include "qkv/files.h"
#include "qkv/threads.h"
#include "train/small_model.h"

namespace qkv {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using tests::small_facts;
using tests::small_training;
using tests::SmallModel;
using tests::TemporaryDirectory;

constexpr std::int64_t kSteps = 12;

void train_until(Optimizer& optimizer, const SmallModel& model, std::int64_t last) {
  train(optimizer, model.loss_of_batch(), small_training(kSteps),
        [&](const TrainingStep& step) { return step.step + 1 == last ? Next::stop : Next::go_on; });
}

std::unique_ptr<Optimizer> optimizer_named(const std::string& name, const SmallModel& model) {
  return name == "adamw" ? make_adamw(model.parameters) : make_sgd(model.parameters, {.momentum = 0.9});
}

class Resume : public testing::TestWithParam<const char*> {};

TEST_P(Resume, GoesOnBitForBit) {
  const TemporaryDirectory directory;
  const std::string path = directory / "checkpoint.safetensors";
  for (const int count : {1, 2, 3}) {
    set_threads(count);
    const SmallModel whole;
    train_until(*optimizer_named(GetParam(), whole), whole, kSteps);
    {
      const SmallModel first;
      const auto optimizer = optimizer_named(GetParam(), first);
      train_until(*optimizer, first, 5);
      save_checkpoint(path, *optimizer, small_facts());
    }
    const SmallModel second(40);
    const auto optimizer = optimizer_named(GetParam(), second);
    const Checkpoint checkpoint = Checkpoint::read(path);
    checkpoint.restore(*optimizer, small_facts().model);
    EXPECT_EQ(checkpoint.steps(), 5);
    EXPECT_EQ(optimizer->steps(), 5);
    train_until(*optimizer, second, kSteps);
    EXPECT_EQ(second.numbers(), whole.numbers()) << count << " threads";
  }
  set_threads(1);
}

INSTANTIATE_TEST_SUITE_P(Optimizers, Resume, testing::Values("adamw", "sgd"),
                         [](const auto& name) { return name.param; });

TEST(Checkpoint, OfAModelAloneIsRestoredToo) {
  const TemporaryDirectory directory;
  const std::string path = directory / "model.safetensors";
  const SmallModel model;
  model.parameters[0].value.mutable_value().set({0, 0}, 42);
  save_model(path, model.parameters, small_facts());
  const SmallModel other;
  const Checkpoint checkpoint = Checkpoint::read(path);
  EXPECT_EQ(checkpoint.steps(), 0);
  EXPECT_EQ(checkpoint.facts().model, small_facts().model);
  EXPECT_EQ(checkpoint.facts().run, small_facts().run);
  checkpoint.restore(other.parameters, small_facts().model);
  EXPECT_EQ(other.numbers(), model.numbers());
  // A checkpoint serves as a model; a model is no checkpoint.
  save_checkpoint(path, *make_adamw(model.parameters), small_facts());
  Checkpoint::read(path).restore(other.parameters, small_facts().model);
  EXPECT_EQ(error_message<Error>([&] { checkpoint.restore(*make_adamw(other.parameters), small_facts().model); }),
            path + ": a model without its training, which cannot go on");
}

TEST(Checkpoint, OfAnotherModelIsRefusedWithTheDifferences) {
  const TemporaryDirectory directory;
  const std::string path = directory / "checkpoint.safetensors";
  const SmallModel wide(48);
  CheckpointFacts facts = small_facts();
  facts.model["width"] = "48";
  save_checkpoint(path, *make_adamw(wide.parameters), facts);
  const SmallModel model;
  const std::vector<double> before = model.numbers();
  EXPECT_EQ(
      error_message<Error>([&] { Checkpoint::read(path).restore(model.parameters, small_facts().model); }),
      path +
          ": a checkpoint of another model: width is 48 there, 40 here; up.weight is [48, 6] of f32 there, [40, 6] "
          "of f32 here; up.bias is [48] of f32 there, [40] of f32 here; down.weight is [3, 48] of f32 there, [3, "
          "40] of f32 here");
  EXPECT_THAT(
      error_message<Error>([&] { Checkpoint::read(path).restore(*make_adamw(model.parameters), small_facts().model); }),
      HasSubstr("; optimizer/up.weight/first is [48, 6] of f32 there, [40, 6] of f32 here; and 5 more"));
  EXPECT_EQ(model.numbers(), before);
  const Parameters fewer = {wide.parameters[0], {"extra", Variable::parameter(Tensor(DType::f32, {1}))}};
  EXPECT_EQ(
      error_message<Error>([&] { Checkpoint::read(path).restore(fewer, facts.model); }),
      path +
          ": a checkpoint of another model: extra is not in it; down.weight is not in the model; up.bias is not in "
          "the model");
  EXPECT_THAT(error_message<Error>([&] { Checkpoint::read(path).restore(*make_sgd(wide.parameters), facts.model); }),
              HasSubstr("optimizer is adamw there, sgd here; optimizer/down.weight/first is not in the model"));
}

TEST(Checkpoint, StepsThatAreNoNumberAreAnError) {
  const TemporaryDirectory directory;
  const std::string path = directory / "checkpoint.safetensors";
  write_file(path, encode_safetensors({}, {{"steps", "many"}}));
  EXPECT_EQ(error_message<Error>([&] { static_cast<void>(Checkpoint::read(path)); }),
            path + ": steps: expected a whole number >= 0, got \"many\"");
}

TEST(Checkpoint, AFullDiskIsAnErrorAndTheOldOneLives) {
  const TemporaryDirectory directory;
  const std::string path = directory / "checkpoint.safetensors";
  const SmallModel model;
  const auto optimizer = make_adamw(model.parameters);
  save_checkpoint(path, *optimizer, small_facts());
  const std::vector<double> saved = model.numbers();
  train_until(*optimizer, model, 2);
  rlimit limit{};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &limit), 0);
  const auto before = std::signal(SIGXFSZ, SIG_IGN);
  const rlimit small = {.rlim_cur = 1000, .rlim_max = limit.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &small), 0);
  const std::string message = error_message<Error>([&] { save_checkpoint(path, *optimizer, small_facts()); });
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &limit), 0);
  static_cast<void>(std::signal(SIGXFSZ, before));
  EXPECT_EQ(message, "cannot write " + path + ": File too large");
  EXPECT_EQ(error_message<Error>([&] { save_checkpoint("/dev/full", *optimizer, small_facts()); }),
            "cannot write /dev/full: No space left on device");
  EXPECT_THAT(directory.names(), ElementsAre("checkpoint.safetensors"));
  const SmallModel old;
  Checkpoint::read(path).restore(old.parameters, small_facts().model);
  EXPECT_EQ(old.numbers(), saved);
}

}  // namespace
}  // namespace qkv
