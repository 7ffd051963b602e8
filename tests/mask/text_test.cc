// The text form: what it reads, what it writes, and what it says about everything else.
#include <gmock/gmock.h>

#include "core/nearest_word.h"
#include "qkv/bias.h"
#include "qkv/mask.h"
#include "qkv/tile_plan.h"

namespace qkv::text_test {
namespace {

using testing::EndsWith;
using testing::HasSubstr;
using testing::StartsWith;

std::string mask_error(std::string_view text) {
  try {
    return "read as " + parse_mask(text).to_string();
  } catch (const MaskSyntaxError& error) {
    return error.what();
  }
}

std::string bias_error(std::string_view text) {
  try {
    return "read as " + parse_bias(text).to_string();
  } catch (const MaskSyntaxError& error) {
    return error.what();
  }
}

struct Spelling {
  std::string text;
  std::string canonical;
};

TEST(MaskText, WritesEachWordInItsShortestForm) {
  const std::vector<Spelling> spellings{
      {"all", "all"},
      {" none ", "none"},
      {"causal()", "causal"},
      {"causal(bottom_right)", "causal"},
      {"causal(top_left)", "causal(top_left)"},
      {"causal(offset=3)", "causal(offset=3)"},
      {"causal(offset = -3, top_left)", "causal(top_left, offset=-3)"},
      {"causal(top_left, offset=[2, 3])", "causal(top_left, offset=[2, 3])"},
      {"window(512)", "window(512)"},
      {"window(left=4, right=0)", "window(left=4, right=0)"},
      {"window(right=3, left=3)", "window(4)"},
      {"window(left=4, top_left)", "window(left=4, top_left)"},
      {"prefix(7)", "prefix(7)"},
      {"documents(3, 5, 2)", "documents(3, 5, 2)"},
      {"documents(3, 5, top_left)", "documents(3, 5, top_left)"},
      {"keys(5, 3)", "keys(5, 3)"},
      {"strided(4)", "strided(4)"},
      {"dilated(3, 2)", "dilated(3, 2)"},
      {"global(4)", "global(4)"},
      {"global(at=[17, 0])", "global(at=[0, 17])"},
      {"global(at=[1, 0])", "global(2)"},
      {"blocks(64, [[1,0],[1,1]])", "blocks(64, [[1, 0], [1, 1]])"},
      {"blocks(2, [[[1]], [[0]]])", "blocks(2, [[[1]], [[0]]])"},
      {"dense([[1,0],[1,1]])", "dense([[1, 0], [1, 1]])"},
      {"!!all", "all"},
      {"!(!causal)", "causal"},
      {"((causal))", "causal"},
  };
  for (const Spelling& spelling : spellings) {
    EXPECT_EQ(parse_mask(spelling.text).to_string(), spelling.canonical) << spelling.text;
    EXPECT_EQ(parse_mask(spelling.canonical).to_string(), spelling.canonical);
  }
}

TEST(MaskText, BindsNotBeforeAndBeforeOr) {
  EXPECT_EQ(parse_mask("causal & window(512) | global(4)").to_string(), "causal & window(512) | global(4)");
  EXPECT_EQ(parse_mask("causal&(window(512)|global(4))").to_string(), "causal & (window(512) | global(4))");
  EXPECT_EQ(parse_mask("!causal & none").to_string(), "!causal & none");
  EXPECT_EQ(parse_mask("!(causal & none)").to_string(), "!(causal & none)");
  EXPECT_EQ(((!(causal() | none())) & prefix(1)).to_string(), "!(causal | none) & prefix(1)");
  EXPECT_EQ(((causal() & none()) & prefix(1)).to_string(), "causal & none & prefix(1)");
}

TEST(MaskText, PrintsLargeArraysAsASummary) {
  EXPECT_EQ(dense(Tensor(DType::b8, {8, 8})).to_string().substr(0, 9), "dense([[0");
  EXPECT_EQ(dense(Tensor(DType::b8, {5, 13})).to_string(), "dense(<b8 [5, 13]>)");
  EXPECT_THAT(mask_error("dense(<b8 [5, 13]>)"), HasSubstr("column 7: expected a number or `[`, got `<`"));
}

TEST(MaskText, PointsAtTheColumnAndGuessesTheWord) {
  EXPECT_EQ(mask_error("causal & windw(512)"),
            "parse_mask: column 10: expected a mask (all, none, causal, …), got `windw`; did you mean `window`?\n"
            "  causal & windw(512)\n"
            "           ^");
  EXPECT_THAT(mask_error("CAUSAL"), HasSubstr("did you mean `causal`?"));
  EXPECT_THAT(mask_error("block_sparse(2, [[1]])"), HasSubstr("did you mean `blocks`?"));
  EXPECT_THAT(mask_error("key_lengths(3)"), HasSubstr("did you mean `keys`?"));
  EXPECT_THAT(mask_error("global_tokens(3)"), HasSubstr("did you mean `global`?"));
  EXPECT_THAT(mask_error("causl"), HasSubstr("did you mean `causal`?"));
  EXPECT_THAT(mask_error("xyzzy"), HasSubstr("got `xyzzy`; `qkv mask` lists all words\n"));
}

TEST(MaskText, TellsWhatIsMissing) {
  EXPECT_EQ(mask_error(""),
            "parse_mask: column 1: expected a mask (all, none, causal, …), got the end of the text\n"
            "  \n"
            "  ^");
  EXPECT_THAT(mask_error("causal &"), HasSubstr("column 9: expected a mask (all, none, causal, …), got the end"));
  EXPECT_THAT(mask_error("(causal"), HasSubstr("column 8: expected `&`, `|` or `)`, got the end of the text"));
  EXPECT_THAT(mask_error("window(5"), HasSubstr("column 9: expected `,` or `)`, got the end of the text"));
  EXPECT_THAT(mask_error("causal window(5)"),
              HasSubstr("column 8: expected `&`, `|` or the end of the text, got `window`"));
  EXPECT_THAT(mask_error("causal)"), HasSubstr("column 7: expected `&`, `|` or the end of the text, got `)`"));
  EXPECT_THAT(mask_error("causal && none"), HasSubstr("column 9: expected a mask (all, none, causal, …), got `&`"));
  EXPECT_THAT(mask_error("512"), HasSubstr("column 1: expected a mask (all, none, causal, …), got `512`"));
}

TEST(MaskText, CountsArguments) {
  EXPECT_THAT(mask_error("window"),
              HasSubstr("column 1: expected `window(width)` or `window(left=n, right=n)`, got none"));
  EXPECT_THAT(mask_error("window(1, 2)"),
              HasSubstr("column 11: expected `window(width)` or `window(left=n, right=n)`, got `2`"));
  EXPECT_THAT(mask_error("all(3)"), HasSubstr("column 5: expected `all`, got `3`"));
  EXPECT_THAT(mask_error("dilated(3)"),
              HasSubstr("column 1: expected `dilated(width, dilation)`, got 1 of its values"));
  EXPECT_THAT(mask_error("keys()"), HasSubstr("column 1: expected `keys(length, …)`, got none of its values"));
  EXPECT_THAT(mask_error("documents"), HasSubstr("expected `documents(length, …)`, got none of its values"));
  EXPECT_THAT(mask_error("window(3, left=2)"), HasSubstr("got both a width and a side"));
  EXPECT_THAT(mask_error("global(3, at=[2])"), HasSubstr("got both a count and positions"));
}

TEST(MaskText, KnowsTheNamesOfArguments) {
  EXPECT_THAT(mask_error("causal(ofset=3)"), HasSubstr("column 8: expected `causal`, `causal(top_left)` or "
                                                       "`causal(offset=n)`, got `ofset`; did you mean `offset`?"));
  EXPECT_THAT(mask_error("causal(topleft)"), HasSubstr("column 8: expected `causal`, `causal(top_left)` or "
                                                       "`causal(offset=n)`, got `topleft`; did you mean `top_left`?"));
  EXPECT_THAT(mask_error("prefix(3, top_left)"), HasSubstr("column 11: expected `prefix(length)`, got `top_left`"));
  EXPECT_THAT(mask_error("causal(offset=1, offset=2)"),
              HasSubstr("column 18: expected each argument once, got `offset` again"));
  EXPECT_THAT(mask_error("causal(top_left, top_left)"),
              HasSubstr("column 18: expected each argument once, got `top_left` again"));
  EXPECT_THAT(mask_error("causal(top_left, bottom_right)"), HasSubstr("got both `top_left` and `bottom_right`"));
  EXPECT_THAT(mask_error("causal(offset=)"), HasSubstr("column 15: expected a number or `[`, got `)`"));
}

TEST(MaskText, ChecksNumbers) {
  EXPECT_THAT(mask_error("window(0)"), HasSubstr("column 8: expected a whole number, 1 or more, got `0`"));
  EXPECT_THAT(mask_error("window(-3)"), HasSubstr("column 8: expected a whole number, 1 or more, got `-3`"));
  EXPECT_THAT(mask_error("keys(4, -1)"), HasSubstr("column 9: expected a whole number, 0 or more, got `-1`"));
  EXPECT_THAT(mask_error("window(1.5)"), HasSubstr("column 8: expected a whole number, 1 or more, got `1.5`"));
  EXPECT_THAT(mask_error("causal(offset=x)"), HasSubstr("column 15: expected a number or `[`, got `x`"));
  EXPECT_THAT(mask_error("causal(offset=1e3)"), HasSubstr("column 15: expected a whole number, got `1e3`"));
  EXPECT_THAT(mask_error("window(99999999999999999999)"),
              HasSubstr("column 8: expected a whole number between -2^63 and 2^63, got `99999999999999999999`"));
  EXPECT_THAT(mask_error("dilated(9000000000000000000, 2)"),
              HasSubstr("column 1: expected `dilated(width, dilation)`, got values that do not fit: dilated: width: "
                        "expected width * dilation below 2^63"));
  EXPECT_THAT(mask_error("window([1])"), HasSubstr("column 8: expected a whole number, got an array"));
}

TEST(MaskText, ChecksArrays) {
  EXPECT_THAT(mask_error("dense(1)"),
              HasSubstr("column 7: expected an array of 0 and 1, as in `[[1, 0], [1, 1]]`, got `1`"));
  EXPECT_THAT(mask_error("dense([[1, 2]])"), HasSubstr("column 12: expected 0 or 1, got `2`"));
  EXPECT_THAT(mask_error("dense([[1, 0], [1]])"),
              HasSubstr("column 16: expected 2 in each array of this depth, got 1"));
  EXPECT_THAT(mask_error("dense([[1, 0], 1])"), HasSubstr("column 16: expected `[`, got `1`"));
  EXPECT_THAT(mask_error("dense([1, [0]])"), HasSubstr("column 11: expected a number, got `[`"));
  EXPECT_THAT(mask_error("dense([])"), HasSubstr("column 8: expected a number or `[`, got `]`"));
  EXPECT_THAT(mask_error("dense([[1, 0]"), HasSubstr("column 14: expected `,` or `]`, got the end of the text"));
  EXPECT_THAT(mask_error("dense([[[[[1]]]]])"), HasSubstr("column 11: expected at most 4 nested arrays, got a fifth"));
  EXPECT_THAT(mask_error("blocks(2, [1])"), HasSubstr("blocks: kept: expected 2 axes or more, got [1]"));
  EXPECT_THAT(mask_error("global(at=3)"),
              HasSubstr("column 11: expected an array of whole numbers, as in `[1, 2]`, got `3`"));
}

TEST(MaskText, CountsColumnsInCharacters) {
  EXPECT_EQ(mask_error("é& causal"),
            "parse_mask: column 1: expected a mask (all, none, causal, …), got `é`\n"
            "  é& causal\n"
            "  ^");
  EXPECT_THAT(mask_error("causal & \xC3\xA9"), HasSubstr("column 10"));
  EXPECT_THAT(mask_error("window(3) & \xE2\x82\xAC\xE2\x82\xAC"),
              HasSubstr("column 13: expected a mask (all, none, causal, …), got `€`"));
}

TEST(MaskText, ShowsStrayBytes) {
  EXPECT_EQ(mask_error("none \xFF\x01"),
            "parse_mask: column 6: expected `&`, `|` or the end of the text, got `\\xff`\n"
            "  none \\xff\\x01\n"
            "       ^");
  EXPECT_THAT(mask_error(std::string_view("all\0", 4)),
              HasSubstr("column 4: expected `&`, `|` or the end of the text, got `\\x00`"));
}

TEST(MaskText, ShowsOnlyThePartOfALongTextThatMatters) {
  std::string text = "none";
  for (int i = 0; i < 100'000; ++i) text += " | none";
  const Mask mask = parse_mask(text);
  EXPECT_EQ(mask.to_string(), text);
  EXPECT_FALSE(mask.allows({}, {.Tq = 1, .Tk = 1}));
  const std::string message = mask_error(text + " | nune");
  EXPECT_LT(message.size(), 400U);
  EXPECT_THAT(message, HasSubstr("column 700008"));
  EXPECT_THAT(message, EndsWith("… none | none | none | none | none | none | none | nune\n"
                                "                                                     ^"));
  EXPECT_THAT(mask_error(std::string(100, 'x')), HasSubstr("`" + std::string(40, 'x') + "…`"));
}

TEST(MaskText, LimitsNesting) {
  const auto nested = [](std::size_t depth) { return std::string(depth, '(') + "all" + std::string(depth, ')'); };
  EXPECT_EQ(mask_error(nested(200)), "read as all");
  EXPECT_THAT(mask_error(nested(201)),
              StartsWith("parse_mask: column 201: expected at most 200 nested parentheses, got more"));
  EXPECT_THAT(mask_error(std::string(1'000'000, '(')), HasSubstr("column 201"));
  EXPECT_EQ(mask_error(std::string(1'000'001, '!') + "all"), "read as !all");
}

TEST(MaskText, EveryWordHasASampleThatStands) {
  for (const MaskShape& shape :
       {MaskShape{.Tq = 1, .Tk = 1}, MaskShape{.Tq = 7, .Tk = 30}, MaskShape{.B = 2, .H = 3, .Tq = 200, .Tk = 90}}) {
    for (const Word& word : mask_words()) {
      const std::string sample = mask_sample(word.word, shape);
      EXPECT_THAT(sample, StartsWith(std::string(word.word)));
      EXPECT_NO_THROW((void)TilePlan(parse_mask(sample), shape)) << sample;
      EXPECT_FALSE(word.meaning.empty());
    }
  }
  EXPECT_THROW((void)mask_sample("windw", {}), InvalidArgument);
}

TEST(BiasText, ReadsWhatItWrites) {
  const std::vector<Spelling> spellings{
      {"zero", "zero"},
      {"zero + zero", "zero"},
      {"alibi", "alibi"},
      {"alibi(top_left)", "alibi(top_left)"},
      {"alibi(0.5, 0.25)", "alibi(0.5, 0.25)"},
      {"alibi(5e-1,1e-30)", "alibi(0.5, 1e-30)"},
      {"dense([[0, -1.5], [-inf, 1e+30]])", "dense([[0, -1.5], [-inf, 1e+30]])"},
      {"t5(table=[[0.1], [0.2], [0.3], [0.4]])",
       "t5(table=[[0.1], [0.2], [0.3], [0.4]], max_distance=128, bidirectional)"},
      {"t5(unidirectional, max_distance=9, table=[[1, 2], [3, 4]], top_left)",
       "t5(table=[[1, 2], [3, 4]], max_distance=9, unidirectional, top_left)"},
      {"alibi + zero+dense([nan, inf])", "alibi + dense([nan, inf])"},
  };
  for (const Spelling& spelling : spellings) {
    EXPECT_EQ(parse_bias(spelling.text).to_string(), spelling.canonical) << spelling.text;
    EXPECT_EQ(parse_bias(spelling.canonical).to_string(), spelling.canonical);
  }
}

TEST(BiasText, PointsAtTheColumn) {
  EXPECT_EQ(bias_error("alibi + alibbi(2)"),
            "parse_bias: column 9: expected a bias (alibi, t5, dense, …), got `alibbi`; did you mean `alibi`?\n"
            "  alibi + alibbi(2)\n"
            "          ^");
  EXPECT_THAT(bias_error(""), HasSubstr("column 1: expected a bias (alibi, t5, dense, …), got the end of the text"));
  EXPECT_THAT(bias_error("alibi alibi"), HasSubstr("column 7: expected `+` or the end of the text, got `alibi`"));
  EXPECT_THAT(bias_error("alibi(inf)"), HasSubstr("column 7: expected a finite number, got `inf`"));
  EXPECT_THAT(bias_error("alibi(1e999)"),
              HasSubstr("column 7: expected a number within the range of a double, got `1e999`"));
  EXPECT_THAT(bias_error("alibi(1x)"), HasSubstr("column 7: expected a number, got `1x`"));
  EXPECT_THAT(bias_error("alibi([1])"), HasSubstr("column 7: expected a number, got an array"));
  EXPECT_THAT(bias_error("dense(2)"), HasSubstr("column 7: expected an array of numbers"));
  EXPECT_THAT(
      bias_error("t5"),
      HasSubstr("column 1: expected `t5(table=[[number, …], …], max_distance=n, bidirectional)`, got no table"));
  EXPECT_THAT(bias_error("t5(table=[[1], [2], [3]])"), HasSubstr("t5: buckets: expected 4 or more, got 3"));
  EXPECT_THAT(bias_error("t5(table=[[1],[2],[3],[4]], bidirectional, unidirectional)"),
              HasSubstr("got both directions"));
}

TEST(NearestWord, AllowsASlipOfTheHandOnly) {
  const std::vector<std::string_view> known{"causal", "window", "keys"};
  EXPECT_EQ(core::nearest_word("casual", known), "causal");
  EXPECT_EQ(core::nearest_word("Window", known), "window");
  EXPECT_EQ(core::nearest_word("key", known), "keys");
  EXPECT_EQ(core::nearest_word("banana", known), std::nullopt);
  EXPECT_EQ(core::nearest_word("beys", known), "keys");
  EXPECT_EQ(core::nearest_word("beyz", known), std::nullopt);
  EXPECT_EQ(core::nearest_word("", known), std::nullopt);
  EXPECT_EQ(core::nearest_word(std::string(100, 'w'), known), std::nullopt);
}

}  // namespace
}  // namespace qkv::text_test
