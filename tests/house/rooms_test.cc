#include "house/rooms.h"

#include <gmock/gmock.h>

#include <regex>
#include <set>

namespace qkv::house::rooms_test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::Not;

std::vector<std::string> faults_of(const char* path, const char* text) { return violations({path, text}); }

TEST(Rooms, DependDownwardsOnly) {
  std::set<std::string_view> below;
  for (const Room& room : rooms()) {
    for (const std::string_view used : room.may_use) EXPECT_TRUE(below.contains(used)) << room.name << " uses " << used;
    below.insert(room.name);
  }
}

class Folders : public testing::TestWithParam<const char*> {};

TEST_P(Folders, KeepTheOrderOfTheRooms) {
  const std::vector<SourceFile> files = files_below(GetParam(), {".h", ".cc", ".cu"});
  EXPECT_THAT(files, Not(IsEmpty()));
  for (const SourceFile& file : files) EXPECT_THAT(violations(file), IsEmpty());
}

INSTANTIATE_TEST_SUITE_P(Rooms, Folders, testing::Values("include", "src", "apps", "bench", "python"),
                         [](const auto& folder) { return std::string(folder.param); });

TEST(Rooms, EachFolderOfSourcesIsInTheTable) {
  std::set<std::string> names;
  for (const Room& room : rooms()) names.emplace(room.name);
  for (const auto& entry : std::filesystem::directory_iterator(root() / "src")) {
    if (!entry.is_directory()) continue;
    EXPECT_TRUE(names.contains(entry.path().filename().string())) << entry.path();
  }
}

TEST(Rooms, BringNoLibraryThatNoneOfTheirFilesIncludes) {
  for (const Room& room : rooms()) {
    std::string texts;
    for (const SourceFile& file : files_below("src/" + std::string(room.name), {".h", ".cc"})) texts += file.text;
    for (const std::string_view brought : room.brings) {
      const std::regex include("#\\s*include\\s*[<\"]" + std::string(brought));
      EXPECT_TRUE(std::regex_search(texts, include)) << room.name << " brings " << brought;
    }
  }
}

TEST(Rooms, CatchARoomThatLooksUpwards) {
  EXPECT_THAT(faults_of("src/mask/a.cc", "#include \"core/element.h\"\n#include \"attention/validate.h\"\n"),
              ElementsAre("src/mask/a.cc:2: attention/validate.h: mask may not use attention"));
  EXPECT_THAT(faults_of("src/core/a.h", "#include \"qkv/mask.h\"\n"),
              ElementsAre("src/core/a.h:1: qkv/mask.h: core may not use mask"));
  EXPECT_THAT(faults_of("include/qkv/mask.h", "#include \"qkv/attention.h\"\n"),
              ElementsAre("include/qkv/mask.h:1: qkv/attention.h: mask may not use attention"));
}

TEST(Rooms, CatchTrainingBelowAndBesideItsFolders) {
  EXPECT_THAT(faults_of("src/insight/a.cc", "#include \"qkv/train/task.h\"\n"),
              ElementsAre("src/insight/a.cc:1: qkv/train/task.h: insight may not use train"));
  EXPECT_THAT(faults_of("src/api/probe/a.cc", "#include \"qkv/train/task.h\"\n"),
              ElementsAre("src/api/probe/a.cc:1: qkv/train/task.h: api may not use train"));
  EXPECT_THAT(faults_of("src/api/task/a.cc", "#include \"qkv/train/task.h\"\n"), IsEmpty());
}

// Whoever else treats kinds of models differently asks for their traits, so that a new kind has them alone to say.
TEST(Kinds, AreNamedAboveModelsAsADefaultAlone) {
  const std::set<std::string> defaults = {"include/qkv/train/task_model.h"};
  std::set<std::string> found;
  for (const char* folder : {"include", "src", "apps", "bench", "python"}) {
    for (const SourceFile& file : files_below(folder, {".h", ".cc"})) {
      const bool is_of_models = file.path.native().starts_with("src/model/");
      if (!is_of_models && file.text.find("kind_of<") != std::string::npos) found.insert(file.path.string());
    }
  }
  EXPECT_THAT(found, testing::ContainerEq(defaults));
}

TEST(Kinds, AreToldApartByTheirOwnFilesAlone) {
  const std::regex asked(R"((get_if|holds_alternative|get)<(Decoder|Encoder|EncoderDecoder|Captioner|TwoTower)>)");
  std::set<std::string> found;
  for (const char* folder : {"include", "src", "apps", "bench", "python"}) {
    for (const SourceFile& file : files_below(folder, {".h", ".cc"})) {
      const bool is_of_kinds = file.path.native().starts_with("src/model/kinds/");
      if (!is_of_kinds && std::regex_search(file.text, asked)) found.insert(file.path.string());
    }
  }
  EXPECT_THAT(found, IsEmpty()) << "ask KindTraits, Model::parts() or another function that each Kind has";
}

TEST(Rooms, CatchAForeignHeaderInAPublicOne) {
  for (const char* header : {"<immintrin.h>", "<cuda_runtime.h>", "<nlohmann/json.hpp>", "<fmt/core.h>", "<Python.h>",
                             "\"core/element.h\""}) {
    EXPECT_THAT(faults_of("include/qkv/tensor.h", ("#include " + std::string(header)).c_str()), testing::SizeIs(1))
        << header;
  }
  EXPECT_THAT(faults_of("include/qkv/tensor.h", "#include <vector>\n#include \"qkv/dtype.h\"\n"), IsEmpty());
}

TEST(Rooms, CatchALibraryThatTheRoomDoesNotBring) {
  EXPECT_THAT(faults_of("src/mask/a.cc", "#include <cairo.h>\n"),
              ElementsAre("src/mask/a.cc:1: cairo.h: mask does not bring this library"));
  EXPECT_THAT(faults_of("src/picture/a.cc", "#include <cairo-svg.h>\n"), IsEmpty());
}

TEST(Rooms, CatchAnAppBehindThePublicHeaders) {
  EXPECT_THAT(faults_of("apps/cli/a.cc", "  #  include \"core/element.h\"\n"),
              ElementsAre("apps/cli/a.cc:1: core/element.h: an app uses the public headers only"));
  EXPECT_THAT(faults_of("python/src/a.cc", "#include \"mask/node.h\"\n"),
              ElementsAre("python/src/a.cc:1: mask/node.h: the Python package uses the public headers only"));
  EXPECT_THAT(faults_of("bench/a.cc", "#include \"kernels/problem.h\"\n"),
              ElementsAre("bench/a.cc:1: kernels/problem.h: a benchmark uses the public headers only"));
  EXPECT_THAT(faults_of("apps/cli/a.cc", "#include \"command.h\"\n#include \"qkv/mask.h\"\n"), IsEmpty());
}

TEST(Rooms, CatchWhatTheTableDoesNotKnow) {
  EXPECT_THAT(faults_of("src/attic/a.cc", "#include <vector>\n"),
              ElementsAre("src/attic/a.cc:1: a file of no room that the table knows"));
  EXPECT_THAT(faults_of("src/core/a.cc", "#include \"qkv/attic.h\"\n"),
              ElementsAre("src/core/a.cc:1: qkv/attic.h: a public header that the table of rooms does not know"));
}

}  // namespace
}  // namespace qkv::house::rooms_test
