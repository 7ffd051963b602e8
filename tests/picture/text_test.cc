#include "picture/text.h"

#include <gmock/gmock.h>

#include "qkv/picture/terminal.h"

namespace qkv::text_test {
namespace {

TEST(DisplayWidth, CountsColumns) {
  EXPECT_EQ(display_width(""), 0);
  EXPECT_EQ(display_width("cat"), 3);
  EXPECT_EQ(display_width("héllo"), 5);
  EXPECT_EQ(display_width("日本語"), 6);
  EXPECT_EQ(display_width("한국"), 4);
  EXPECT_EQ(display_width("ｆｕｌｌ"), 8);
  EXPECT_EQ(display_width("🙂"), 2);
  EXPECT_EQ(display_width("e\u0301"), 1);
  EXPECT_EQ(display_width("Ġthe"), 4);
}

TEST(FitToWidth, CutsWithAnEllipsis) {
  EXPECT_EQ(fit_to_width("attention", 9), "attention");
  EXPECT_EQ(fit_to_width("attention", 5), "atte…");
  EXPECT_EQ(fit_to_width("attention", 5, ".."), "att..");
  EXPECT_EQ(fit_to_width("attention", 0), "");
}

TEST(FitToWidth, NeverSplitsAWideCharacterOrLosesItsMark) {
  EXPECT_EQ(fit_to_width("日本語", 4), "日…");  // 本 would end one column too far
  EXPECT_EQ(fit_to_width("e\u0301e\u0301e\u0301", 2), "e\u0301…");
}

TEST(OneLine, ShowsWhatWouldBreakALine) {
  EXPECT_EQ(one_line("a\nb\tc\rd"), "a\\nb\\tc\\rd");
  EXPECT_EQ(one_line("\x1b[31mred"), "\\x1b[31mred");
  EXPECT_EQ(one_line("a\u202Eb"), "a\\u202eb");  // NOLINT(misc-misleading-bidirectional)
  EXPECT_EQ(one_line(std::string_view("\0", 1)), "\\x00");
}

TEST(OneLine, ReplacesWhatIsNoUtf8) {
  EXPECT_EQ(one_line("a\xff"
                     "b"),
            "a\uFFFDb");
  EXPECT_EQ(one_line("\xe6\x97"), "\uFFFD");
}

TEST(Padded, SetsTextInAField) {
  using picture::padded;
  using picture::Side;
  EXPECT_EQ(padded("語", 5, Side::left), "語   ");
  EXPECT_EQ(padded("語", 5, Side::right), "   語");
  EXPECT_EQ(padded("語", 5, Side::centre), " 語  ");
  EXPECT_EQ(padded("long", 2, Side::right), "long");
}

}  // namespace
}  // namespace qkv::text_test
