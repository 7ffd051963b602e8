#include <gmock/gmock.h>

#include "core/error_message.h"
#include "qkv/train/task.h"

namespace qkv {
namespace {

using testing::ElementsAre;

TEST(TaskVocabulary, ReadsLettersOneByOneAndSpecialTokensWhole) {
  const TaskVocabulary vocabulary({"<pad>", "<s>", "a", "b"}, TextForm::letters);
  EXPECT_THAT(vocabulary.encode("<s>ab a<pad>"), ElementsAre(1, 2, 3, 2, 0));
  EXPECT_EQ(vocabulary.decode(std::vector<std::int32_t>{1, 2, 3}), "<s>ab");
  EXPECT_THAT(vocabulary.encode(" "), ElementsAre());
}

TEST(TaskVocabulary, EndsAWordAtASpaceOrAnApostrophe) {
  const TaskVocabulary vocabulary({"<pad>", "l'", "homme", "dort"}, TextForm::words);
  const std::vector<std::int32_t> tokens = vocabulary.encode("l'homme  dort");
  EXPECT_THAT(tokens, ElementsAre(1, 2, 3));
  EXPECT_EQ(vocabulary.decode(tokens), "l'homme dort");
}

TEST(TaskVocabulary, RefusesWhatItDoesNotHave) {
  const TaskVocabulary vocabulary({"<pad>", "woman", "king"}, TextForm::words);
  EXPECT_EQ(error_message([&] { static_cast<void>(vocabulary.encode("womann")); }),
            "TaskVocabulary::token: text: expected a token of the task, such as \"woman\", got \"womann\"");
  EXPECT_EQ(error_message([&] { static_cast<void>(vocabulary.token("zzzz")); }),
            "TaskVocabulary::token: text: expected a token of the task, got \"zzzz\"");
  EXPECT_EQ(error_message([&] { static_cast<void>(vocabulary.text(3)); }),
            "TaskVocabulary::text: token: expected from 0 to 2, got 3");
  EXPECT_EQ(error_message([] { TaskVocabulary({"a", "b", "a"}, TextForm::letters); }),
            "TaskVocabulary: tokens: expected each one once, got \"a\" twice");
  EXPECT_EQ(vocabulary.find("queen"), std::nullopt);
}

}  // namespace
}  // namespace qkv
