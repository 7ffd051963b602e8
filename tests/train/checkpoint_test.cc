#include "qkv/train/checkpoint.h"

#include <gmock/gmock.h>
#include <sys/resource.h>

#include <csignal>
#include <fstream>

#include "core/error_message.h"
#include "files/temporary_directory.h"
#include "qkv/files.h"
#include "qkv/threads.h"
#include "train/small_model.h"

namespace qkv::checkpoint_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using tests::small_metadata;
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
      save_checkpoint(path, *optimizer, small_metadata());
    }
    const SmallModel second(40);
    const auto optimizer = optimizer_named(GetParam(), second);
    const Checkpoint checkpoint = Checkpoint::read(path);
    checkpoint.restore(*optimizer, small_metadata());
    EXPECT_EQ(checkpoint.steps(), 5);
    EXPECT_EQ(optimizer->steps(), 5);
    train_until(*optimizer, second, kSteps);
    EXPECT_EQ(second.numbers(), whole.numbers()) << count << " threads";
  }
  set_threads(1);
}

INSTANTIATE_TEST_SUITE_P(Optimizers, Resume, testing::Values("adamw", "sgd"),
                         [](const auto& name) { return name.param; });

TEST(Checkpoint, OfAModelAloneCannotGoOn) {
  const TemporaryDirectory directory;
  const std::string path = directory / "model.safetensors";
  const SmallModel model;
  write_file(path, encode_safetensors(std::vector<NamedView>{{"up.bias", model.parameters[1].value.value()}},
                                      small_metadata()));
  const Checkpoint checkpoint = Checkpoint::read(path);
  EXPECT_EQ(checkpoint.steps(), 0);
  EXPECT_THAT(checkpoint.run(), ElementsAre(testing::Pair("seed", "7")));
  EXPECT_EQ(error_message<Error>([&] { checkpoint.restore(*make_adamw(model.parameters), small_metadata()); }),
            path + ": a model without its training, which cannot go on");
}

TEST(Checkpoint, OfAnotherModelIsRefusedWithTheDifferences) {
  const TemporaryDirectory directory;
  const std::string path = directory / "checkpoint.safetensors";
  const SmallModel wide(48);
  std::map<std::string, std::string> wider = small_metadata();
  wider["model.width"] = "48";
  save_checkpoint(path, *make_adamw(wide.parameters), wider);
  const SmallModel model;
  const std::vector<double> before = model.numbers();
  const auto message = [&](Optimizer& optimizer, const std::map<std::string, std::string>& metadata) {
    return error_message<Error>([&] { Checkpoint::read(path).restore(optimizer, metadata); });
  };
  EXPECT_EQ(message(*make_adamw(model.parameters), small_metadata()),
            path +
                ": a checkpoint of another model: width is 48 there, 40 here; up.weight is [48, 6] of f32 there, [40, "
                "6] of f32 here; up.bias is [48] of f32 there, [40] of f32 here; down.weight is [3, 48] of f32 there, "
                "[3, 40] of f32 here; optimizer/up.weight/first is [48, 6] of f32 there, [40, 6] of f32 here; and 5 "
                "more");
  EXPECT_EQ(model.numbers(), before);
  const Parameters fewer = {wide.parameters[0], {"extra", Variable::parameter(Tensor(DType::f32, {1}))}};
  EXPECT_THAT(message(*make_adamw(fewer), wider),
              HasSubstr(": a checkpoint of another model: extra is not in it; optimizer/extra/first is not in it; "
                        "optimizer/extra/second is not in it; down.weight is not in the model; "));
  EXPECT_THAT(message(*make_sgd(wide.parameters), wider),
              HasSubstr("optimizer is adamw there, sgd here; optimizer/down.weight/first is not in the model"));
}

// Of the header, of what tensors and numbers are called, of the numbers themselves and of the checksum.
TEST(Checkpoint, AChangedBitIsAnError) {
  const TemporaryDirectory directory;
  const std::string path = directory / "checkpoint.safetensors";
  const SmallModel model(3);
  const auto optimizer = make_adamw(model.parameters);
  train_until(*optimizer, model, 2);
  save_checkpoint(path, *optimizer, small_metadata());
  Checkpoint::read(path).restore(*optimizer, small_metadata());
  const std::vector<std::byte> whole = read_file(path);
  for (std::size_t bit = 0; bit < 8 * whole.size(); bit += 11) {
    std::vector<std::byte> changed = whole;
    changed[bit / 8] ^= static_cast<std::byte>(1U << bit % 8);
    std::ofstream(path, std::ios::binary)
        .write(reinterpret_cast<const char*>(changed.data()), static_cast<std::streamsize>(changed.size()));
    EXPECT_NE(error_message<Error>([&] { Checkpoint::read(path).restore(*optimizer, small_metadata()); }),
              "nothing was thrown")
        << "bit " << bit;
  }
  std::vector<std::byte> changed = whole;
  changed.back() ^= std::byte{1};
  write_file(path, changed);
  EXPECT_EQ(error_message<Error>([&] { Checkpoint::read(path).restore(*optimizer, small_metadata()); }),
            path + ": damaged: its bytes do not give the checksum that was written with them");
}

TEST(Checkpoint, OfAnEarlierVersionHasNoChecksum) {
  const TemporaryDirectory directory;
  const std::string path = directory / "checkpoint.safetensors";
  const SmallModel model(3);
  const auto optimizer = make_sgd(model.parameters);
  std::vector<NamedView> views;
  for (const Parameter& parameter : model.parameters) views.push_back({parameter.name, parameter.value.value()});
  for (const OptimizerMoment& moment : optimizer->moments())
    views.push_back({"optimizer/" + moment.name, moment.values});
  auto words = small_metadata();
  words.insert({{"optimizer", "sgd"}, {"steps", "4"}});
  write_file(path, encode_safetensors(views, words));
  Checkpoint::read(path).restore(*optimizer, small_metadata());
  EXPECT_EQ(optimizer->steps(), 4);
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
  save_checkpoint(path, *optimizer, small_metadata());
  const std::vector<double> saved = model.numbers();
  train_until(*optimizer, model, 2);
  rlimit limit{};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &limit), 0);
  const auto before = std::signal(SIGXFSZ, SIG_IGN);
  const rlimit small = {.rlim_cur = 1000, .rlim_max = limit.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &small), 0);
  const std::string message = error_message<Error>([&] { save_checkpoint(path, *optimizer, small_metadata()); });
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &limit), 0);
  static_cast<void>(std::signal(SIGXFSZ, before));
  EXPECT_EQ(message, "cannot write " + path + ": File too large");
  EXPECT_EQ(error_message<Error>([&] { save_checkpoint("/dev/full", *optimizer, small_metadata()); }),
            "cannot write /dev/full: No space left on device");
  EXPECT_THAT(directory.names(), ElementsAre("checkpoint.safetensors"));
  const SmallModel old;
  Checkpoint::read(path).restore(*make_adamw(old.parameters), small_metadata());
  EXPECT_EQ(old.numbers(), saved);
}

}  // namespace
}  // namespace qkv::checkpoint_test
