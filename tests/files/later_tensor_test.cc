#include "files/later_tensor.h"

#include <gmock/gmock.h>

#include <cmath>
#include <limits>

#include "core/error_message.h"
#include "files/temporary_directory.h"
#include "qkv/safetensors.h"

namespace qkv::later_tensor_test {
namespace {

using files::LaterTensor;
using files::StagedFile;
using testing::ElementsAre;
using testing::HasSubstr;
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

std::vector<std::byte> bytes_of_ones(std::size_t count) { return {count, std::byte{0xFF}}; }

// A count, the type of what is in the list, and how many.
std::vector<std::byte> one_empty_list() {
  std::vector<std::byte> bytes(8 + 4 + 8);
  bytes.front() = std::byte{1};
  bytes[8] = std::byte{4};
  return bytes;
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
                                 {"a.flags", {"list of bool", std::vector<std::int64_t>{1, 0}}},
                                 {"a.seed", {"u64", GgufOther{"18446744073709551615", bytes_of_ones(8)}}},
                                 {"a.lists", {"list of list", GgufOther{"a list of 1 list", one_empty_list()}}}};
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

TEST(WriteSafetensors, HoldsPlainTypesAlone) {
  const TemporaryDirectory directory;
  StagedFile file(directory / "m.safetensors");
  const Tensor flags(std::vector<bool>{true, false, true}, {3});
  const LaterTensor mask{"mask", "BOOL", {3}, [flags] { return flags; }};
  EXPECT_EQ(files::bytes_of(mask), 3);
  files::write_safetensors(file, {}, std::vector{mask}, nullptr);
  file.finish();
  file.appear();
  const Safetensors read = Safetensors::read(directory / "m.safetensors");
  EXPECT_EQ(read.load("mask").dtype(), DType::b8);
  EXPECT_THAT(read.load("mask").to_vector(), ElementsAre(1, 0, 1));
  StagedFile other(directory / "q.safetensors");
  const std::vector<LaterTensor> blocks = {tensor_of("w", "Q8_0", ramp(32), {32})};
  EXPECT_EQ(error_message<Error>([&] { files::write_safetensors(other, {}, blocks, nullptr); }),
            "write_safetensors: \"w\": expected F64, F32, F16, BF16, I64, I32, I8, U8 or BOOL, got Q8_0");
  EXPECT_THAT(fault_of(mask), HasSubstr("write_gguf: \"mask\": expected F64, F32"));
}

}  // namespace
}  // namespace qkv::later_tensor_test
