#include "qkv/course/worked.h"

#include <gmock/gmock.h>

#include <cstdlib>
#include <fstream>
#include <set>
#include <sstream>

#include "core/german_numbers.h"
#include "qkv/error.h"
#include "qkv/files.h"

namespace qkv::worked_test {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

constexpr const char* kPage = QKV_SOURCE_DIR "/docs/worked-examples.md";
constexpr std::string_view kMarker = "<!-- From here on: computed. -->\n";

std::string page() {
  std::ifstream file(kPage);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

std::string computed_part() {
  std::string text = "\n## Corrections\n\n" + corrections_markdown() + "\n## Every example\n";
  for (const WorkedExample& example : worked_examples()) text += "\n" + to_markdown(run_worked(example.name));
  return text;
}

TEST(Worked, NamesAreUniqueAndEverySeedIsThere) {
  std::set<std::string> names;
  std::set<std::string> seeds;
  for (const WorkedExample& example : worked_examples()) {
    EXPECT_TRUE(names.insert(example.name).second) << example.name;
    seeds.insert(example.seed.substr(0, 3));
    EXPECT_THAT(example.title, Not(IsEmpty()));
    EXPECT_THAT(example.summary, Not(IsEmpty()));
    EXPECT_THAT(example.place, Not(IsEmpty()));
  }
  EXPECT_THAT(seeds, testing::ElementsAre("000", "001", "002", "003", "004"));
}

// In a program that asks for German numbers "1.93" is still 1.93, and not 1.
TEST(Worked, AgreesInEveryLocale) {
  const auto agreements = [] {
    std::vector<Agreement> all;
    for (const WorkedExample& example : worked_examples()) {
      for (const WorkedClaim& claim : run_worked(example.name).claims) all.push_back(claim.agreement);
    }
    return all;
  };
  const std::vector<Agreement> before = agreements();
  const tests::GermanNumbers german;
  if (!tests::GermanNumbers::in_c())
    GTEST_SKIP() << "the functions of C know no German: the package locales is missing";
  EXPECT_EQ(agreements(), before);
}

TEST(Worked, AWholeNumberOffByOneIsWrongAndNotRounding) {
  const Worked worked = run_worked("lab-toy");
  ASSERT_THAT(worked.claims.front().printed, HasSubstr("[[2, 1, 1]]"));
  EXPECT_EQ(worked.claims.front().agreement, Agreement::wrong);
}

TEST(Worked, WhatDisagreesSaysWhy) {
  for (const WorkedExample& example : worked_examples()) {
    const Worked worked = run_worked(example.name);
    EXPECT_FALSE(worked.claims.empty()) << example.name;
    for (const WorkedClaim& claim : worked.claims) {
      EXPECT_THAT(claim.printed, Not(IsEmpty())) << example.name;
      EXPECT_THAT(claim.computed, Not(IsEmpty())) << example.name;
    }
    for (const WorkedStep& step : worked.steps) {
      for (const WorkedTensor& tensor : step.tensors) EXPECT_LE(tensor.values.rank(), 2) << example.name;
    }
  }
}

TEST(Worked, AnUnknownNameListsTheKnown) {
  try {
    (void)run_worked("lab-toys");
    FAIL();
  } catch (const InvalidArgument& error) {
    EXPECT_EQ(error.argument(), "worked");
    EXPECT_THAT(error.what(), HasSubstr("lab-toy, "));
    EXPECT_THAT(error.what(), HasSubstr("got \"lab-toys\""));
  }
}

TEST(Worked, MarkdownHoldsClaimsAndTables) {
  const std::string text = to_markdown(run_worked("lab-softmax"));
  EXPECT_THAT(text, HasSubstr("| weights |"));
  EXPECT_THAT(text, HasSubstr("| 0.0984 | 0.0030 | 0.8878 | 0.0109 |"));
  EXPECT_THAT(text, HasSubstr("| [0.12, 0.01, 0.85, 0.02] | [0.0984, 0.0030, 0.8878, 0.0109] | wrong |"));
}

// QKV_WRITE_DOCS=1 writes the computed part of the page anew.
TEST(Worked, ThePageIsCurrent) {
  const std::string text = page();
  const std::size_t marker = text.find(kMarker);
  ASSERT_NE(marker, std::string::npos) << kPage;
  const std::size_t begin = marker + kMarker.size();
  if (std::getenv("QKV_WRITE_DOCS") != nullptr) write_file(kPage, text.substr(0, begin) + computed_part());
  EXPECT_EQ(page().substr(begin), computed_part()) << "QKV_WRITE_DOCS=1 test_course writes it anew";
}

}  // namespace
}  // namespace qkv::worked_test
