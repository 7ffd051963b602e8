#include "qkv/model/chat.h"

#include <gmock/gmock.h>

#include <algorithm>

#include "core/error_message.h"
#include "files/temporary_directory.h"
#include "model/chat_folder.h"
#include "qkv/watched.h"

namespace qkv::chat_test {
namespace {

using testing::HasSubstr;
using tests::put_chat_model;
using tests::TemporaryDirectory;

class ChatTest : public testing::Test {
 protected:
  [[nodiscard]] TextModel model(int length = 256) const {
    const std::string folder = directory_ / std::to_string(length);
    put_chat_model(folder, length);
    return {Model::open(folder), folder};
  }
  // Of which every token is as likely as any other, so that token 0, "<|im_end|>", is written.
  [[nodiscard]] TextModel flat_model() const {
    const TextModel drawn = model();
    for (const Parameter& parameter : drawn.model().parameters()) {
      if (parameter.name != "output.weight") continue;
      parameter.value.replace_value(Tensor(DType::f32, parameter.value.shape()));
    }
    return drawn;
  }

 private:
  const TemporaryDirectory directory_;
};

ChatMessage of_user(const std::string& content) { return {.role = "user", .content = content}; }

WriteOptions tokens(std::int64_t most) { return {.draw = {.most = most}}; }

std::vector<std::int32_t> kept_after(const ChatTokens& read, const WrittenText& written) {
  std::vector<std::int32_t> kept = read.ids;
  kept.insert(kept.end(), written.tokens.begin(), written.tokens.end());
  if (written.end == WriteEnd::length) kept.pop_back();
  return kept;
}

TEST_F(ChatTest, ReadsTheTemplateAndWhoseATokenIs) {
  const ChatForm form(model());
  const std::vector<ChatMessage> messages = {of_user("ab")};
  const ChatTokens read = form.read(messages, ChatEnd::for_answer);
  EXPECT_EQ(read.rendered.text,
            "<s><|im_start|>system\nbe<|im_end|>\n<|im_start|>user\nab<|im_end|>\n<|im_start|>assistant\n");
  // One "<s>", which is the template's.
  EXPECT_EQ(std::ranges::count(read.ids, 2), 1);
  ASSERT_EQ(read.messages.size(), read.ids.size());
  EXPECT_EQ(std::ranges::count(read.messages, std::optional<std::size_t>(0)), 2);
  for (std::size_t n = 0; n < read.ids.size(); ++n) {
    const TextRange at = read.offsets[n];
    const bool is_text = at.begin >= read.rendered.text.find("ab<") && at.end <= read.rendered.text.find("ab<") + 2;
    EXPECT_EQ(read.messages[n].has_value(), is_text) << n;
  }
  EXPECT_THAT(form.read(messages, ChatEnd::closed).rendered.text, testing::EndsWith("ab<|im_end|>\n"));
}

TEST_F(ChatTest, EndsWithTheTurnOfTheTemplate) {
  const TextModel flat = flat_model();
  EXPECT_EQ(ChatForm(flat).end_of_turn(), 0);
  EXPECT_THAT(flat.model().tokenizers().ends, testing::IsEmpty());
  Chat chat(flat);
  chat.say(of_user("ab"));
  const WrittenText written = chat.answer(tokens(8));
  EXPECT_EQ(written.end, WriteEnd::token);
  EXPECT_THAT(written.tokens, testing::IsEmpty());
  // An end that was asked for counts alone.
  chat.say(of_user("c"));
  EXPECT_EQ(chat.answer({.draw = {.ends = {5}, .most = 8}}).end, WriteEnd::length);
}

TEST_F(ChatTest, ComputesNewTokensAlone) {
  const TextModel drawn = model();
  Chat chat(drawn);
  std::vector<std::int32_t> kept;
  std::int64_t computed = 0;
  for (const char* text : {"hello", "more of it.", "and the last"}) {
    chat.say(of_user(text));
    const WrittenText written = chat.answer(tokens(6));
    const ChatTokens& read = chat.last_read();
    const auto known = std::ranges::mismatch(kept, read.ids).in1 - kept.begin();
    const std::int64_t last = written.end == WriteEnd::length ? 1 : 0;
    EXPECT_EQ(chat.computed() - computed, std::ssize(read.ids) - known + std::ssize(written.tokens) - last);
    EXPECT_LT(chat.computed() - computed, computed == 0 ? 80 : std::ssize(read.ids) / 2 + 12);
    computed = chat.computed();
    kept = kept_after(read, written);
    // What a conversation says that reads all of it anew.
    Chat anew(drawn);
    for (std::size_t n = 0; n + 1 < chat.messages().size(); ++n) anew.say(chat.messages()[n]);
    EXPECT_EQ(anew.answer(tokens(6)).tokens, written.tokens);
  }
  EXPECT_EQ(chat.messages().size(), 6U);
  EXPECT_EQ(chat.messages().back().role, "assistant");
}

TEST_F(ChatTest, SaysWhatItWrites) {
  const TextModel drawn = model();
  Chat chat(drawn);
  chat.say(of_user("ab"));
  std::string said;
  WriteOptions options = tokens(12);
  options.said = [&](std::int64_t, std::string_view part) { said += part; };
  const WrittenText written = chat.answer(options);
  EXPECT_EQ(said, written.text);
  EXPECT_EQ(chat.messages().back().content, written.text);
  ASSERT_GT(written.text.size(), 3U);
  Chat other(drawn);
  other.say(of_user("ab"));
  const std::string stop = written.text.substr(2, 1);
  WriteOptions stopping = tokens(12);
  stopping.stops = {stop};
  const WrittenText stopped = other.answer(stopping);
  EXPECT_EQ(stopped.text, written.text.substr(0, written.text.find(stop)));
  EXPECT_EQ(stopped.end, WriteEnd::stop);
}

// 2 layers of 2 heads of keys and values, of 4 numbers each.
TEST_F(ChatTest, CountsTheBytesOfItsCache) {
  const TextModel drawn = model();
  for (const auto& [dtype, of_token] : {std::pair(DType::f32, 128), {DType::bf16, 64}, {DType::i8, 64}}) {
    WriteOptions options = tokens(4);
    options.draw.cache_dtype = dtype;
    Chat one(drawn);
    one.say(of_user("ab"));
    const WrittenText written = one.answer(options);
    const std::int64_t last = written.end == WriteEnd::length ? 1 : 0;
    EXPECT_EQ(written.cache_bytes, of_token * (std::ssize(one.last_read().ids) + std::ssize(written.tokens) - last));
  }
}

TEST_F(ChatTest, EndsWhereTheWindowIsFull) {
  const TextModel drawn = model(60);
  Chat chat(drawn);
  chat.say(of_user("a"));
  const WrittenText written = chat.answer({.draw = {.ends = {2}, .most = 100}});
  EXPECT_EQ(written.end, WriteEnd::positions);
  EXPECT_EQ(std::ssize(chat.last_read().ids) + std::ssize(written.tokens), 61);
  chat.say(of_user("more"));
  EXPECT_THAT(
      error_message<Error>([&] { static_cast<void>(chat.answer(tokens(2))); }),
      testing::MatchesRegex("the conversation: expected one of at most 60 tokens, which the model reads at once, "
                            "got [0-9]+ tokens: begin a new one"));
}

TEST_F(ChatTest, KeepsAnAnswerThatItsReaderEnds) {
  const TextModel drawn = model();
  Chat chat(drawn);
  chat.say(of_user("ab"));
  bool is_over = false;
  WriteOptions options{.draw = {.ends = {2}, .most = 100}};
  std::string said;
  options.said = [&](std::int64_t, std::string_view part) {
    said += part;
    is_over = is_over || said.size() > 5;
  };
  {
    const WatchedThread watched([&] { return is_over ? Proceed::stop : Proceed::go_on; });
    const WrittenText written = chat.answer(options);
    EXPECT_EQ(written.end, WriteEnd::reader);
    EXPECT_EQ(written.text, said);
    EXPECT_LT(written.tokens.size(), 50U);
  }
  // What the pass that was stopped has left in the caches changes nothing.
  chat.say(of_user("more"));
  Chat anew(drawn);
  for (const ChatMessage& message : chat.messages()) anew.say(message);
  EXPECT_EQ(chat.answer(tokens(8)).tokens, anew.answer(tokens(8)).tokens);
}

TEST_F(ChatTest, RefusesWhatHasNoMeaning) {
  const TextModel drawn = model();
  Chat chat(drawn);
  EXPECT_EQ(error_message([&] { static_cast<void>(chat.answer({})); }),
            "Chat: messages: expected one message or more, got none");
  chat.say({.role = "assistant", .content = "a"});
  EXPECT_EQ(error_message([&] { static_cast<void>(chat.answer({})); }),
            "Chat: messages: expected a last message to be answered, got one of the assistant");
  chat.say(of_user("a"));
  EXPECT_EQ(error_message([&] { static_cast<void>(chat.answer({.draw = {.beams = 2}})); }),
            "Chat: beams: expected 1, for one answer is followed, got 2");
  ModelTokenizers plain = drawn.model().tokenizers();
  plain.chat_template = "";
  const TextModel untold(Model(drawn.model().network(), plain), "");
  EXPECT_THAT(
      error_message<Error>([&] { Chat{untold}; }),
      testing::AllOf(testing::StartsWith("Chat: model: expected one with a chat template"), HasSubstr("-Instruct")));
}

// A file of ours keeps what a conversation needs.
TEST_F(ChatTest, ComesBackFromAFile) {
  const TextModel drawn = model();
  const TemporaryDirectory directory;
  drawn.model().save(directory / "m.safetensors");
  const TextModel again(Model::open(directory / "m.safetensors"), "");
  EXPECT_EQ(again.model().tokenizers().special_tokens, drawn.model().tokenizers().special_tokens);
  const std::vector<ChatMessage> messages = {of_user("ab")};
  EXPECT_EQ(ChatForm(again).read(messages, ChatEnd::closed).ids, ChatForm(drawn).read(messages, ChatEnd::closed).ids);
}

}  // namespace
}  // namespace qkv::chat_test
