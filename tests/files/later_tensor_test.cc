#include "files/later_tensor.h"

#include <gmock/gmock.h>
#include <signal.h>
#include <sys/resource.h>

#include <cmath>
#include <filesystem>
#include <limits>

#include "core/error_message.h"
#include "files/temporary_directory.h"
#include "qkv/files.h"
#include "qkv/safetensors.h"
#include "qkv/written_files.h"

namespace qkv::later_tensor_test {
namespace {

using files::LaterTensor;
using files::StagedFile;
using files::StagedFolder;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using tests::TemporaryDirectory;

LaterTensor tensor_of(std::string name, std::string type, std::vector<float> values, std::vector<std::int64_t> shape) {
  const Tensor tensor(std::move(values), Shape(std::span<const std::int64_t>(shape)));
  return {std::move(name), std::move(type), std::move(shape), [tensor] { return tensor; }};
}

std::vector<float> ramp(std::size_t count) {
  std::vector<float> values(count);
  for (std::size_t n = 0; n < count; ++n) values[n] = static_cast<float>(n) / 8 - 3;
  return values;
}

void write(const std::string& path, const GgufMetadata& metadata, const std::vector<LaterTensor>& tensors) {
  StagedFile file(path);
  files::write_gguf(file, metadata, tensors, nullptr);
  file.finish();
  file.appear();
}

std::string fault_of(const LaterTensor& tensor) {
  const TemporaryDirectory directory;
  return error_message<Error>([&] { write(directory / "m.gguf", {}, {tensor}); });
}

TEST(WriteGguf, IsReadBack) {
  const TemporaryDirectory directory;
  const std::string path = directory / "m.gguf";
  const GgufMetadata metadata = {{"a.u32", {"u32", std::int64_t{4294967295}}},
                                 {"a.i32", {"i32", std::int64_t{-7}}},
                                 {"a.u8", {"u8", std::int64_t{200}}},
                                 {"a.i16", {"i16", std::int64_t{-300}}},
                                 {"a.u64", {"u64", std::int64_t{1} << 40}},
                                 {"a.f32", {"f32", 0.5}},
                                 {"a.f64", {"f64", 0.1}},
                                 {"a.bool", {"bool", true}},
                                 {"a.string", {"string", std::string("caf\xC3\xA9")}},
                                 {"a.texts", {"list of string", std::vector<std::string>{"x", "", "y"}}},
                                 {"a.wholes", {"list of i32", std::vector<std::int64_t>{1, -2}}},
                                 {"a.numbers", {"list of f32", std::vector<double>{0.25, -4}}},
                                 {"a.flags", {"list of bool", std::vector<std::int64_t>{1, 0}}}};
  write(path, metadata,
        {tensor_of("w", "F32", ramp(6), {2, 3}), tensor_of("h", "F16", ramp(5), {5}),
         tensor_of("b", "BF16", ramp(4), {2, 2}), tensor_of("q", "Q8_0", ramp(128), {2, 64})});
  const Gguf file = Gguf::read(path);
  EXPECT_EQ(file.version(), 3);
  for (const auto& [key, value] : metadata) {
    ASSERT_TRUE(file.metadata().contains(key)) << key;
    EXPECT_EQ(file.metadata().at(key).type, value.type) << key;
    EXPECT_EQ(file.metadata().at(key).value, value.value) << key;
  }
  EXPECT_EQ(file.find("w")->shape, (std::vector<std::int64_t>{2, 3}));
  EXPECT_THAT(file.load("w").to_vector(), ElementsAre(-3, -2.875, -2.75, -2.625, -2.5, -2.375));
  EXPECT_THAT(file.load("h").to_vector(), ElementsAre(-3, -2.875, -2.75, -2.625, -2.5));
  EXPECT_EQ(file.load("b").dtype(), DType::bf16);
  EXPECT_EQ(file.find("q")->type, "Q8_0");
  const std::vector<double> back = file.load("q").to_vector();
  const std::vector<float> numbers = ramp(128);
  for (std::size_t n = 0; n < 128; ++n) {
    const double most = 13;  // of all blocks
    EXPECT_LE(std::fabs(back[n] - static_cast<double>(numbers[n])), files::rounding_bound("Q8_0").of(most));
  }
}

TEST(WriteGguf, TellsHowFarItIs) {
  const TemporaryDirectory directory;
  StagedFile file(directory / "m.gguf");
  std::vector<std::pair<std::int64_t, std::int64_t>> told;
  const std::vector<LaterTensor> tensors = {tensor_of("a", "F32", ramp(4), {4}), tensor_of("b", "F16", ramp(4), {4})};
  files::write_gguf(file, {}, tensors, [&](std::int64_t done, std::int64_t all) { told.emplace_back(done, all); });
  EXPECT_THAT(told, ElementsAre(std::pair(16, 24), std::pair(24, 24)));
}

TEST(WriteGguf, NamesWhatATypeDoesNotHold) {
  EXPECT_EQ(fault_of(tensor_of("w", "F16", {1, 70000}, {2})),
            "\"w\": 70000.000000 is among its numbers, which F16 does not hold");
  std::vector<float> broken = ramp(32);
  broken[3] = std::numeric_limits<float>::quiet_NaN();
  EXPECT_THAT(fault_of(tensor_of("w", "Q4_0", broken, {32})), HasSubstr("\"w\": nan is among its numbers"));
  EXPECT_EQ(fault_of(tensor_of("w", "Q4_0", ramp(40), {40})),
            "write_gguf: \"w\": expected rows of whole blocks of 32 for Q4_0, got rows of 40");
  EXPECT_THAT(fault_of(tensor_of("w", "Q4_K", ramp(256), {256})), HasSubstr("expected F64, F32, F16, BF16, Q8_0"));
}

TEST(WriteSafetensors, IsReadBackLargerElementsFirst) {
  const TemporaryDirectory directory;
  const std::string path = directory / "m.safetensors";
  StagedFile file(path);
  const std::vector<LaterTensor> tensors = {tensor_of("a", "F16", ramp(2), {2}), tensor_of("z", "F32", ramp(4), {2, 2}),
                                            tensor_of("b", "BF16", ramp(2), {2})};
  files::write_safetensors(file, {{"word", "what"}}, tensors, nullptr);
  file.finish();
  file.appear();
  const Safetensors read = Safetensors::read(path);
  EXPECT_EQ(read.metadata().at("word"), "what");
  EXPECT_EQ(read.entries().front().name, "z");
  EXPECT_THAT(read.load("z").to_vector(), ElementsAre(-3, -2.875, -2.75, -2.625));
  EXPECT_EQ(read.load("a").dtype(), DType::f16);
  EXPECT_EQ(read.load("b").dtype(), DType::bf16);
}

// As a full disk does, a file that may not grow ends the writing.
TEST(StagedFile, OfADiskThatIsFullLeavesNothing) {
  const TemporaryDirectory directory;
  rlimit before{};
  ::getrlimit(RLIMIT_FSIZE, &before);
  const auto handler = ::signal(SIGXFSZ, SIG_IGN);
  const rlimit small{.rlim_cur = 4096, .rlim_max = before.rlim_max};
  ::setrlimit(RLIMIT_FSIZE, &small);
  const std::string path = directory / "m.gguf";
  const std::string fault =
      error_message<Error>([&] { write(path, {}, {tensor_of("w", "F32", ramp(1 << 14), {1 << 14})}); });
  ::setrlimit(RLIMIT_FSIZE, &before);
  ::signal(SIGXFSZ, handler);
  EXPECT_EQ(fault, "cannot write " + path + ": File too large");
  EXPECT_THAT(directory.names(), IsEmpty());
}

TEST(StagedFolder, AppearsWholeOrNotAtAll) {
  const TemporaryDirectory directory;
  const std::string path = directory / "model";
  {
    StagedFolder folder(path + "/");
    write_file(folder.add("config.json"), "{}");
    EXPECT_EQ(directory.names().size(), 1U);
    EXPECT_FALSE(directory.names().contains("model"));
  }
  EXPECT_THAT(directory.names(), IsEmpty());
  StagedFolder folder(path);
  write_file(folder.add("config.json"), "{}");
  folder.appear();
  EXPECT_THAT(directory.names(), ElementsAre("model"));
  EXPECT_TRUE(std::filesystem::exists(path + "/config.json"));
}

TEST(StagedFolder, LeavesNothingWhereASignalEndsTheProcess) {
  const TemporaryDirectory directory;
  StagedFolder folder(directory / "model");
  write_file(folder.add("config.json"), "{}");
  write_file(folder.add("1_Pooling/config.json"), "{}");
  remove_unfinished_files();
  EXPECT_THAT(directory.names(), IsEmpty());
}

TEST(StagedFolder, ReplacesAnEmptyFolderAlone) {
  const TemporaryDirectory directory;
  std::filesystem::create_directory(directory / "empty");
  StagedFolder(directory / "empty").appear();
  write_file(directory / "empty/a", "a");
  EXPECT_EQ(error_message<Error>([&] { StagedFolder again(directory / "empty"); }),
            "cannot write " + (directory / "empty") + ": it is there already, and a folder is not replaced");
  EXPECT_THAT(directory.names(), ElementsAre("empty"));
}

}  // namespace
}  // namespace qkv::later_tensor_test
