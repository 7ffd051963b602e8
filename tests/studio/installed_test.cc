// A command that lies elsewhere than where it was built.
#include <gmock/gmock.h>

#include <array>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <stdexcept>
#include <string>

#include "files/temporary_directory.h"
#include "qkv/train/trained_model.h"

namespace qkv::studio::installed_test {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::Not;

std::string said_by(const std::string& command) {
  const auto close = [](FILE* pipe) { ::pclose(pipe); };
  const std::unique_ptr<FILE, decltype(close)> pipe(::popen((command + " 2>&1").c_str(), "r"), close);
  if (pipe == nullptr) throw std::runtime_error("cannot run " + command);
  std::string text;
  std::array<char, 4096> part{};
  for (std::size_t count = 0; (count = std::fread(part.data(), 1, part.size(), pipe.get())) > 0;) {
    text.append(part.data(), count);
  }
  return text;
}

TEST(InstalledCommand, ReadsTheModelsBesideItAndNoneOfTheTreeItWasBuiltFrom) {
  const qkv::tests::TemporaryDirectory directory;
  fs::create_directories(directory / "bin");
  fs::copy_file(QKV_COMMAND, directory / "bin/qkv");
  const std::string command = "env -u QKV_MODELS " + (directory / "bin/qkv");
  EXPECT_THAT(said_by(command + " explain --model induction abcab"), HasSubstr("there is no box of models"));
  fs::create_directories(directory / "share/qkv/models");
  fs::copy_file(trained_model_path("induction"), directory / "share/qkv/models/own.safetensors");
  EXPECT_THAT(said_by(command + " explain --model own abcab"), Not(HasSubstr("no model")));
  EXPECT_THAT(said_by(command + " explain --model induction abcab"), HasSubstr("the box, which has own"));
  EXPECT_THAT(said_by(std::string("env -u QKV_MODELS ") + QKV_COMMAND + " explain --model induction abcab"),
              Not(HasSubstr("no model")));
}

}  // namespace
}  // namespace qkv::studio::installed_test
