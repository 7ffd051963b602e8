#include <gmock/gmock.h>

#include "core/error_message.h"
#include "files/temporary_directory.h"
#include "qkv/files.h"

namespace qkv::tensor_files_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using tests::TemporaryDirectory;

struct Parsed {
  std::string text;
  std::string file;
  TensorFormat format;
  std::string member;
};

class TensorPaths : public testing::TestWithParam<Parsed> {};

TEST_P(TensorPaths, AreReadByTheirEnding) {
  const TensorPath path = parse_tensor_path(GetParam().text);
  EXPECT_EQ(path.file, GetParam().file);
  EXPECT_EQ(path.format, GetParam().format);
  EXPECT_EQ(path.member, GetParam().member);
}

INSTANTIATE_TEST_SUITE_P(
    All, TensorPaths,
    testing::Values(Parsed{"q.npy", "q.npy", TensorFormat::npy, ""}, Parsed{"a.npz", "a.npz", TensorFormat::npz, ""},
                    Parsed{"a.npz:q", "a.npz", TensorFormat::npz, "q"},
                    Parsed{"a.npz:q.npy", "a.npz:q.npy", TensorFormat::npy, ""},
                    Parsed{"a.safetensors:h.0.q", "a.safetensors", TensorFormat::safetensors, "h.0.q"},
                    Parsed{"old.npz:1/a.safetensors:q", "old.npz:1/a.safetensors", TensorFormat::safetensors, "q"}));

TEST(TensorPaths, RefuseOtherEndings) {
  for (const char* text : {"q.txt", "", "a.npz:", ".npy", ".npz:q"}) {
    EXPECT_THAT(error_message([&] { (void)parse_tensor_path(text); }),
                HasSubstr("expected a name like FILE.npy, FILE.npz:NAME or FILE.safetensors:NAME, got \""))
        << text;
  }
}

const Tensor kOne(std::vector<float>{1}, {1});
const Tensor kTwo(std::vector<float>{2}, {1});

TEST(TensorFiles, RoundTripThroughEveryFormat) {
  const TemporaryDirectory directory;
  for (const char* name : {"a.npy", "a.npz:x", "b.npz", "a.safetensors:x", "b.safetensors"}) {
    write_tensor(directory / name, kTwo);
    EXPECT_THAT(read_tensor(directory / name).to_vector(), ElementsAre(2)) << name;
  }
}

TEST(TensorFiles, PutTensorsOfOneArchiveIntoItTogether) {
  const TemporaryDirectory directory;
  write_tensors(std::vector<NamedView>{{directory / "a.npz:x", kOne}, {directory / "a.npz:y", kTwo}});
  EXPECT_THAT(read_tensor(directory / "a.npz:y").to_vector(), ElementsAre(2));
  EXPECT_THAT(directory.names(), ElementsAre("a.npz"));
  const auto all = read_tensors(directory / "a.npz");
  ASSERT_EQ(all.size(), 2U);
  EXPECT_EQ(all[0].name, "x");
  EXPECT_THAT(all[0].tensor.to_vector(), ElementsAre(1));
}

TEST(TensorFiles, AskWhichMemberIsMeant) {
  const TemporaryDirectory directory;
  for (const std::string& file : std::vector<std::string>{"a.npz", "a.safetensors"}) {
    write_tensors(std::vector<NamedView>{{directory / (file + ":x"), kOne}, {directory / (file + ":y"), kTwo}});
    EXPECT_THAT(error_message([&] { (void)read_tensor(directory / file); }),
                HasSubstr(file + ":NAME, got " + directory / file + ", which holds x, y"));
  }
}

TEST(TensorFiles, RefuseTwoTensorsInOnePlace) {
  const TemporaryDirectory directory;
  for (const char* name : {"a.npy", "a.npz:x"}) {
    const std::vector<NamedView> tensors{{directory / name, kOne}, {directory / name, kTwo}};
    EXPECT_THAT(error_message([&] { write_tensors(tensors); }), HasSubstr("expected a different path for each tensor"));
  }
  EXPECT_THAT(directory.names(), ElementsAre());
}

TEST(TensorFiles, AppearAllOrNone) {
  const TemporaryDirectory directory;
  const std::vector<NamedView> tensors{{directory / "a.npy", kOne}, {directory / "none/b.npy", kTwo}};
  EXPECT_THAT(error_message<Error>([&] { write_tensors(tensors); }), HasSubstr("No such file or directory"));
  EXPECT_THAT(directory.names(), ElementsAre());
}

}  // namespace
}  // namespace qkv::tensor_files_test
