#include "qkv/error.h"

#include <gtest/gtest.h>

#include "core/said_of.h"

namespace qkv::error_test {
namespace {

TEST(FileError, KnowsTheFile) {
  const FileError error("a.json: model", "expected an object, got 7");
  EXPECT_STREQ(error.what(), "a.json: model: expected an object, got 7");
  EXPECT_EQ(error.place(), "a.json: model");
  const FileError said = FileError::saying("a.npy", "cannot read a.npy: it is a directory");
  EXPECT_STREQ(said.what(), "cannot read a.npy: it is a directory");
  EXPECT_EQ(said.place(), "a.npy");
}

TEST(InvalidArgument, HasThePartsOfItsMessage) {
  const InvalidArgument error("attend", "k", "2, got by heart", "3");
  EXPECT_STREQ(error.what(), "attend: k: expected 2, got by heart, got 3");
  EXPECT_EQ(error.function(), "attend");
  EXPECT_EQ(error.argument(), "k");
  EXPECT_EQ(error.expected(), "2, got by heart");
  EXPECT_EQ(error.got(), "3");
  EXPECT_EQ(error.fault(), "expected 2, got by heart, got 3");
}

TEST(InvalidArgument, ShortensWhatCame) {
  const InvalidArgument quoted("ask", std::string(300, 'x'), "a word", "\"" + std::string(100'000, 'y') + "\"");
  EXPECT_EQ(quoted.got(), "\"" + std::string(79, 'y') + "…\"");
  EXPECT_EQ(quoted.argument(), std::string(80, 'x') + "…");
  std::string letters = "x";
  for (int n = 0; n < 200; ++n) letters += "ä";
  EXPECT_EQ(InvalidArgument("ask", "a", "b", letters).got(), letters.substr(0, 79) + "…");  // no half of a letter
  EXPECT_EQ(InvalidArgument("ask", "a", "b", std::string(200, 'z')).got(), std::string(200, 'z'));
  EXPECT_EQ(InvalidArgument("ask", "a", "a number", "").fault(), "expected a number, got \"\"");
}

TEST(SaidOf, NamesTheCallersArgument) {
  EXPECT_EQ(core::said_of("request", "keys", [] { return 7; }), 7);
  try {
    core::said_of("request", "keys", [] { throw InvalidArgument("attend", "k", "2", "3"); });
    FAIL() << "nothing was thrown";
  } catch (const InvalidArgument& error) {
    EXPECT_STREQ(error.what(), "request: keys: expected 2, got 3");
  }
}

TEST(SaidOf, LeavesOtherErrorsAsTheyAre) {
  EXPECT_THROW(core::said_of("request", "keys", [] { throw Error("unreadable"); }), Error);
}

}  // namespace
}  // namespace qkv::error_test
