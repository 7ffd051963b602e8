// A command that lies elsewhere than where it was built.
#include <gmock/gmock.h>

#include <filesystem>
#include <string>

#include "core/run_shell.h"
#include "files/temporary_directory.h"
#include "qkv/train/trained_model.h"

namespace qkv::studio::installed_test {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::Not;

std::string said_by(const std::string& command) { return qkv::tests::printed_by(command + " 2>&1"); }

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
