// qkv generate --chat.
#include <gmock/gmock.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "command.h"
#include "files/temporary_directory.h"
#include "model/chat_folder.h"
#include "model/llama_in_blocks.h"
#include "qkv/files.h"

namespace qkv::chat_command_test {
namespace {

using testing::HasSubstr;
using tests::Outcome;
using tests::run_qkv;
using Json = nlohmann::json;
using Words = std::vector<std::string>;

class ChatCommand : public testing::Test {
 protected:
  void SetUp() override { tests::put_chat_model(model()); }

  [[nodiscard]] std::string model() const { return directory_ / "talk"; }
  [[nodiscard]] std::string file(const std::string& name, const std::string& text) const {
    write_file(directory_ / name, text);
    return directory_ / name;
  }
  [[nodiscard]] Words asked(const Words& more) const {
    Words words = {"generate", model(), "--chat", "--tokens", "6"};
    words.insert(words.end(), more.begin(), more.end());
    return words;
  }
  [[nodiscard]] Outcome run(const Words& more) const { return run_qkv(asked(more)); }
  [[nodiscard]] Json json(Words more) const {
    more.emplace_back("--json");
    return Json::parse(run(more).out);
  }

 private:
  const tests::TemporaryDirectory directory_;
};

TEST_F(ChatCommand, AnswersOneMessage) {
  const Outcome outcome = run({"--user", "hello"});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_EQ(outcome.err, "");
  const Json reply = json({"--user", "hello"});
  EXPECT_EQ(outcome.out, reply["text"].get<std::string>() + "\n");
  EXPECT_EQ(reply["prompt"],
            "<s><|im_start|>system\nbe<|im_end|>\n<|im_start|>user\nhello<|im_end|>\n"
            "<|im_start|>assistant\n");
  Json wanted = Json::parse(R"([{"role": "user", "content": "hello"}])");
  wanted.push_back({{"role", "assistant"}, {"content", reply["text"]}});
  EXPECT_EQ(reply["messages"], wanted);
  EXPECT_THAT(json({"--user", "hello", "--system", "do"})["prompt"].get<std::string>(),
              testing::StartsWith("<s><|im_start|>system\ndo<|im_end|>\n<|im_start|>user\n"));
}

TEST_F(ChatCommand, GoesOnWithMessages) {
  const Json reply = json({"--user", "hello"});
  const std::string path = file("talk.json", reply["messages"].dump());
  const Json more = json({"--messages", path, "--user", "more"});
  EXPECT_EQ(more["messages"].size(), 4U);
  EXPECT_EQ(more["messages"][1], reply["messages"][1]);
  EXPECT_EQ(json({"--messages", R"([{"role": "user", "content": "hello"}])"}), reply);
  EXPECT_EQ(json({"--messages", R"([{"role": "user", "content": [{"type": "text", "text": "hello"}]}])"}), reply);
}

// With the same answers as one by one.
TEST_F(ChatCommand, AnswersLineByLine) {
  const std::string lines = file("lines", "hello\n\n  \nmore\r\nend");
  const Outcome outcome = tests::run_qkv_from(lines, asked({"--json"}));
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_EQ(std::ranges::count(outcome.out, '\n'), 3);
  const std::size_t first = outcome.out.find('\n');
  const Json one = Json::parse(outcome.out.substr(0, first));
  const Json two = Json::parse(outcome.out.substr(first + 1, outcome.out.find('\n', first + 1) - first));
  EXPECT_EQ(one, json({"--user", "hello"}));
  EXPECT_EQ(two, json({"--messages", one["messages"].dump(), "--user", "more"}));
  const Outcome shown = tests::run_qkv_from(lines, asked({}));
  EXPECT_THAT(shown.out, testing::StartsWith(one["text"].get<std::string>() + "\n" + two["text"].get<std::string>()));
}

TEST_F(ChatCommand, DrawsAsItsAuthorsAsk) {
  write_file(model() + "/generation_config.json",
             R"({"do_sample": true, "temperature": 2.5, "top_k": 9, "top_p": 0.75})");
  const std::string said = "qkv generate: drawn as its generation_config.json asks: ";
  EXPECT_EQ(run({"--user", "hello"}).err, said + "--temperature 2.5 --top-k 9 --top-p 0.75\n");
  EXPECT_EQ(run({"--user", "hello", "--top-k", "3"}).err, said + "--temperature 2.5 --top-k 3 --top-p 0.75\n");
  EXPECT_EQ(run({"--user", "hello", "--temperature", "0"}).err, "");
  Json drawn = json({"--user", "hello", "--seed", "3"});
  EXPECT_EQ(drawn["notes"], Json::parse(R"(["drawn as its generation_config.json asks: `temperature` 2.5 `top_k` 9 )"
                                        R"(`top_p` 0.75"])"));
  drawn.erase("notes");
  EXPECT_EQ(drawn, json({"--user", "hello", "--seed", "3", "--temperature", "2.5", "--top-k", "9", "--top-p", "0.75"}));
  // Once for all turns.
  const std::string lines = file("lines", "hello\nmore\n");
  EXPECT_EQ(tests::run_qkv_from(lines, asked({})).err, said + "--temperature 2.5 --top-k 9 --top-p 0.75\n");
}

// Of a file likewise, by its metadata.
TEST_F(ChatCommand, DrawsAsTheMetadataOfAFileAsk) {
  tests::GgufBytes bytes = tests::llama_in_blocks(core::BlockType::q8_0);
  std::vector<std::string> tokens;
  for (char letter = '!'; tokens.size() < 64; ++letter) tokens.emplace_back(1, letter);
  bytes.text("tokenizer.ggml.model", "gpt2").text("tokenizer.ggml.pre", "gpt-2");
  bytes.texts("tokenizer.ggml.tokens", tokens).texts("tokenizer.ggml.merges", {});
  bytes.text("tokenizer.chat_template", "{% for message in messages %}{{ message.content }}{% endfor %}");
  bytes.f32("general.sampling.temp", 2.5).u32("general.sampling.top_k", 9).u32("general.sampling.mirostat", 1);
  const std::string path = file("m.gguf", bytes.text_of());
  const Outcome outcome = tests::run_qkv({"generate", path, "--chat", "--user", "ABC", "--tokens", "2"});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_THAT(outcome.err, HasSubstr("qkv generate: drawn as its metadata asks: --temperature 2.5 --top-k 9\n"));
  EXPECT_THAT(outcome.err,
              HasSubstr("careful: its metadata asks for what is not done here: general.sampling.mirostat 1\n"));
  const Outcome text = tests::run_qkv({"generate", path, "ABC", "--tokens", "2"});
  EXPECT_THAT(text.err, HasSubstr("this is the likeliest text; its metadata asks for --temperature 2.5 --top-k 9"));
}

TEST_F(ChatCommand, SaysThatItsContextIsFull) {
  const std::string small = model() + "-small";
  tests::put_chat_model(small, 64);
  const std::string lines = file("lines", "hello\nmore\n");
  const Outcome outcome = tests::run_qkv_from(lines, {"generate", small, "--chat", "--tokens", "90", "--stop", "|"});
  EXPECT_EQ(outcome.code, 1);
  EXPECT_THAT(outcome.err, HasSubstr("qkv generate: the conversation: expected one of at most 64 tokens, which the "
                                     "model reads at once, got "));
  EXPECT_THAT(outcome.err, testing::EndsWith(" tokens: begin a new one\n"));
}

TEST_F(ChatCommand, EndsAnAnswerWhereItIsInterrupted) {
  const std::string large = model() + "-large";
  tests::put_chat_model(large, 4'000'000);
  const Outcome outcome =
      tests::run_qkv_interrupted({"generate", large, "--chat", "--user", "hello", "--tokens", "1000000"});
  EXPECT_EQ(outcome.code, 130);
  EXPECT_THAT(outcome.out, testing::EndsWith("\n"));
}

TEST_F(ChatCommand, NamesWhatHasNoMeaning) {
  const auto message = [&](const Words& more) {
    const Outcome outcome = run(more);
    EXPECT_EQ(outcome.code, 2);
    EXPECT_EQ(outcome.out, "");
    return outcome.err;
  };
  EXPECT_EQ(message({"--messages", "[]"}),
            "qkv generate: --messages: expected a list of messages, [{\"role\": "
            "\"user\", \"content\": \"Hello\"}], got []\n");
  EXPECT_EQ(run({"--messages", "nope.json"}).err,
            "qkv generate: --messages: cannot read nope.json: No such file or directory\n");
  EXPECT_THAT(message({"--messages", R"([{"role": "user", "content": 7}])"}),
              HasSubstr("of message 0 a text as content, or a list of texts, got 7"));
  EXPECT_THAT(message({"--messages", R"([{"role": "user", "content": null}])"}),
              HasSubstr("of message 0 a text as content, or a list of texts, got null"));
  EXPECT_THAT(
      message({"--messages", R"([{"role": "user", "content": [{"type": "image_url", "image_url": "x"}]}])"}),
      HasSubstr(
          R"(of message 0 texts alone as parts of its content, {"type": "text", "text": "Hello"}, got "image_url")"));
  EXPECT_THAT(message({"--messages", R"([{"role": "user", "content": [{"type": "text"}]}])"}), HasSubstr("got none\n"));
  EXPECT_THAT(message({"--messages", R"([{"role": "user", "content": []}])"}), HasSubstr("got []\n"));
  EXPECT_THAT(message({"--messages", R"([{"role": "user", "content": "a"}, {"role": "assistant", "content": null,
                                          "tool_calls": [{"id": "1"}]}])"}),
              HasSubstr("of message 1 no tool_calls, which qkv does not show a model, got [{\"id\":\"1\"}]"));
  EXPECT_EQ(message({"--messages", R"([{"role": "assistant", "content": "a"}])"}),
            "qkv generate: --messages: expected a last message to be answered, or --user, got one of the assistant\n");
  EXPECT_EQ(message({"--user", "a", "--beams", "2"}),
            "qkv generate: --beams: expected 1 of a conversation, of which one answer is followed, got 2\n");
  EXPECT_EQ(message({"--user", "a", "--seed", "2"}),
            "qkv generate: --seed: expected a --temperature above 0 beside it, got none\n");
  EXPECT_EQ(message({"--user", "a", "--file", "b"}), "qkv generate: --chat, --file: expected one of them, got both\n");
  EXPECT_EQ(message({"a"}), "qkv generate: TEXT, --chat: expected one of them, got both\n");
  EXPECT_EQ(run_qkv({"generate", model(), "a", "--system", "b"}).err,
            "qkv generate: --system: expected --chat beside it, got none\n");
  const Outcome plain = run_qkv({"generate", "gpt", "--chat", "--user", "a"});
  EXPECT_EQ(plain.code, 2);
  EXPECT_THAT(plain.err, testing::StartsWith("qkv generate: MODEL: expected one with a chat template"));
}

}  // namespace
}  // namespace qkv::chat_command_test
