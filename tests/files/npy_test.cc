#include "qkv/npy.h"

#include <gmock/gmock.h>

#include <limits>

#include "core/error_message.h"

namespace qkv::npy_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;

std::vector<std::byte> bytes_of(std::string_view text) {
  const auto bytes = std::as_bytes(std::span(text));
  return {bytes.begin(), bytes.end()};
}

// A file of version 1.0 with this header text and data.
std::vector<std::byte> npy(std::string_view header, std::string_view data = {}) {
  std::string text("\x93NUMPY\x01\x00", 8);
  text += static_cast<char>(header.size() & 0xFFU);
  text += static_cast<char>(header.size() >> 8U);
  return bytes_of(text.append(header).append(data));
}

std::string header(std::string_view descr, std::string_view shape, std::string_view order = "False") {
  return "{'descr': '" + std::string(descr) + "', 'fortran_order': " + std::string(order) +
         ", 'shape': " + std::string(shape) + ", }";
}

using std::string_view_literals::operator""sv;

struct Written {
  std::string_view descr;
  std::string_view data;
  DType dtype;
};

class NpyElements : public testing::TestWithParam<Written> {};

// Each file holds the numbers 1 and 0.
TEST_P(NpyElements, AreRead) {
  const Tensor tensor = decode_npy(npy(header(GetParam().descr, "(2,)"), GetParam().data));
  EXPECT_EQ(tensor.dtype(), GetParam().dtype);
  EXPECT_THAT(tensor.to_vector(), ElementsAre(1, 0));
}

INSTANTIATE_TEST_SUITE_P(
    All, NpyElements,
    testing::Values(Written{"<f8", "\0\0\0\0\0\0\xF0\x3F\0\0\0\0\0\0\0\0"sv, DType::f64},
                    Written{">f8", "\x3F\xF0\0\0\0\0\0\0\0\0\0\0\0\0\0\0"sv, DType::f64},
                    Written{"<f4", "\0\0\x80\x3F\0\0\0\0"sv, DType::f32},
                    Written{">f4", "\x3F\x80\0\0\0\0\0\0"sv, DType::f32},
                    Written{"=f4", "\0\0\x80\x3F\0\0\0\0"sv, DType::f32}, Written{"<f2", "\0\x3C\0\0"sv, DType::f16},
                    Written{">f2", "\x3C\0\0\0"sv, DType::f16}, Written{"<V2", "\x80\x3F\0\0"sv, DType::bf16},
                    Written{"|V2", "\x80\x3F\0\0"sv, DType::bf16},
                    Written{"<i8", "\1\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0"sv, DType::i64},
                    Written{">i8", "\0\0\0\0\0\0\0\1\0\0\0\0\0\0\0\0"sv, DType::i64},
                    Written{"<i4", "\1\0\0\0\0\0\0\0"sv, DType::i32}, Written{">i4", "\0\0\0\1\0\0\0\0"sv, DType::i32},
                    Written{"|i1", "\1\0"sv, DType::i8}, Written{"|u1", "\1\0"sv, DType::u8},
                    Written{"|b1", "\x02\0"sv, DType::b8}, Written{"<b1", "\1\0"sv, DType::b8}));

struct Refused {
  std::string name;
  std::vector<std::byte> bytes;
  std::string message;
};

std::ostream& operator<<(std::ostream& out, const Refused& refused) { return out << refused.name; }

class NpyRefused : public testing::TestWithParam<Refused> {};

TEST_P(NpyRefused, NamesTheFileAndTheFault) {
  const std::string text = error_message<Error>([&] { (void)decode_npy(GetParam().bytes, "q.npy"); });
  EXPECT_THAT(text, StartsWith("q.npy: "));
  EXPECT_THAT(text, HasSubstr(GetParam().message));
}

const std::string kFour(4, '\0');

INSTANTIATE_TEST_SUITE_P(
    All, NpyRefused,
    testing::Values(
        Refused{"empty", {}, "not a .npy file: it does not begin with \\x93NUMPY"},
        Refused{"magic", bytes_of("NUMPY\1\0 and more"), "not a .npy file"},
        Refused{"no_version", bytes_of("\x93NUMPY\1"), "truncated: the .npy version is missing"},
        Refused{"version", bytes_of("\x93NUMPY\4\0\0\0\0\0"sv), "expected .npy version 1.0, 2.0 or 3.0, got 4.0"},
        Refused{"no_length", bytes_of("\x93NUMPY\2\0\0\0"sv), "truncated: the length of the .npy header is missing"},
        Refused{"short_header", bytes_of("\x93NUMPY\1\0\x80\0{}"sv), "the .npy header has 128 bytes, of which 2 are"},
        Refused{"huge_header", bytes_of("\x93NUMPY\2\0\xFF\xFF\xFF\xFF{}"sv), "the .npy header has 4294967295 bytes"},
        Refused{"not_a_dict", npy("[1, 2]"), "malformed .npy header at byte 0: expected '{'"},
        Refused{"unclosed", npy("{'descr': '<f4'"), "at byte 15: expected '}'"},
        Refused{"unclosed_string", npy("{'descr"), "a string does not end"},
        Refused{"missing_key", npy("{'descr': '<f4', 'shape': (1,)}", kFour), "expected the keys 'descr', 'fortran"},
        Refused{"extra_key", npy("{'descr': '<f4', 'order': 1}"), "the key 'order' is not one of"},
        Refused{"twice", npy("{'descr': '<f4', 'descr': '<f4'}"), "the key 'descr' stands there twice"},
        Refused{"after", npy(header("<f4", "(1,)") + " x", kFour), "expected nothing after the dict"},
        Refused{"bool", npy(header("<f4", "(1,)", "1"), kFour), "expected True or False"},
        Refused{"not_a_tuple", npy(header("<f4", "(1)"), kFour), "expected a tuple, whose only number"},
        Refused{"negative", npy(header("<f4", "(-1,)"), kFour), "expected an extent, 0 or more"},
        Refused{"beyond_64_bits", npy(header("<f4", "(99999999999999999999,)")), "an extent is beyond 2^63 - 1"},
        Refused{"too_large", npy(header("<f4", "(4611686018427387904, 2)")), "is too large to be addressed"},
        Refused{"too_large_but_empty", npy(header("<f4", "(4611686018427387904, 8, 0)")), "too large to be addressed"},
        Refused{"rank", npy(header("<f4", "(1,1,1,1,1,1,1,1,1)"), kFour), "expected at most 8 axes, got 9"},
        Refused{"structured", npy("{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (1,)}", kFour),
                "'descr' is a structured type"},
        Refused{"u2", npy(header("<u2", "(2,)"), kFour), "no element type for the .npy descr '<u2'"},
        Refused{"object", npy(header("|O", "(1,)"), kFour), "no element type for the .npy descr '|O'"},
        Refused{"no_order", npy(header("f4", "(1,)"), kFour), "no element type for the .npy descr 'f4'"},
        Refused{"no_descr", npy(header("", "(1,)"), kFour), "no element type for the .npy descr ''"},
        Refused{"unordered", npy(header("|f4", "(1,)"), kFour), "no element type for the .npy descr '|f4'"},
        Refused{"truncated", npy(header("<f4", "(2, 3)"), kFour),
                "truncated: the shape [2, 3] of f32 needs 24 bytes of data, got 4"},
        Refused{"left_over", npy(header("|u1", "(3,)"), kFour), "the shape [3] of u8 needs 3 bytes of data, got 4"}),
    [](const auto& item) { return item.param.name; });

TEST(Npy, ReadsFortranOrderAsDenseRows) {
  const Tensor tensor = decode_npy(npy(header("|u1", "(2, 3)", "True"), "\1\4\2\5\3\6"));
  EXPECT_EQ(tensor.shape(), Shape({2, 3}));
  EXPECT_THAT(tensor.to_vector(), ElementsAre(1, 2, 3, 4, 5, 6));
}

TEST(Npy, ReadsTheVersionsWithLongHeaders) {
  for (const char version : {'\2', '\3'}) {
    const std::string dict = header("|u1", "(2,)");
    std::string text("\x93NUMPY", 6);
    text.append(1, version).append(1, '\0').append(1, static_cast<char>(dict.size())).append(3, '\0');
    EXPECT_THAT(decode_npy(bytes_of(text + dict + "\7\x08")).to_vector(), ElementsAre(7, 8));
  }
}

TEST(Npy, ReadsAnyOrderOfKeysEitherQuoteAndOldLongIntegers) {
  const auto bytes = npy("{\"shape\": (1L, 2), 'fortran_order': False, 'descr': '|u1'}  \n", "\7\x08");
  EXPECT_EQ(decode_npy(bytes).shape(), Shape({1, 2}));
}

TEST(Npy, ReadsAScalarAndAnEmptyArray) {
  EXPECT_THAT(decode_npy(npy(header("|u1", "()"), "\7")).to_vector(), ElementsAre(7));
  EXPECT_EQ(decode_npy(npy(header("<f4", "(2, 0, 3)"))).shape(), Shape({2, 0, 3}));
}

TEST(Npy, WritesWhatNumPyWrites) {
  const Tensor tensor(std::vector<float>{1.0F}, {1});
  const auto bytes = encode_npy(tensor);
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  ASSERT_EQ(text.size(), 128 + 4);
  EXPECT_EQ(text.substr(0, 10), "\x93NUMPY\x01\x00\x76\x00"sv);
  EXPECT_THAT(std::string(text.substr(10)), StartsWith("{'descr': '<f4', 'fortran_order': False, 'shape': (1,), } "));
  EXPECT_EQ(text[127], '\n');
}

class NpyRoundTrip : public testing::TestWithParam<DType> {};

TEST_P(NpyRoundTrip, KeepsTypeShapeAndElementsOfAnyView) {
  const Tensor source = Tensor(std::vector<double>{1, 0, 3, 4, 5, 6}, {1, 2, 3}).to(GetParam());
  const TensorView turned = source.view().transpose(1, 2);
  const Tensor again = decode_npy(encode_npy(turned));
  EXPECT_EQ(again.dtype(), GetParam());
  EXPECT_EQ(again.shape(), Shape({1, 3, 2}));
  EXPECT_EQ(again.to_vector(), turned.to_vector());
}

INSTANTIATE_TEST_SUITE_P(All, NpyRoundTrip,
                         testing::Values(DType::f64, DType::f32, DType::f16, DType::bf16, DType::i64, DType::i32,
                                         DType::i8, DType::u8, DType::b8),
                         [](const auto& item) { return std::string(name_of(item.param)); });

TEST(NpyRoundTrip, KeepsTheExtremesOfI64) {
  const std::vector<std::int64_t> extremes{std::numeric_limits<std::int64_t>::min(),
                                           std::numeric_limits<std::int64_t>::max()};
  const Tensor again = decode_npy(encode_npy(Tensor(extremes, {2})));
  EXPECT_THAT(again.values<std::int64_t>(), testing::ElementsAreArray(extremes));
}

}  // namespace
}  // namespace qkv::npy_test
