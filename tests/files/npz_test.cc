#include "qkv/npz.h"

#include <gmock/gmock.h>

#include <cstring>

#include "core/error_message.h"
#include "files/temporary_directory.h"

namespace qkv::npz_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using tests::TemporaryDirectory;

const std::string kFixtures = QKV_SOURCE_DIR "/tests/files/fixtures/";

Tensor counted(std::int64_t count) {
  Tensor tensor(DType::f32, {count});
  for (std::int64_t i = 0; i < count; ++i) tensor.set({i}, static_cast<double>(i));
  return tensor;
}

TEST(Npz, RoundTripsItsMembersInOrder) {
  const TemporaryDirectory directory;
  const Tensor q = counted(3);
  const Tensor k = counted(5);
  write_file(directory / "a.npz", encode_npz(std::vector<NamedView>{{"q", q}, {"k.1", k}}));
  EXPECT_THAT(npz_names(directory / "a.npz"), ElementsAre("q", "k.1"));
  EXPECT_EQ(read_npz(directory / "a.npz", "k.1").to_vector(), k.to_vector());
  EXPECT_EQ(read_npz(directory / "a.npz", "q.npy").to_vector(), q.to_vector());
}

TEST(Npz, WritesTheSameBytesForTheSameTensors) {
  const Tensor q = counted(3);
  const std::vector<NamedView> members{{"q", q}};
  EXPECT_EQ(encode_npz(members), encode_npz(members));
}

TEST(Npz, ReadsWhatNumPyStoredAndDeflated) {
  for (const char* name : {"stored.npz", "deflated.npz"}) {
    EXPECT_THAT(npz_names(kFixtures + name), ElementsAre("q", "flags"));
    EXPECT_THAT(read_npz(kFixtures + name, "q").to_vector(), ElementsAre(0, 1, 2, 3, 4, 5));
    EXPECT_THAT(read_npz(kFixtures + name, "flags").to_vector(), ElementsAre(1, 0));
  }
}

TEST(Npz, ListsTheMembersWhereOneIsMissing) {
  const std::string path = kFixtures + "stored.npz";
  EXPECT_EQ(error_message<Error>([&] { (void)read_npz(path, "v"); }),
            path + ": there is no member \"v\"; it holds q, flags");
}

TEST(Npz, NamesWhatIsNoArchive) {
  const TemporaryDirectory directory;
  EXPECT_THAT(error_message<Error>([&] { (void)npz_names(directory / "none.npz"); }),
              HasSubstr("No such file or directory"));
  EXPECT_THAT(error_message<Error>([&] { (void)npz_names(directory.path()); }), HasSubstr("it is a directory"));
  write_file(directory / "text.npz", "hello");
  EXPECT_THAT(error_message<Error>([&] { (void)npz_names(directory / "text.npz"); }),
              HasSubstr("not a readable .npz (zip) file"));
  const auto whole = read_file(kFixtures + "deflated.npz");
  write_file(directory / "cut.npz", std::span(whole).first(whole.size() / 2));
  EXPECT_THAT(error_message<Error>([&] { (void)npz_names(directory / "cut.npz"); }),
              HasSubstr("not a readable .npz (zip) file"));
}

TEST(Npz, NamesAMemberThatIsNoArray) {
  EXPECT_EQ(error_message<Error>([&] { (void)read_npz(kFixtures + "text_member.npz", "note.txt"); }),
            kFixtures + "text_member.npz:note.txt: not a .npy file: it does not begin with \\x93NUMPY");
}

TEST(Npz, RefusesTwoMembersOfOneName) {
  EXPECT_THAT(error_message<Error>([&] { (void)npz_names(kFixtures + "two_of_a_name.npz"); }),
              HasSubstr("two members are named \"q\""));
}

TEST(Npz, RefusesAMemberThatDeclaresMoreThanItsBytesCanHold) {
  EXPECT_THAT(error_message<Error>([&] { (void)read_npz(kFixtures + "declares_too_much.npz", "q"); }),
              HasSubstr("compressed ones can hold"));
}

TEST(Npz, ReadsTheHeaderBeforeItInflates) {
  EXPECT_EQ(error_message<Error>([&] { (void)read_npz(kFixtures + "longer_than_its_header.npz", "q"); }),
            kFixtures + "longer_than_its_header.npz:q: the shape [16] of f32 needs 64 bytes of data, got 1048576");
}

TEST(Npz, RefusesMembersThatOverlap) {
  EXPECT_THAT(error_message<Error>([&] { (void)npz_names(kFixtures + "overlapping.npz"); }),
              HasSubstr("overlapping.npz: its members overlap: the first "));
}

TEST(Npz, OpensOnceAndReadsManyMembers) {
  const TemporaryDirectory directory;
  std::vector<NamedView> members;
  const Tensor tensor = counted(2);
  for (int n = 0; n < 3000; ++n) members.push_back({"member " + std::to_string(n), tensor});
  write_file(directory / "a.npz", encode_npz(members));
  const Npz file(directory / "a.npz");
  EXPECT_EQ(file.names().size(), 3000U);
  EXPECT_EQ(file.bytes(), 3000U * (128 + 8));
  EXPECT_EQ(file.load("member 2999").to_vector(), tensor.to_vector());
  EXPECT_THAT(error_message<Error>([&] { (void)file.load("q"); }), HasSubstr("member 19 and 2980 more"));
}

TEST(Npz, NamesAMemberWhoseBytesWereChanged) {
  const TemporaryDirectory directory;
  const Tensor q = counted(4);
  auto bytes = encode_npz(std::vector<NamedView>{{"q", q}});
  constexpr std::size_t kFirstElement = 30 + 5 + 128;  // the zip's local header and the name, then the .npy header
  bytes[kFirstElement] ^= std::byte{1};
  write_file(directory / "a.npz", bytes);
  EXPECT_THAT(error_message<Error>([&] { (void)read_npz(directory / "a.npz", "q"); }),
              HasSubstr("a.npz:q: unreadable: CRC error"));
}

TEST(Npz, RefusesNamesThatAnArchiveCannotHold) {
  const Tensor tensor = counted(1);
  const auto refusal = [&](std::vector<NamedView> members) {
    return error_message([&] { (void)encode_npz(members); });
  };
  EXPECT_THAT(refusal({{"", tensor}}), HasSubstr("expected a name without '/'"));
  EXPECT_THAT(refusal({{"../q", tensor}}), HasSubstr("expected a name without '/'"));
  EXPECT_THAT(refusal({{"q", tensor}, {"q", tensor}}), HasSubstr("expected each name once, got \"q\""));
}

}  // namespace
}  // namespace qkv::npz_test
