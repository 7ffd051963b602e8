// The byte strings that huggingface/safetensors tests itself with: the valid ones load, the others give the named
// error.
#include <gmock/gmock.h>

#include <fstream>
#include <map>

#include "conformance/data_folder.h"
#include "core/error_message.h"
#include "qkv/safetensors.h"

namespace qkv::safetensors_conformance_test {
namespace {

struct Case {
  std::string name;
  std::string error;  // empty: it loads
};

const std::vector<Case> kCases{
    {"test_empty_shapes_allowed_0", ""},
    {"test_deserialization_0", ""},
    {"test_lifetimes_0", ""},
    {"test_metadata_incomplete_buffer_0", "MetadataIncompleteBuffer"},
    {"test_metadata_incomplete_buffer_1", "MetadataIncompleteBuffer"},
    {"test_header_too_large_0", "HeaderTooLarge"},
    {"test_header_too_small_0", "HeaderTooSmall"},
    {"test_invalid_header_length_0", "InvalidHeaderLength"},
    {"test_invalid_header_non_utf8_0", "InvalidHeader"},
    {"test_invalid_header_not_json_0", "InvalidHeaderDeserialization"},
    {"test_whitespace_padded_header_0", ""},
    {"test_whitespace_leading_padded_header_0", ""},
    {"test_zero_sized_tensor_0", ""},
    {"test_invalid_info_0", "TensorInvalidInfo"},
    {"test_validation_overflow_0", "ValidationOverflow"},
    {"test_validation_overflow_1", "ValidationOverflow"},
    {"test_json_attack_0", "InvalidOffset"},
};

std::ostream& operator<<(std::ostream& out, const Case& item) { return out << item.name; }

class SafetensorsConformance : public testing::TestWithParam<Case> {
 protected:
  void SetUp() override {
    const auto folder = conformance::data_folder("safetensors");
    if (!folder) GTEST_SKIP() << conformance::missing_data("safetensors");
    folder_ = *folder;
  }
  std::filesystem::path folder_;
};

TEST_P(SafetensorsConformance, LoadsOrGivesTheNamedError) {
  const std::string path = folder_ / (GetParam().name + ".safetensors");
  if (!GetParam().error.empty()) {
    EXPECT_THAT(error_message<Error>([&] { (void)Safetensors::read(path); }),
                testing::StartsWith(path + ": " + GetParam().error + ": "));
    return;
  }
  const Safetensors file = Safetensors::read(path);
  for (const SafetensorsEntry& entry : file.entries()) {
    const Tensor tensor = file.load(entry.name);
    EXPECT_EQ(tensor.dtype(), DType::i32);
    EXPECT_EQ(tensor.shape(), Shape{std::span<const std::int64_t>(entry.shape)});
    for (const double element : tensor.to_vector()) EXPECT_EQ(element, 0);
  }
}

INSTANTIATE_TEST_SUITE_P(All, SafetensorsConformance, testing::ValuesIn(kCases),
                         [](const auto& item) { return item.param.name; });

using SafetensorsIndex = SafetensorsConformance;

TEST_P(SafetensorsIndex, NamesTheSameError) {
  std::ifstream index(folder_ / "INDEX.txt");
  std::map<std::string, std::string> errors;
  std::string name;
  std::string size;
  std::string error;
  while (index >> name >> size >> error) errors[name] = error == "OK" ? "" : error;
  EXPECT_EQ(errors.size(), kCases.size());
  for (const Case& item : kCases) EXPECT_EQ(errors[item.name + ".safetensors"], item.error);
}

INSTANTIATE_TEST_SUITE_P(Whole, SafetensorsIndex, testing::Values(Case{"INDEX", ""}));

}  // namespace
}  // namespace qkv::safetensors_conformance_test
