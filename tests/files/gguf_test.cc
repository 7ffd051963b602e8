#include "qkv/gguf.h"

#include <gmock/gmock.h>

#include <functional>

#include "core/block_type.h"
#include "core/error_message.h"
#include "files/gguf_bytes.h"
#include "files/temporary_directory.h"
#include "qkv/files.h"

namespace qkv::gguf_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using tests::gguf_number;
using tests::gguf_text;
using tests::GgufBytes;
using tests::TemporaryDirectory;

std::string floats(const std::vector<float>& values) {
  std::string bytes;
  for (const float value : values) bytes += gguf_number(value);
  return bytes;
}

GgufBytes small() {
  GgufBytes file;
  file.text("general.architecture", "llama").u32("llama.block_count", 2).f32("llama.rope.freq_base", 10000);
  file.tensor({"w", 0, {3, 2}, floats({1, 2, 3, 4, 5, 6})});
  return file;
}

std::string fault_of(const std::string& bytes) {
  const auto* first = reinterpret_cast<const std::byte*>(bytes.data());
  return error_message<Error>([&] { static_cast<void>(Gguf({first, first + bytes.size()}, "m.gguf")); });
}

std::string fault_of(const GgufBytes& file) { return fault_of(file.text_of()); }

TEST(Gguf, HasMetadataOfEveryType) {
  GgufBytes file;
  file.add("a.u8", 0, "\xFF").add("a.i8", 1, "\xFF");
  file.add("a.u16", 2, gguf_number<std::uint16_t>(65535)).add("a.i16", 3, gguf_number<std::int16_t>(-2));
  file.u32("a.u32", 4294967295).add("a.i32", 5, gguf_number<std::int32_t>(-3));
  file.f32("a.f32", 0.5).boolean("a.bool", true).text("a.string", "caf\xC3\xA9");
  file.add("a.u64", 10, gguf_number<std::uint64_t>(INT64_MAX)).add("a.i64", 11, gguf_number<std::int64_t>(-4));
  file.add("a.f64", 12, gguf_number(0.25));
  file.texts("a.texts", {"x", "", "y"})
      .numbers<std::int32_t>("a.list", 5, {7, -7})
      .numbers<float>("a.floats", 6, {1.5F});
  const Gguf read(file.bytes());
  const auto value = [&](const char* key) { return read.metadata().at(key).value; };
  const auto whole = [&](const char* key) { return std::get<std::int64_t>(value(key)); };
  EXPECT_EQ(whole("a.u8"), 255);
  EXPECT_EQ(whole("a.i8"), -1);
  EXPECT_EQ(whole("a.u16"), 65535);
  EXPECT_EQ(whole("a.i16"), -2);
  EXPECT_EQ(whole("a.u32"), 4294967295);
  EXPECT_EQ(whole("a.i32"), -3);
  EXPECT_EQ(whole("a.u64"), INT64_MAX);
  EXPECT_EQ(whole("a.i64"), -4);
  EXPECT_EQ(std::get<double>(value("a.f32")), 0.5);
  EXPECT_EQ(std::get<double>(value("a.f64")), 0.25);
  EXPECT_TRUE(std::get<bool>(value("a.bool")));
  EXPECT_EQ(std::get<std::string>(value("a.string")), "caf\xC3\xA9");
  EXPECT_THAT(std::get<std::vector<std::string>>(value("a.texts")), ElementsAre("x", "", "y"));
  EXPECT_THAT(std::get<std::vector<std::int64_t>>(value("a.list")), ElementsAre(7, -7));
  EXPECT_THAT(std::get<std::vector<double>>(value("a.floats")), ElementsAre(1.5));
  EXPECT_EQ(read.metadata().at("a.list").type, "list of i32");
}

TEST(Gguf, ReadsPlainNumbersInPlace) {
  const TemporaryDirectory folder;
  const std::string path = folder / "m.gguf";
  write_file(path, small().text_of());
  const Gguf file = Gguf::read(path);
  EXPECT_EQ(file.version(), 3);
  const Tensor first = file.load("w");
  EXPECT_EQ(first.shape(), (Shape{2, 3}));
  EXPECT_THAT(first.to_vector(), ElementsAre(1, 2, 3, 4, 5, 6));
  EXPECT_EQ(std::as_const(first).data(), std::as_const(static_cast<const Tensor&>(file.load("w"))).data());
  EXPECT_FALSE(first.is_private());
}

TEST(Gguf, ReadsVersion2AndAnotherAlignment) {
  GgufBytes file;
  file.version = 2;
  file.alignment = 8;
  file.u32("general.alignment", 8);
  file.tensor({"a", 0, {1}, floats({1})}).tensor({"b", 0, {1}, floats({2})});
  const Gguf read(file.bytes());
  EXPECT_EQ(read.version(), 2);
  EXPECT_EQ(read.find("b")->begin - read.find("a")->begin, 8U);
  EXPECT_THAT(read.load("b").to_vector(), ElementsAre(2));
}

TEST(Gguf, MakesF32OfBlocks) {
  std::string block = gguf_number<std::uint16_t>(0x3C00) + std::string(32, '\2');  // 1 * 2
  GgufBytes file;
  file.tensor({"w", 8, {32, 2}, block + block});
  const Tensor read = Gguf(file.bytes()).load("w");
  EXPECT_EQ(read.dtype(), DType::f32);
  EXPECT_EQ(read.shape(), (Shape{2, 32}));
  EXPECT_EQ(read.to_vector(), std::vector<double>(64, 2));
}

TEST(Gguf, HasBlocksInPlace) {
  const std::string block = gguf_number<std::uint16_t>(0x3C00) + std::string(32, '\2');
  GgufBytes file;
  file.tensor({"w", 8, {32, 2}, block + block}).tensor({"plain", 0, {1}, floats({1})});
  const TemporaryDirectory folder;
  const std::string path = folder / "m.gguf";
  write_file(path, file.text_of());
  const Gguf read = Gguf::read(path);
  const auto blocks = read.blocks("w");
  ASSERT_TRUE(blocks);
  EXPECT_EQ(blocks->type_name(), "Q8_0");
  EXPECT_EQ(blocks->shape(), (Shape{2, 32}));
  EXPECT_EQ(blocks->blocks().size(), 68U);
  EXPECT_EQ(blocks->blocks().data(), read.blocks("w")->blocks().data());
  EXPECT_FALSE(read.blocks("plain"));
  EXPECT_THAT(error_message<Error>([&] { static_cast<void>(read.blocks("v")); }), HasSubstr("\"v\": there is no such"));
}

TEST(Gguf, NamesATypeThatItDoesNotRead) {
  GgufBytes file;
  file.tensor({"w", 16, {256}, std::string(66, '\0')});
  const Gguf read(file.bytes(), "m.gguf");
  EXPECT_EQ(read.find("w")->type, "IQ2_XXS");
  const std::string fault = error_message<Error>([&] { static_cast<void>(read.load("w")); });
  EXPECT_THAT(fault, testing::StartsWith("m.gguf: \"w\": expected F32, F16, "));
  EXPECT_THAT(fault, testing::EndsWith("or MXFP4, got IQ2_XXS, which qkv does not read"));
  for (const char* type : {"F64", "BF16", "Q4_0", "Q6_K", "IQ4_XS"}) EXPECT_THAT(fault, HasSubstr(type));
  EXPECT_THAT(error_message<Error>([&] { static_cast<void>(read.load("v")); }), HasSubstr("\"v\": there is no such"));
}

std::string part(std::uint16_t number, std::uint16_t count, const std::string& name, float value) {
  GgufBytes file;
  file.add("split.no", 2, gguf_number(number)).add("split.count", 2, gguf_number(count)).u32("split.tensors.count", 2);
  if (number == 0) file.text("general.name", "whole");
  file.tensor({name, 0, {1}, floats({value})});
  return file.text_of();
}

TEST(Gguf, JoinsTheFilesOfASplitModel) {
  const TemporaryDirectory folder;
  const std::string first = folder / "m-00001-of-00002.gguf";
  const std::string second = folder / "m-00002-of-00002.gguf";
  write_file(first, part(0, 2, "a", 1));
  write_file(second, part(1, 2, "b", 2));
  for (const std::string& path : {first, second}) {
    const Gguf file = Gguf::read(path);
    EXPECT_EQ(file.parts(), 2U);
    EXPECT_TRUE(file.metadata().contains("general.name"));
    EXPECT_THAT(file.load("a").to_vector(), ElementsAre(1));
    EXPECT_THAT(file.load("b").to_vector(), ElementsAre(2));
  }
  const auto fault = [&](const std::string& path) {
    return error_message<Error>([&] { static_cast<void>(Gguf::read(path)); });
  };
  write_file(second, part(1, 2, "a", 2));
  EXPECT_THAT(fault(first), HasSubstr("00002-of-00002.gguf: \"a\": expected it in one part, got it in "));
  write_file(second, part(0, 2, "b", 2));
  EXPECT_THAT(fault(first), HasSubstr("00002-of-00002.gguf: split.no: expected 1, got 0"));
  write_file(folder / "other.gguf", part(0, 2, "a", 1));
  EXPECT_THAT(fault(folder / "other.gguf"),
              HasSubstr("split.count: expected a name that ends in -00001-of-00003.gguf"));
  std::filesystem::remove(second);
  EXPECT_THAT(fault(first), HasSubstr("m-00002-of-00002.gguf"));
  EXPECT_THAT(fault_of(part(0, 2, "a", 1)), HasSubstr("split.count: expected one file, got a part of 2"));
}

TEST(Gguf, NamesWhatACutFileLacks) {
  const std::string whole = small().text_of();
  for (std::size_t size = 0; size < whole.size(); ++size) {
    EXPECT_THAT(fault_of(whole.substr(0, size)), testing::StartsWith("m.gguf: ")) << size;
  }
  EXPECT_THAT(fault_of(whole.substr(0, 2)), HasSubstr("its first bytes: expected more bytes, got the end of the file"));
  EXPECT_THAT(fault_of(whole.substr(0, whole.size() - 1)),
              HasSubstr("\"w\": expected its 24 bytes of F32 at place 0, got the end of the file after 23"));
}

TEST(Gguf, RefusesOtherFilesAndVersions) {
  GgufBytes file = small();
  file.version = 1;
  EXPECT_THAT(fault_of(file), HasSubstr("its version: expected 2 or 3, got 1"));
  file.version = 3U << 24U;
  EXPECT_THAT(fault_of(file), HasSubstr("its byte order: expected little-endian, got big-endian"));
  file.magic = "GGML";
  EXPECT_THAT(fault_of(file), HasSubstr("its first bytes: expected GGUF, got others"));
}

TEST(Gguf, RefusesCountsAndLengthsBeyondTheFile) {
  GgufBytes file = small();
  file.pair_count = std::uint64_t{1} << 63U;
  EXPECT_THAT(fault_of(file), HasSubstr("the number of metadata: expected 9223372036854775808 of them, got the "));
  file = small();
  file.tensor_count = std::uint64_t{1} << 63U;
  EXPECT_THAT(fault_of(file), HasSubstr("the number of tensors: expected 9223372036854775808 of them, got the "));
  const std::string huge = gguf_number(std::uint64_t{1} << 40U);
  EXPECT_THAT(fault_of(GgufBytes().add("general.name", 8, huge)),
              HasSubstr("general.name: expected a text of 1099511627776 bytes, got the 0 that are left"));
  EXPECT_THAT(fault_of(GgufBytes().add("a", 9, gguf_number<std::uint32_t>(8) + huge)),
              HasSubstr("a: expected 1099511627776 of them, got the 0 bytes that are left"));
  EXPECT_THAT(fault_of(GgufBytes().add("a", 9, gguf_number<std::uint32_t>(9) + huge)),
              HasSubstr("a: expected 1099511627776 of them, got the 0 bytes that are left"));
  EXPECT_THAT(fault_of(GgufBytes().add("a", 13, "1234")),
              HasSubstr("a: expected a type of value from 0 to 12, got 13"));
  EXPECT_THAT(fault_of(GgufBytes().u32("a", 1).u32("a", 1)), HasSubstr("a: expected each key once, got it twice"));
  EXPECT_THAT(fault_of(GgufBytes().u32("\xFF", 1)), HasSubstr("metadata 1 of 1: expected a name in UTF-8"));
  EXPECT_THAT(fault_of(GgufBytes().u32("", 1234567)), HasSubstr("metadata 1 of 1: expected a name, got an empty one"));
}

TEST(Gguf, RefusesAlignmentsThatAreNone) {
  for (const std::uint32_t alignment : {0U, 3U, 48U}) {
    EXPECT_THAT(fault_of(small().u32("general.alignment", alignment)),
                HasSubstr("general.alignment: expected a power of two, got " + std::to_string(alignment)));
  }
  EXPECT_THAT(fault_of(small().text("general.alignment", "32")),
              HasSubstr("general.alignment: expected a power of two, got a string"));
}

TEST(Gguf, RefusesTensorsThatLie) {
  const auto fault = [](const tests::GgufTensor& tensor, std::uint64_t place) {
    return fault_of(small().tensor_at(tensor, place));
  };
  const std::string data(32, '\0');
  EXPECT_THAT(fault({"v", 99, {1}, data}, 32), HasSubstr("\"v\": expected a type of GGML, got number 99"));
  EXPECT_THAT(fault({"v", 0, {1, 1, 1, 1, 1}, data}, 32), HasSubstr("\"v\": expected at most 4 axes, got 5"));
  EXPECT_THAT(fault({"v", 8, {33}, data}, 32),
              HasSubstr("\"v\": expected rows of whole blocks of 32, as Q8_0 has them, got rows of 33"));
  EXPECT_THAT(fault({"v", 8, {}, data}, 32), HasSubstr("\"v\": expected rows of whole blocks of 32"));
  EXPECT_THAT(fault({"v", 0, {std::uint64_t{1} << 63U}, data}, 32), HasSubstr("\"v\": expected extents below 2^63"));
  const std::uint64_t large = std::uint64_t{1} << 40U;
  EXPECT_THAT(fault({"v", 0, {large, large}, data}, 32), HasSubstr("\"v\": expected a tensor that can be addressed"));
  EXPECT_THAT(fault({"v", 0, {0, large, large}, data}, 32),
              HasSubstr("\"v\": expected a tensor that can be addressed"));
  EXPECT_THAT(fault({"v", 0, {1}, data}, 33), HasSubstr("\"v\": expected a place that is a multiple of 32, got 33"));
  EXPECT_THAT(fault({"v", 0, {1}, data}, large),
              HasSubstr("\"v\": expected its 4 bytes of F32 at place 1099511627776"));
  EXPECT_THAT(fault({"v", 0, {1}, data}, 0),
              HasSubstr("\"v\": expected the 4 bytes of F32 [1] at place 0, got room for 0 before \"w\" at place 0"));
  EXPECT_THAT(fault({"w", 0, {1}, data}, 32), HasSubstr("\"w\": expected each tensor once, got it twice"));
}

// A type or a shape that is not that of the data leaves a gap, or takes of what follows.
TEST(Gguf, HoldsWhatATensorTakesToWhereTheNextBegins) {
  const auto fault = [](std::uint32_t type, std::uint64_t extent, std::size_t behind = 0) {
    GgufBytes file;
    file.tensor({"norm", type, {extent}, std::string(256, '\0')}).tensor({"w", 0, {8}, std::string(32, '\0')});
    file.tensor({"last", type, {extent}, std::string(256 + behind, '\0')});
    return fault_of(file);
  };
  const std::string none = "nothing was thrown";
  EXPECT_EQ(fault(0, 64), none);
  EXPECT_EQ(fault(0, 64, 31), none);  // some files are padded at the end
  EXPECT_EQ(fault(0, 57), none);      // less than an alignment is missing
  EXPECT_EQ(
      fault(1, 64),
      "m.gguf: \"norm\": expected the 128 bytes of F16 [64] at place 0, got room for 256 before \"w\" at place 256");
  EXPECT_THAT(fault(0, 65), HasSubstr("\"norm\": expected the 260 bytes of F32 [65] at place 0, got room for 256"));
  EXPECT_THAT(fault(28, 64), HasSubstr("\"norm\": expected the 512 bytes of F64 [64] at place 0, got room for 256"));
  EXPECT_EQ(fault(0, 64, 32),
            "m.gguf: \"last\": expected the 256 bytes of F32 [64] at place 288, got room for 288 before the end of the "
            "file after 576");
  GgufBytes empty;
  empty.tensor({"none", 0, {0}, ""}).tensor({"w", 0, {8}, std::string(32, '\0')});
  EXPECT_EQ(fault_of(empty), none);
  GgufBytes old;
  old.version = 2;
  old.tensor({"w", 1, {64}, std::string(256, '\0')});
  EXPECT_THAT(fault_of(old), HasSubstr("\"w\": expected the 128 bytes of F16 [64] at place 0, got room for 256"));
}

TEST(Gguf, KeepsWhatItHasNoTypeFor) {
  const auto list = [](std::uint32_t type, std::uint64_t count, const std::string& values) {
    return gguf_number(type) + gguf_number(count) + values;
  };
  GgufBytes file;
  file.add("a.seed", 10, gguf_number(~std::uint64_t{0}));
  file.add("a.seeds", 9, list(10, 2, gguf_number(std::uint64_t{7}) + gguf_number(~std::uint64_t{0})));
  const std::string inner = list(8, 2, gguf_text("x") + gguf_text("")) + list(0, 3, "abc") + list(9, 1, list(6, 0, ""));
  file.add("a.lists", 9, list(9, 3, inner)).u32("a.last", 5);
  const Gguf read(file.bytes());
  const auto value = [&](const char* key) { return read.metadata().at(key); };
  EXPECT_EQ(std::get<GgufOther>(value("a.seed").value).text, "18446744073709551615");
  EXPECT_EQ(value("a.seed").type, "u64");
  EXPECT_EQ(std::get<GgufOther>(value("a.seeds").value).text, "a list of 2 numbers, some from 2^63 on");
  EXPECT_EQ(std::get<GgufOther>(value("a.lists").value).text, "a list of 3 lists");
  EXPECT_EQ(value("a.lists").type, "list of list");
  EXPECT_EQ(std::get<GgufOther>(value("a.lists").value).bytes.size(), inner.size() + 8);
  EXPECT_EQ(std::get<std::int64_t>(value("a.last").value), 5);
  std::string deep = list(0, 0, "");
  for (int depth = 0; depth < 17; ++depth) deep = list(9, 1, deep);
  EXPECT_THAT(fault_of(GgufBytes().add("a", 9, deep)), HasSubstr("a: expected lists in lists at most 16 deep"));
  EXPECT_THAT(fault_of(GgufBytes().add("a", 9, list(9, 1, list(4, 9, "")))),
              HasSubstr("a: expected 9 of them, got the 0 bytes that are left"));
}

}  // namespace
}  // namespace qkv::gguf_test
