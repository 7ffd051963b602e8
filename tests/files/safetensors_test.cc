#include "qkv/safetensors.h"

#include <gmock/gmock.h>

#include "core/error_message.h"

namespace qkv::safetensors_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;

std::vector<std::byte> file(std::string_view header, std::size_t data_bytes = 0) {
  std::string text(1, static_cast<char>(header.size() & 0xFFU));
  text.append(1, static_cast<char>(header.size() >> 8U)).append(6, '\0').append(header).append(data_bytes, '\0');
  const auto bytes = std::as_bytes(std::span(std::string_view(text)));
  return {bytes.begin(), bytes.end()};
}

struct Refused {
  std::string name;
  std::string header;
  std::size_t data_bytes;
  std::string message;
};

std::ostream& operator<<(std::ostream& out, const Refused& refused) { return out << refused.name; }

class SafetensorsRefused : public testing::TestWithParam<Refused> {};

TEST_P(SafetensorsRefused, NamesTheFileAndTheFault) {
  const std::string text =
      error_message<Error>([&] { (void)Safetensors(file(GetParam().header, GetParam().data_bytes), "w.safetensors"); });
  EXPECT_THAT(text, StartsWith("w.safetensors: " + GetParam().message));
}

INSTANTIATE_TEST_SUITE_P(
    All, SafetensorsRefused,
    testing::Values(
        Refused{"zeros", std::string("{}\0\0", 4), 0,
                "InvalidHeaderDeserialization: a zero byte at byte 2 of the header"},
        Refused{"array", "[]", 0, "InvalidHeaderDeserialization: expected an object"},
        Refused{
            "twice",
            R"({"a":{"dtype":"U8","shape":[0],"data_offsets":[0,0]},"a":{"dtype":"U8","shape":[],"data_offsets":[0,1]}})",
            1, R"(InvalidHeaderDeserialization: the key "a" stands there twice)"},
        Refused{"twice_inside", R"({"a":{"dtype":"U8","dtype":"I8","shape":[0],"data_offsets":[0,0]}})", 0,
                R"(InvalidHeaderDeserialization: the key "dtype" stands there twice)"},
        Refused{"metadata_twice", R"({"__metadata__":{"k":"1","k":"2"}})", 0,
                R"(InvalidHeaderDeserialization: the key "k" stands there twice)"},
        Refused{"metadata_array", R"({"__metadata__":[]})", 0,
                "InvalidHeaderDeserialization: __metadata__: expected an object"},
        Refused{"metadata_number", R"({"__metadata__":{"k":1}})", 0,
                R"(InvalidHeaderDeserialization: __metadata__: expected a string for "k")"},
        Refused{"not_an_object", R"({"a":1})", 0, R"(InvalidHeaderDeserialization: "a" has no "dtype")"},
        Refused{"no_shape", R"({"a":{"dtype":"U8","data_offsets":[0,0]}})", 0,
                R"(InvalidHeaderDeserialization: "a" has no "shape")"},
        Refused{"unknown_dtype", R"({"a":{"dtype":"Q8","shape":[],"data_offsets":[0,1]}})", 1,
                R"(InvalidHeaderDeserialization: "a": expected a dtype of the format, got "Q8")"},
        Refused{"negative_extent", R"({"a":{"dtype":"U8","shape":[-1],"data_offsets":[0,1]}})", 1,
                R"(InvalidHeaderDeserialization: "a": expected whole numbers, 0 or more, in "shape")"},
        Refused{"one_offset", R"({"a":{"dtype":"U8","shape":[],"data_offsets":[0]}})", 1,
                R"(InvalidHeaderDeserialization: "a": expected two data_offsets)"},
        Refused{
            "hole",
            R"({"a":{"dtype":"U8","shape":[],"data_offsets":[0,1]},"b":{"dtype":"U8","shape":[],"data_offsets":[2,3]}})",
            3, R"(InvalidOffset: "b": expected data_offsets that begin at 1, got [2, 3])"},
        Refused{
            "overlap",
            R"({"a":{"dtype":"U8","shape":[2],"data_offsets":[0,2]},"b":{"dtype":"U8","shape":[2],"data_offsets":[1,3]}})",
            3, R"(InvalidOffset: "b": expected data_offsets that begin at 2, got [1, 3])"},
        Refused{"far_end", R"({"a":{"dtype":"U8","shape":[0],"data_offsets":[0,18446744073709551615]}})", 0,
                R"(TensorInvalidInfo: "a")"},
        Refused{"half_a_byte", R"({"a":{"dtype":"F4","shape":[1],"data_offsets":[0,1]}})", 1,
                R"(MisalignedSlice: "a")"}),
    [](const auto& item) { return item.param.name; });

Safetensors with_foreign_types() {
  return Safetensors(file(R"({"a":{"dtype":"F8_E4M3","shape":[1],"data_offsets":[0,1]},)"
                          R"("b":{"dtype":"U8","shape":[1,1,1,1,1,1,1,1,1],"data_offsets":[1,2]},)"
                          R"("c":{"dtype":"BOOL","shape":[2],"data_offsets":[2,4]}})",
                          4),
                     "w");
}

TEST(Safetensors, ListsWhatItCannotLoadAndSaysWhy) {
  const Safetensors tensors = with_foreign_types();
  ASSERT_EQ(tensors.entries().size(), 3U);
  EXPECT_EQ(tensors.entries()[0].dtype, "F8_E4M3");
  EXPECT_EQ(error_message<Error>([&] { (void)tensors.load("a"); }),
            "w: a: qkv has no element type for the safetensors dtype F8_E4M3");
  EXPECT_EQ(error_message<Error>([&] { (void)tensors.load("b"); }), "w: b: expected at most 8 axes, got 9");
  EXPECT_EQ(tensors.load("c").dtype(), DType::b8);
}

TEST(Safetensors, NamesWhatItHoldsWhereATensorIsMissing) {
  EXPECT_EQ(error_message<Error>([&] { (void)with_foreign_types().load("d"); }),
            "w: TensorNotFound: there is no tensor \"d\"; it holds a, b, c");
}

TEST(Safetensors, RoundTripsEveryTypeWithItsMetadata) {
  std::vector<Tensor> tensors;
  std::vector<NamedView> named;
  for (const DType dtype :
       {DType::u8, DType::f64, DType::b8, DType::f32, DType::f16, DType::bf16, DType::i64, DType::i8, DType::i32}) {
    tensors.push_back(Tensor(std::vector<double>{1, 0, 3, 4, 5, 6}, {2, 3}).to(dtype));
  }
  for (const Tensor& tensor : tensors) {
    named.push_back({std::string(name_of(tensor.dtype())), tensor.view().transpose(0, 1)});
  }
  const Safetensors again(encode_safetensors(named, {{"format", "pt"}, {"é", "\"\n"}}));
  EXPECT_THAT(again.metadata(), ElementsAre(testing::Pair("format", "pt"), testing::Pair("é", "\"\n")));
  ASSERT_EQ(again.entries().size(), named.size());
  for (const NamedView& tensor : named) {
    const Tensor loaded = again.load(tensor.name);
    EXPECT_EQ(name_of(loaded.dtype()), tensor.name);
    EXPECT_EQ(loaded.shape(), Shape({3, 2}));
    EXPECT_EQ(loaded.to_vector(), tensor.view.to_vector());
  }
}

TEST(Safetensors, WritesAlignedDataLargestElementsFirst) {
  const Tensor bytes(DType::u8, {3});
  const Tensor doubles(DType::f64, {1});
  const auto written = encode_safetensors(std::vector<NamedView>{{"a", bytes}, {"b", doubles}});
  const Safetensors again(written);
  EXPECT_EQ(again.entries()[0].name, "b");
  EXPECT_EQ((written.size() - 11) % 8, 0U);
}

TEST(Safetensors, RefusesNamesThatTheFormatDoesNotHave) {
  const Tensor tensor(DType::u8, {1});
  const auto refusal = [&](std::vector<NamedView> named) {
    return error_message([&] { (void)encode_safetensors(named); });
  };
  EXPECT_THAT(refusal({{"__metadata__", tensor}}), HasSubstr("got \"__metadata__\""));
  EXPECT_THAT(refusal({{"", tensor}}), HasSubstr("expected a name other than"));
  EXPECT_THAT(refusal({{"\xFF", tensor}}), HasSubstr("expected UTF-8"));
  EXPECT_THAT(refusal({{"a", tensor}, {"a", tensor}}), HasSubstr("expected each name once, got \"a\""));
  EXPECT_THAT(error_message([&] { (void)encode_safetensors({}, {{"k", "\xFF"}}); }),
              HasSubstr("metadata: expected UTF-8"));
}

}  // namespace
}  // namespace qkv::safetensors_test
