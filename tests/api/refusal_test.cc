// Errors of files, said of the field that gave the path.
#include "qkv/api/refusal.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace qkv::refusal_test {
namespace {

const std::vector<FieldInfo> kFields = {{.name = "model"},
                                        {.name = "file"},
                                        {.name = "out"},
                                        {.name = "texts", .type = FieldType::texts},
                                        {.name = "text", .form = "TEXT"},
                                        {.name = "kind", .words = {"a"}}};

// "field: message" of an error in an answer to a request with these texts.
template <class Fault>
std::string said(const Fault& error, const std::vector<std::pair<std::size_t, FieldValue>>& values) {
  try {
    answered_for(kFields, values, [&] { throw error; });
  } catch (const Error& refused) {
    const Refusal refusal = refusal_of(refused);
    return refusal.field + ": " + refusal.message;
  }
  return "";
}

TEST(Refusal, OfAFileNamesTheFieldOfItsPath) {
  const FieldValues values = {{0, "a"}, {1, "a/b"}, {2, "c/"}, {3, std::vector<std::string>{"d", "e.npz:q"}},
                              {4, "f"}, {5, "a"}};
  EXPECT_EQ(said(FileError("a", "damaged"), values), "model: a: damaged");
  EXPECT_EQ(said(FileError("a/config.json: heads", "none"), values), "model: a/config.json: heads: none");
  EXPECT_EQ(said(FileError("a/b, line 3", "none"), values), "file: a/b, line 3: none")
      << "not of `model`, in which it lies";
  EXPECT_EQ(said(FileError::saying("c/x.npy", "cannot write c/x.npy: full"), values),
            "out: cannot write c/x.npy: full");
  EXPECT_EQ(said(FileError("e.npz:q", "truncated"), values), "texts: e.npz:q: truncated");
  EXPECT_EQ(said(FileError("e.npz", "damaged"), values), "texts: e.npz: damaged");
}

TEST(Refusal, OfAnotherFileNamesNoField) {
  const FieldValues values = {{0, "a"}, {4, "f"}, {5, "a"}};
  EXPECT_EQ(said(FileError("ab", "damaged"), values), ": ab: damaged");
  EXPECT_EQ(said(FileError("f", "damaged"), values), ": f: damaged") << "a text is no path";
  EXPECT_EQ(said(Error("a: in words alone"), values), ": a: in words alone");
}

TEST(Refusal, OfAPathNamesTheFieldThatHasIt) {
  const InvalidArgument error("parse_tensor_path", "path", "a name like FILE.npy", "\"x.txt\"");
  EXPECT_EQ(said(error, {{0, "y.txt"}, {2, "x.txt"}}), "out: expected a name like FILE.npy, got \"x.txt\"");
}

TEST(Refusal, OfAnArgumentNamesTheFieldThatTellsIt) {
  std::vector<FieldInfo> fields = kFields;
  fields[1].arguments = fields[4].arguments = {"texts"};
  const auto named = [&](const FieldValues& values) -> std::string {
    try {
      answered_for(fields, values, [] { throw InvalidArgument("head_texts", "texts[2]", "a token or more", "none"); });
    } catch (const InvalidArgument& refused) {
      return refused.argument();
    }
    return "nothing";
  };
  EXPECT_EQ(named({{1, "a"}}), fields[1].name);
  EXPECT_EQ(named({{4, "b"}, {1, "a"}}), fields[4].name);
  EXPECT_EQ(named({{0, "a"}}), fields[1].name) << "its default is at fault";
}

}  // namespace
}  // namespace qkv::refusal_test
