// `qkv view` as a user starts and ends it.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "cli/command.h"
#include "files/temporary_directory.h"
#include "qkv/api/questions.h"
#include "qkv/api/studio.h"
#include "qkv/files.h"
#include "server/pages.h"
#include "studio/raw_client.h"

namespace qkv::studio::view_command_test {
namespace {

using qkv::tests::Outcome;
using qkv::tests::run_qkv;
using testing::HasSubstr;

// `qkv view …`, until it is told to end.
class RunningView {
 public:
  explicit RunningView(std::vector<std::string> arguments, const std::vector<qkv::tests::Environment>& extra = {}) {
    std::array<int, 2> ends{};
    if (::pipe2(ends.data(), O_CLOEXEC) != 0) throw std::runtime_error("pipe2 failed");
    arguments.insert(arguments.begin(), {QKV_COMMAND, "view"});
    if (extra.empty()) arguments.emplace_back("--no-open");
    process_ = ::fork();
    if (process_ == 0) become(arguments, extra, ends[1]);
    ::close(ends[1]);
    out_ = ends[0];
  }
  RunningView(const RunningView&) = delete;
  RunningView& operator=(const RunningView&) = delete;
  ~RunningView() {
    ::close(out_);
    if (process_ > 0) end();
  }

  // Without the line break; empty if it ended before.
  std::string line() {
    std::string text;
    for (char letter = 0; ::read(out_, &letter, 1) == 1 && letter != '\n';) text += letter;
    return text;
  }

  int end() {
    ::kill(process_, SIGINT);
    int status = 0;
    ::waitpid(process_, &status, 0);
    process_ = 0;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  }

 private:
  [[noreturn]] static void become(std::vector<std::string>& arguments,
                                  const std::vector<qkv::tests::Environment>& extra, int out) {
    for (const auto& [name, value] : extra) ::setenv(name.c_str(), value.c_str(), 1);
    std::vector<char*> pointers;
    for (std::string& argument : arguments) pointers.push_back(argument.data());
    pointers.push_back(nullptr);
    ::dup2(out, STDOUT_FILENO);
    ::execv(QKV_COMMAND, pointers.data());
    ::_exit(127);
  }

  pid_t process_ = 0;
  int out_ = -1;
};

class ViewCommand : public testing::Test {
 protected:
  void SetUp() override {
    if (built_pages().page.empty()) GTEST_SKIP() << "this build has no pages: " << why_without_pages();
  }
};

TEST_F(ViewCommand, PrintsItsAddressAndServesUntilInterrupted) {
  RunningView view({"--text", "the dog ran"});
  const std::string url = view.line();
  ASSERT_THAT(url, testing::MatchesRegex("http://127\\.0\\.0\\.1:[0-9]+/[0-9a-f]+/"));
  const int port = tests::port_in(url);
  const std::string token = url.substr(url.size() - 33, 32);
  tests::RawClient pages(port);
  pages.send(tests::request_to(port, "GET", "/" + token + "/"));
  EXPECT_EQ(pages.read_reply().body, built_pages().page);
  tests::RawClient questions(port);
  questions.send(tests::question(port, token, "about", "{}"));
  const auto frames = tests::frames_of(questions.read_reply().body);
  EXPECT_EQ(nlohmann::json::parse(frames.front().payload).at("text"), "the dog ran");
  EXPECT_EQ(view.end(), 0);
}

// The reply of who is served there, or the error.
nlohmann::json answered(const std::string& url, const char* question, const nlohmann::json& request) {
  const int port = tests::port_in(url);
  tests::RawClient client(port);
  client.send(tests::question(port, url.substr(url.size() - 33, 32), question, request.dump()));
  const auto frames = tests::frames_of(client.read_reply().body);
  const auto is_progress = [](const auto& frame) {
    return frame.kind == static_cast<std::uint32_t>(StudioFrame::progress);
  };
  const auto told = std::ranges::find_if_not(frames, is_progress);
  return told == frames.end() ? nlohmann::json() : nlohmann::json::parse(told->payload);
}

TEST_F(ViewCommand, ServesWhatItIsGiven) {
  const qkv::tests::TemporaryDirectory folder, outside;
  write_file(folder / "long.txt", std::string_view("a text"));
  for (const std::string& path : {folder / "a.npy", outside / "a.npy"}) {
    write_tensor(path, Tensor(std::vector<float>{1}, Shape{1, 1}));
  }
  const auto attend = [](const std::string& path) { return nlohmann::json{{"q", path}, {"k", path}, {"v", path}}; };
  RunningView view({"induction", "--text", "abc", "--mask", "causal", "--file", folder / "long.txt"});
  const std::string url = view.line();
  const nlohmann::json about = answered(url, "about", nlohmann::json::object());
  EXPECT_EQ(about["model"], "induction");
  EXPECT_EQ(about["text"], "abc");
  EXPECT_EQ(about["mask"], "causal");
  EXPECT_EQ(about["file"], folder / "long.txt");
  EXPECT_TRUE(answered(url, "attend", attend(outside / "a.npy")).contains("arrays"));
  RunningView within({"--root", folder.path()});
  const std::string own = within.line();
  EXPECT_TRUE(answered(own, "attend", attend(folder / "a.npy")).contains("arrays"));
  EXPECT_EQ(answered(own, "attend", attend(outside / "a.npy"))["field"], "q");
}

TEST_F(ViewCommand, ListensWhereItIsTold) {
  RunningView before({"--host", "127.0.0.2"});
  const std::string url = before.line();
  EXPECT_THAT(url, testing::StartsWith("http://127.0.0.2:"));
  EXPECT_EQ(before.end(), 0);
  const std::string port = std::to_string(tests::port_in(url));
  RunningView view({"--port", port});
  EXPECT_THAT(view.line(), testing::StartsWith("http://127.0.0.1:" + port + "/"));
}

TEST_F(ViewCommand, OpensABrowserUnlessItIsToldNotTo) {
  const qkv::tests::TemporaryDirectory folder;
  write_file(folder / "xdg-open", std::string_view("#!/bin/sh\necho \"$1\" >> \"$0.opened\"\n"));
  std::filesystem::permissions(folder / "xdg-open", std::filesystem::perms::owner_all);
  const std::vector<qkv::tests::Environment> browser = {{.name = "PATH", .value = folder.path() + ":/bin:/usr/bin"},
                                                        {.name = "DISPLAY", .value = ":0"}};
  const auto is_opened = [&] {
    for (int n = 0; n < 100 && !std::filesystem::exists(folder / "xdg-open.opened"); ++n) ::usleep(10'000);
    return std::filesystem::exists(folder / "xdg-open.opened");
  };
  RunningView closed({"--no-open"}, browser);
  ASSERT_NE(closed.line(), "");
  EXPECT_EQ(closed.end(), 0);
  EXPECT_FALSE(is_opened());
  RunningView view({}, browser);
  ASSERT_NE(view.line(), "");
  EXPECT_TRUE(is_opened());
}

TEST_F(ViewCommand, EndsAtOnceWhileAModelReads) {
  RunningView view({});
  const std::string url = view.line();
  const int port = tests::port_in(url);
  std::string text;
  for (int n = 0; n < 5'000; ++n) text += "the cat sat on it. ";
  tests::RawClient client(port);
  client.send(tests::question(port, url.substr(url.size() - 33, 32), "far_open",
                              nlohmann::json{{"model", "gpt"}, {"text", text}}.dump()));
  ASSERT_THAT(client.read_some(), HasSubstr("200 OK")) << "with the first word of progress";
  EXPECT_EQ(view.end(), 0);
  EXPECT_FALSE(client.read_reply().is_whole);
}

TEST_F(ViewCommand, HasAnotherTokenEachTime) {
  RunningView first({});
  RunningView second({});
  const std::string one = first.line();
  const std::string two = second.line();
  EXPECT_NE(one.substr(one.size() - 33), two.substr(two.size() - 33));
}

TEST_F(ViewCommand, RefusesAPortThatIsInUse) {
  RunningView view({});
  const std::string port = std::to_string(tests::port_in(view.line()));
  const Outcome outcome = run_qkv({"view", "--no-open", "--port", port});
  EXPECT_EQ(outcome.code, 2);
  EXPECT_THAT(outcome.err, HasSubstr("--port: expected a free port, got " + port + ", which is in use"));
}

TEST(ViewCommandWithoutPages, SaysWhatToInstall) {
  if (!built_pages().page.empty()) GTEST_SKIP() << "this build has pages";
  const Outcome outcome = run_qkv({"view", "--no-open"});
  EXPECT_EQ(outcome.code, 1);
  EXPECT_THAT(outcome.err, HasSubstr("this qkv has no studio: " + std::string(why_without_pages())));
  EXPECT_THAT(outcome.err, HasSubstr("install nodejs (18 or newer) and npm"));
}

TEST(ViewCommandChecks, WhatItIsGivenBeforeItServes) {
  const auto refusal = [](std::vector<std::string> arguments, int code = 2) {
    arguments.insert(arguments.begin(), {"view", "--no-open"});
    const Outcome outcome = run_qkv(arguments);
    EXPECT_EQ(outcome.code, code);
    return outcome.err;
  };
  EXPECT_THAT(refusal({"inductoin"}, 1), HasSubstr("qkv view: MODEL: no model \"inductoin\" in the box"));
  EXPECT_THAT(refusal({"./nothing.safetensors"}, 1),
              HasSubstr("MODEL: cannot read ./nothing.safetensors: No such file"));
  const qkv::tests::TemporaryDirectory folder;
  EXPECT_THAT(refusal({folder.path()}, 1), HasSubstr("expected a folder with config.json, got one without"));
  const std::string script = folder / "script.sh";
  std::ofstream(script) << "#!/bin/sh\necho no weights\n";
  EXPECT_THAT(refusal({script}, 1),
              HasSubstr("MODEL: " + script +
                        ": expected a file of safetensors or GGUF, or a folder with config.json, got another file"));
  const Outcome exported = run_qkv({"view", "--export", folder / "page.html", script});
  EXPECT_EQ(exported.code, 1);
  EXPECT_THAT(exported.err, HasSubstr("MODEL: " + script + ": expected a file of safetensors or GGUF"));
  const std::string page = folder / "page.html";
  const Outcome unread = run_qkv({"view", "translation", "--text", "xyzzy", "--export", page});
  EXPECT_EQ(unread.code, 2);
  EXPECT_THAT(unread.err, HasSubstr("--text: expected a piece of the vocabulary, got \"xyzzy\""));
  EXPECT_FALSE(std::filesystem::exists(page));
  EXPECT_THAT(refusal({"--file", "/nothing"}, 1), HasSubstr("--file: cannot read /nothing: No such file or directory"));
  EXPECT_THAT(refusal({"--mask", "causal & windw(3)"}), HasSubstr("--mask: column 10: "));
  EXPECT_THAT(refusal({"--port", "65536"}), HasSubstr("--port: "));
  EXPECT_THAT(refusal({"--export", "-1"}), HasSubstr("--export: expected a name, with ./ before one that begins"));
  EXPECT_THAT(refusal({"--root", "/nothing"}), HasSubstr("--root: expected a folder, got \"/nothing\""));
}

TEST(ViewCommandDescribes, EveryQuestion) {
  const Outcome outcome = run_qkv({"view", "--describe"});
  EXPECT_EQ(outcome.code, 0);
  const auto told = nlohmann::json::parse(outcome.out).at("questions");
  ASSERT_EQ(told.size(), questions().size());
  for (std::size_t n = 0; n < told.size(); ++n) {
    const Question& question = questions()[n];
    EXPECT_EQ(told[n].at("name"), question.name);
    EXPECT_EQ(told[n].at("fields").size(), question.fields.size());
    EXPECT_EQ(told[n].at("replies").size(), question.replies.size());
    const ReplyType& reply = question.replies.front().type;
    const std::string& object = reply.of.empty() ? reply.name : reply.of.front().name;
    EXPECT_TRUE(told[n].at("objects").contains(object)) << question.name;
  }
}

}  // namespace
}  // namespace qkv::studio::view_command_test
