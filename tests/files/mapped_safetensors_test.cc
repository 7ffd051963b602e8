// safetensors files that are mapped: what is read, what is shared and what is copied.
#include <gmock/gmock.h>
#include <sys/stat.h>
#include <unistd.h>

#include <bit>
#include <filesystem>
#include <fstream>

#include "core/error_message.h"
#include "files/temporary_directory.h"
#include "qkv/safetensors.h"

namespace qkv::mapped_safetensors_test {
namespace {

using testing::ElementsAre;
using tests::TemporaryDirectory;

std::string text_of(std::string_view header, std::string_view data) {
  std::string text;
  for (unsigned shift = 0; shift < 64; shift += 8) text += static_cast<char>(header.size() >> shift);
  return text.append(header).append(data);
}

const void* address_of(const Tensor& tensor) { return tensor.data(); }

TEST(MappedSafetensors, TensorsReadTheFileInPlace) {
  const TemporaryDirectory folder;
  const std::string path = folder / "w.safetensors";
  const Tensor written(std::vector<float>{1, 2, 3, 4, 5, 6}, {2, 3});
  write_file(path, encode_safetensors(std::vector<NamedView>{{"w", written}}));
  const Safetensors file = Safetensors::read(path);
  const Tensor first = file.load("w");
  const Tensor second = file.load("w");
  EXPECT_EQ(address_of(first), address_of(second));
  EXPECT_EQ(address_of(Safetensors(file).load("w")), address_of(first));
  EXPECT_FALSE(first.is_private());
  EXPECT_THAT(first.slice(0, 1, 2).to_vector(), ElementsAre(4, 5, 6));
}

TEST(MappedSafetensors, TensorsOutliveTheFileObjectAndTheFilesName) {
  const TemporaryDirectory folder;
  const std::string path = folder / "w.safetensors";
  write_tensor(path, Tensor(std::vector<float>{1, 2}, {2}));
  const Tensor kept = read_tensor(path);
  write_tensor(path, Tensor(std::vector<float>{3, 4}, {2}));
  std::filesystem::remove(path);
  EXPECT_THAT(kept.to_vector(), ElementsAre(1, 2));
}

TEST(MappedSafetensors, WritingToATensorNeverReachesTheFile) {
  const TemporaryDirectory folder;
  const std::string path = folder / "w.safetensors";
  write_tensor(path, Tensor(std::vector<float>{1, 2}, {2}));
  const Safetensors file = Safetensors::read(path);
  Tensor written = file.load("tensor");
  written.set({0}, 9);
  EXPECT_THAT(written.to_vector(), ElementsAre(9, 2));
  EXPECT_THAT(file.load("tensor").to_vector(), ElementsAre(1, 2));
  EXPECT_THAT(read_tensor(path).to_vector(), ElementsAre(1, 2));
}

// The data begins at an odd place.
TEST(MappedSafetensors, WhatLiesUnalignedAndBooleansAreCopied) {
  const std::string_view header = R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]},)"
                                  R"("b":{"dtype":"BOOL","shape":[2],"data_offsets":[4,6]},)"
                                  R"("c":{"dtype":"U8","shape":[1],"data_offsets":[6,7]}} )";
  const TemporaryDirectory folder;
  const std::string path = folder / "odd.safetensors";
  std::string padded(header);
  while ((padded.size() + 8) % 2 == 0) padded += ' ';
  write_file(path, text_of(padded, std::string_view("\x00\x00\x80\x3F\x02\x00\x07", 7)));
  const Safetensors file = Safetensors::read(path);
  EXPECT_TRUE(file.load("a").is_private());
  EXPECT_EQ(file.load("a").at({0}), 1);
  EXPECT_EQ(std::bit_cast<std::uintptr_t>(address_of(file.load("a"))) % alignof(float), 0U);
  EXPECT_TRUE(file.load("b").is_private());
  EXPECT_THAT(file.load("b").to_vector(), ElementsAre(1, 0));
  EXPECT_FALSE(file.load("c").is_private());  // bytes have no alignment
  EXPECT_THAT(file.load("c").to_vector(), ElementsAre(7));
}

TEST(MappedSafetensors, FaultsNameTheFile) {
  const TemporaryDirectory folder;
  const std::string path = folder / "w.safetensors";
  const std::string_view header = R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}})";
  write_file(path, text_of(header, "1234"));
  EXPECT_EQ(error_message<Error>([&] { (void)Safetensors::read(path); }),
            path + ": MetadataIncompleteBuffer: the header describes 8 bytes of data, got 4");
  write_file(path, std::string_view(text_of(header, "")).substr(0, 20));
  EXPECT_EQ(error_message<Error>([&] { (void)Safetensors::read(path); }),
            path + ": InvalidHeaderLength: the header has 54 bytes, of which 12 are there");
  write_file(path, std::string_view());
  EXPECT_EQ(error_message<Error>([&] { (void)Safetensors::read(path); }),
            path + ": HeaderTooSmall: expected at least 8 bytes, got 0");
  EXPECT_EQ(error_message<Error>([&] { (void)Safetensors::read(folder / "none"); }),
            "cannot read " + folder.path() + "/none: No such file or directory");
  EXPECT_EQ(error_message<Error>([&] { (void)Safetensors::read(folder.path()); }),
            "cannot read " + folder.path() + ": it is a directory");
}

std::size_t resident_bytes() {
  std::size_t size = 0;
  std::size_t resident = 0;
  std::ifstream("/proc/self/statm") >> size >> resident;
  return resident * static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
}

TEST(MappedSafetensors, OpensAFileOf10GigabytesWithoutReadingIt) {
  constexpr std::int64_t kCount = 10'000'000'000 / 4;
  std::string header = R"({"w":{"dtype":"F32","shape":[2,)" + std::to_string(kCount / 2) + R"(],"data_offsets":[0,)" +
                       std::to_string(kCount * 4) + "]}}";
  while (header.size() % 8 != 0) header += ' ';
  const TemporaryDirectory folder;
  const std::string path = folder / "large.safetensors";
  write_file(path, text_of(header, ""));
  struct stat state{};
  if (::truncate(path.c_str(), static_cast<off_t>(8 + header.size()) + kCount * 4) != 0 ||
      ::stat(path.c_str(), &state) != 0 || state.st_blocks > 2048) {
    GTEST_SKIP() << "the file system of " << folder.path() << " has no sparse files of 10 GB";
  }
  const std::size_t before = resident_bytes();
  const Safetensors file = Safetensors::read(path);
  const Tensor tensor = file.load("w");
  const Tensor last = tensor.select(0, 1).slice(0, kCount / 2 - 1, kCount / 2);
  EXPECT_THAT(last.to_vector(), ElementsAre(0));
  EXPECT_LT(resident_bytes(), before + (std::size_t{64} << 20U));
}

}  // namespace
}  // namespace qkv::mapped_safetensors_test
