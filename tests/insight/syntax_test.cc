#include "qkv/insight/syntax.h"

#include <gmock/gmock.h>

#include <algorithm>

#include "qkv/insight/report.h"
#include "qkv/train/english_trees.h"
#include "train/boxed.h"

namespace qkv::syntax_test {
namespace {

using testing::HasSubstr;

const char* const kFile =
    "# sent_id = 1\n"
    "1-2\tdon't\t_\t_\t_\t_\t_\t_\t_\tSpaceAfter=No\n"
    "1\tdo\tdo\tAUX\t_\t_\t3\taux\t_\tSpaceAfter=No\n"
    "2\tn't\tnot\tPART\t_\t_\t3\tadvmod:neg\t_\t_\n"
    "3\tgo\tgo\tVERB\t_\t_\t0\troot\t_\t_\n"
    "3.1\tthere\t_\t_\t_\t_\t_\t_\t_\t_\n"
    "\r\n"
    "1\tYes\tyes\tINTJ\t_\t_\t0\troot\t_\t_\n";

TEST(ConllU, GivesSentencesWithTheirTrees) {
  const std::vector<ParsedSentence> all = parse_conllu(kFile);
  ASSERT_EQ(all.size(), 2U);
  EXPECT_EQ(all[0].text, "don't go");
  ASSERT_EQ(all[0].words.size(), 3U);
  EXPECT_EQ(all[0].words[2], (TextRange{6, 8}));
  EXPECT_EQ(all[0].dependencies[1].label, "advmod");
  EXPECT_EQ(all[0].dependencies[1].head, 2);
  EXPECT_FALSE(all[0].dependencies[2].head);
  EXPECT_EQ(all[1].text, "Yes");
}

std::string complaint(const std::string& text) {
  try {
    static_cast<void>(parse_conllu(text));
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(ConllU, NamesTheLineThatIsWrong) {
  EXPECT_EQ(complaint("# nothing\n"), "CoNLL-U: expected a sentence, got none");
  EXPECT_THAT(complaint("1\ta\n"), HasSubstr("line 1: expected 10 columns of CoNLL-U with tabs between them"));
  EXPECT_THAT(complaint("2\ta\t_\t_\t_\t_\t0\troot\t_\t_\n"), HasSubstr("line 1: expected word 1, got \"2\""));
  EXPECT_THAT(complaint("1\ta\t_\t_\t_\t_\t1\tdet\t_\t_\n"), HasSubstr("the number of another word, or 0"));
  EXPECT_THAT(complaint("1\ta\t_\t_\t_\t_\t2\tdet\t_\t_\n"), HasSubstr("heads among 1 word above, got \"2\""));
}

TEST(EnglishTrees, HaveAWordForEachDependency) {
  for (const ParsedSentence& sentence : english_trees(20)) {
    EXPECT_EQ(sentence.words.size(), sentence.dependencies.size()) << sentence.text;
  }
}

// Determiners look at nouns in the task: some head of its model finds them, and both directions count the same pairs.
TEST(AnalyzeSyntax, FindsTheHeadOfARelation) {
  const TrainedModel& trained = tests::boxed("english");
  const SyntaxAnalysis analysis = analyze_syntax(trained, english_trees(40));
  EXPECT_EQ(analysis.layers, 2);
  EXPECT_EQ(analysis.heads, 8);
  std::int64_t to_head = 0;
  std::int64_t to_dependent = 0;
  for (const RelationAccuracy& relation : analysis.relations) {
    EXPECT_EQ(relation.right.size(), 16U);
    EXPECT_LE(relation.offset_right, relation.pairs);
    for (const std::int64_t right : relation.right) {
      EXPECT_LE(right, relation.best ? relation.right[static_cast<std::size_t>(*relation.best)] : 0);
    }
    (relation.direction == TreeDirection::to_head ? to_head : to_dependent) += relation.pairs;
    if (relation.label != "det" || relation.direction != TreeDirection::to_head) continue;
    EXPECT_EQ(relation.offset, 1);
    EXPECT_GT(relation.right[static_cast<std::size_t>(relation.best.value())] * 2, relation.pairs);
  }
  EXPECT_EQ(to_head, to_dependent);
  EXPECT_THAT(syntax_table(analysis, "english", 10), HasSubstr("det          to head"));
  EXPECT_THAT(syntax_csv(analysis), HasSubstr("\ndet,to head,"));
}

// A model whose only head looks at the previous token finds each pair whose other word is the one before.
TEST(AnalyzeSyntax, OfAPreviousTokenHeadIsTheOffsetMinusOne) {
  const TrainedModel& trained = tests::boxed("previous");
  ParsedSentence letters{.text = "abcdef", .words = {}, .dependencies = {}};
  for (std::size_t n = 0; n < 6; ++n) {
    letters.words.push_back({n, n + 1});
    letters.dependencies.push_back(
        {.head = n > 0 ? std::optional(static_cast<std::int64_t>(n) - 1) : std::nullopt, .label = "chain"});
  }
  const SyntaxAnalysis analysis = analyze_syntax(trained, std::vector{letters});
  ASSERT_EQ(analysis.relations.size(), 2U);
  const RelationAccuracy& to_head = analysis.relations[0];
  EXPECT_EQ(to_head.direction, TreeDirection::to_head);
  EXPECT_EQ(to_head.pairs, 5);
  EXPECT_EQ(to_head.right.front(), 5);
  EXPECT_EQ(to_head.offset, -1);
  EXPECT_EQ(to_head.offset_right, 5);
  // A decoder does not see what follows, so that no head is the best, and no offset looks ahead.
  const RelationAccuracy& to_dependent = analysis.relations[1];
  EXPECT_EQ(to_dependent.right.front(), 0);
  EXPECT_EQ(to_dependent.best, std::nullopt);
  EXPECT_EQ(to_dependent.offset, std::nullopt);
  EXPECT_EQ(to_dependent.offset_right, 0);
  EXPECT_THAT(syntax_table(analysis, "previous", 1),
              HasSubstr("chain        to dependent       5       -      0.00       -      0.00"));
  EXPECT_THAT(syntax_csv(analysis), HasSubstr("chain,to dependent,5,0,0,0,,0\n"));
  EXPECT_EQ(relations_by_head(analysis, 1).heatmaps.size(), 1U);
}

TEST(AnalyzeSyntax, SaysWhereNoRelationHasEnoughPairs) {
  const TrainedModel& trained = tests::boxed("english");
  const SyntaxAnalysis analysis = analyze_syntax(trained, english_trees(1));
  EXPECT_THAT(syntax_table(analysis, "english", 100),
              HasSubstr("No relation has 100 pairs or more; CSV and JSON have"));
  EXPECT_TRUE(relations_by_head(analysis, 100).heatmaps.empty());
}

// The letters of a source, and the heads of the encoder that reads them.
TEST(AnalyzeSyntax, OfAnEncoderDecoderIsOfItsEncoder) {
  const TrainedModel& trained = tests::boxed("reverse");
  const ParsedSentence letters{
      .text = "abcdef",
      .words = {{0, 1}, {1, 3}, {3, 6}},
      .dependencies = {
          {.head = std::nullopt, .label = "root"}, {.head = 0, .label = "near"}, {.head = 1, .label = "near"}}};
  const SyntaxAnalysis analysis = analyze_syntax(trained, std::vector{letters});
  EXPECT_EQ(analysis.layers, 1);
  EXPECT_EQ(analysis.heads, 1);
  EXPECT_FALSE(analysis.looks_back);
  ASSERT_EQ(analysis.relations.size(), 2U);
  EXPECT_EQ(analysis.relations[0].pairs, 2);
}

TEST(AnalyzeSyntax, CountsPronounsBesideTheTrees) {
  const TrainedModel& trained = tests::boxed("english");
  const std::vector<ParsedSentence> sentences = english_trees(60);
  std::int64_t pronouns = 0;
  for (const ParsedSentence& sentence : sentences) {
    for (const Coreference& pronoun : sentence.coreferences) {
      ++pronouns;
      EXPECT_LT(pronoun.antecedent, static_cast<std::int64_t>(sentence.words.size()));
    }
  }
  ASSERT_GT(pronouns, 10);
  const SyntaxAnalysis analysis = analyze_syntax(trained, sentences);
  const auto found = std::ranges::find(analysis.relations, kPronoun, &RelationAccuracy::label);
  ASSERT_NE(found, analysis.relations.end());
  EXPECT_EQ(found->pairs, pronouns);
  // The task asks for the noun behind a pronoun, so some head finds it better than any distance.
  EXPECT_GT(found->right[static_cast<std::size_t>(found->best.value())], found->offset_right);
  const Panel maps = relations_by_head(analysis, 10);
  EXPECT_EQ(maps.heatmaps.front().values.shape(), Shape({2, 8}));
  EXPECT_THAT(maps.heatmaps.front().title, HasSubstr(" to "));
}

TEST(AnalyzeSyntax, RefusesOtherKindsAndNoSentences) {
  const auto said = [](std::string_view model, std::span<const ParsedSentence> sentences) -> std::string {
    try {
      static_cast<void>(analyze_syntax(tests::boxed(model), sentences));
    } catch (const InvalidArgument& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_THAT(said("english", {}), HasSubstr("sentences: expected one or more, got none"));
  EXPECT_THAT(said("shapes", english_trees(1)), HasSubstr("trained: expected an encoder, or a decoder"));
  try {
    static_cast<void>(english_trees(0));
    FAIL();
  } catch (const InvalidArgument& error) {
    EXPECT_THAT(error.what(), HasSubstr("count: expected 1 or more, got 0"));
  }
}

}  // namespace
}  // namespace qkv::syntax_test
