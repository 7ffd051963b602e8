// Chat templates: published ones and each construct give the text that Jinja gives, and what is wrong is named.
#include "qkv/text/chat_template.h"

#include <gmock/gmock.h>

#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <set>

#include "core/error_message.h"
#include "qkv/error.h"

namespace qkv::chat_template_test {
namespace {

using nlohmann::json;
using testing::HasSubstr;

const std::string kFolder = QKV_SOURCE_DIR "/tests/text/fixtures/chat_templates/";

std::string content_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

const json& cases() {
  static const json kCases = json::parse(content_of(kFolder + "chat_templates.json"));
  return kCases;
}

std::string template_of(const json& one) {
  return one.contains("file") ? content_of(kFolder + one.at("file").get<std::string>())
                              : one.at("template").get<std::string>();
}

ChatMessage in_parts(const std::string& role, const std::vector<std::string>& parts) {
  std::string content;
  for (const std::string& part : parts) content += (&part == parts.data() ? "" : "\n") + part;
  return {.role = role, .content = content, .parts = parts};
}

std::string without_blanks(std::string text) {
  std::erase_if(text, [](char c) { return c == ' ' || c == '\n'; });
  return text;
}

std::vector<ChatMessage> messages_of(const json& one) {
  std::vector<ChatMessage> messages;
  for (const json& message : one.at("messages")) {
    const json& content = message.at("content");
    if (content.is_string()) {
      messages.push_back({message.at("role"), content});
      continue;
    }
    std::vector<std::string> parts;
    for (const json& part : content) parts.push_back(part.at("text"));
    messages.push_back(in_parts(message.at("role"), parts));
  }
  return messages;
}

// 2025-03-04 15:07:09, as in make_chat_templates.py.
std::tm fixed_time() {
  std::tm time{};
  time.tm_year = 125;
  time.tm_mon = 2;
  time.tm_mday = 4;
  time.tm_hour = 15;
  time.tm_min = 7;
  time.tm_sec = 9;
  time.tm_wday = 2;
  time.tm_yday = 62;
  return time;
}

ChatOptions options_of(const json& one) {
  return {.bos_token = one.at("bos_token").get<std::string>(),
          .eos_token = one.at("eos_token").get<std::string>(),
          .add_generation_prompt = one.at("add_generation_prompt").get<bool>(),
          .now = fixed_time()};
}

std::string rendered(const std::string& text, const std::vector<ChatMessage>& messages = {},
                     const ChatOptions& options = {}) {
  return ChatTemplate::parse(text).render(messages, options);
}

std::string refusal(const std::string& text, const std::vector<ChatMessage>& messages = {}) {
  return error_message<Error>([&] { static_cast<void>(rendered(text, messages)); });
}

TEST(ChatTemplates, PublishedOnesAndConstructsGiveJinjasText) {
  std::set<std::string> files;
  std::size_t constructs = 0;
  for (const json& one : cases()) {
    if (one.contains("file")) files.insert(one.at("file").get<std::string>());
    constructs += one.contains("template") ? 1 : 0;
    const std::string text = template_of(one);
    const std::string name = one.contains("file") ? one.at("file").get<std::string>() : text;
    if (one.contains("error")) {
      const std::string message =
          error_message<Error>([&] { static_cast<void>(rendered(text, messages_of(one), options_of(one))); });
      EXPECT_THAT(message, HasSubstr("chat template: line ")) << name << one.at("error");
    } else {
      EXPECT_EQ(rendered(text, messages_of(one), options_of(one)), one.at("text").get<std::string>())
          << name << one.at("messages");
    }
  }
  EXPECT_GE(files.size(), 30U);
  EXPECT_GE(constructs, 100U);
}

// Of a message are all bytes of its content that are printed, and no others.
TEST(ChatTemplates, EachByteIsOfTheTemplateOrOfAMessage) {
  for (const json& one : cases()) {
    if (one.contains("error")) continue;
    const std::vector<ChatMessage> messages = messages_of(one);
    const RenderedChat chat = ChatTemplate::parse(template_of(one)).render_parts(messages, options_of(one));
    std::size_t at = 0;
    for (const ChatPart& part : chat.parts) {
      ASSERT_EQ(part.begin, at);
      ASSERT_LT(part.begin, part.end);
      at = part.end;
      if (!part.message || !one.contains("file")) continue;
      const std::string piece = chat.text.substr(part.begin, part.end - part.begin);
      const ChatMessage& message = messages.at(*part.message);
      if (message.parts.empty()) {
        EXPECT_THAT(message.content, HasSubstr(piece)) << one.at("file");
      } else {  // one behind the other, trimmed or not
        EXPECT_THAT(without_blanks(message.content), HasSubstr(without_blanks(piece))) << one.at("file");
      }
    }
    EXPECT_EQ(at, chat.text.size());
  }
}

// Parts go to a template that goes through them, one text to another; each role by itself.
TEST(ChatTemplates, TakesContentsInParts) {
  const std::vector<ChatMessage> messages = {in_parts("system", {"be", "so"}), in_parts("user", {"a", "b\n"})};
  const std::string begin = "{% for m in messages %}[{{ m.role }} ";
  const std::string end = "]{% endfor %}";
  const std::string over_parts = "{% for part in m.content %}{{ part.text | upper }}{% endfor %}";
  EXPECT_EQ(rendered(begin + "{{ m.content }}" + end, messages), "[system be\nso][user a\nb\n]");
  EXPECT_EQ(rendered(begin + "{{ m.content + '!' }}" + end, messages), "[system be\nso!][user a\nb\n!]");
  EXPECT_EQ(rendered(begin + over_parts + end, messages), "[system BESO][user AB\n]");
  EXPECT_EQ(rendered(begin + "{% if m.role == 'user' %}" + over_parts + "{% else %}{{ m.content }}{% endif %}" + end,
                     messages),
            "[system be\nso][user AB\n]");
  EXPECT_EQ(rendered(begin + "{{ m.content | tojson }}" + end, messages), R"([system "be\nso"][user "a\nb\n"])");
  const RenderedChat chat = ChatTemplate::parse(begin + over_parts + end).render_parts(messages);
  EXPECT_EQ(chat.parts.at(3).message, 1U);
  EXPECT_EQ(chat.text.substr(chat.parts[3].begin, 3), "AB\n");
}

TEST(ChatTemplates, MarksFollowWhatATemplateMakesOfAContent) {
  const std::vector<ChatMessage> messages = {{"user", " héllo, x "}, {"assistant", "Bo"}};
  const auto of_message = [&](const std::string& text, std::size_t message) {
    const RenderedChat chat = ChatTemplate::parse(text).render_parts(messages);
    std::string bytes;
    for (const ChatPart& part : chat.parts) {
      if (part.message == message) bytes += chat.text.substr(part.begin, part.end - part.begin);
    }
    return bytes;
  };
  EXPECT_EQ(of_message("<{{ messages[0].content | trim }}>", 0), "héllo, x");
  EXPECT_EQ(of_message("{{ messages[0]['content'].split(',')[0] | upper }}!", 0), " HÉLLO");
  EXPECT_EQ(of_message("{{ 'x' + messages[0].content[1:3] ~ messages[1].content }}", 0), "hé");
  EXPECT_EQ(of_message("{{ 'x' + messages[0].content[1:3] ~ messages[1].content }}", 1), "Bo");
  EXPECT_EQ(of_message("{{ messages | tojson }}", 1), "Bo");
  EXPECT_EQ(of_message("{{ messages[0].content | replace('l', '_') }}", 0), " héo, x ");
  EXPECT_EQ(of_message(
                "{% macro f(m) %}[{{ m.content }}]{% endmacro %}{% set t %}{{ f(messages[1]) }}{% endset %}{{ t }}", 1),
            "Bo");
  EXPECT_EQ(of_message("{{ messages[0].role }}user", 0), "");
}

TEST(ChatTemplates, KnowTokensFlagsAndTheTime) {
  EXPECT_EQ(
      rendered("{{ bos_token }}|{{ unk_token }}|{{ enable_thinking }}|{{ enable_other }}", {},
               {.bos_token = "<s>", .special_tokens = {{"unk_token", "<unk>"}}, .flags = {{"enable_thinking", false}}}),
      "<s>|<unk>|False|");
  EXPECT_EQ(rendered("{{ strftime_now('%Y') | length }}"), "4");
  EXPECT_EQ(rendered("{{ strftime_now('%d.%m.%Y') }}", {}, {.now = fixed_time()}), "04.03.2025");
  EXPECT_THAT(refusal("{{ strftime_now('%Q') }}"), HasSubstr("line 1: strftime_now: expected one of %Y"));
}

TEST(ChatTemplates, ErrorsNameTheLineAndWhatWasExpected) {
  EXPECT_EQ(refusal("a\n{% if x %}\nb"),
            "chat template: line 3: expected elif or else or endif, got the template's end");
  EXPECT_EQ(refusal("a\n\n{{ 1 + }}"), "chat template: line 3: expected an expression, got }}");
  EXPECT_EQ(refusal("{{ 'a }}\n"), "chat template: line 1: expected ' that ends the string, got the template's end");
  EXPECT_EQ(refusal("{% include 'x' %}"),
            "chat template: line 1: expected if, for, set, macro, call, filter, with, generation or raw, or break or "
            "continue in a for, got include");
  EXPECT_EQ(refusal("\n{{ message.role }}"),
            "chat template: line 2: expected a value whose member 'role' is asked for, but 'message' is undefined");
  EXPECT_EQ(refusal("\n\n{{ raise_exception('Only users') }}"),
            "chat template: line 3: the template refuses this conversation: Only users");
  EXPECT_EQ(refusal("{{ 'a' | nope }}"),
            "chat template: line 1: expected a filter of Jinja that chat templates use, got 'nope'");
  EXPECT_EQ(refusal("{{ 1 is nope }}"),
            "chat template: line 1: expected a test of Jinja that chat templates use, got 'nope'");
  EXPECT_EQ(refusal("{{ 'a' + 1 }}"),
            "chat template: line 1: expected values that + takes, got a string and an integer");
  EXPECT_EQ(refusal("{{ 'a'.strip(1) }}"),
            "chat template: line 1: strip: expected a string as argument 'chars', got an integer");
  EXPECT_EQ(refusal("{{ 9223372036854775807 + 1 }}"),
            "chat template: line 1: expected an integer of at most 64 bits, got a greater one");
  EXPECT_EQ(refusal(std::string((std::size_t{1} << 20) + 1, 'a')),
            "chat template: expected at most 1 MiB, got 1048577 bytes");
}

TEST(ChatTemplates, AHostileOneIsRefused) {
  const std::vector<std::pair<std::string, std::string>> hostile = {
      {"{% for i in range(10**9) %}{% endfor %}", "at most 100000 numbers"},
      {"{% for i in range(99999) %}{% for j in range(99999) %}{% endfor %}{% endfor %}", "got more bytes"},
      {"{% macro f() %}{{ f() }}{% endmacro %}{{ f() }}", "not deeply nested"},
      {"{{ 'a' * 10**12 }}", "got more bytes"},
      {"{{ [0] * 10**18 }}", "got more bytes"},
      {"{% set ns = namespace(x='a') %}{% for i in range(60) %}{% set ns.x = ns.x ~ ns.x %}{% endfor %}",
       "got more bytes"},
      {"{% set ns = namespace(x=[1]) %}{% for i in range(60) %}{% set ns.x = [ns.x, ns.x] %}{% endfor %}{{ ns.x }}",
       "expected"},
      {"{% set ns = namespace(x=[]) %}{% for i in range(9999) %}{% set ns.x = [ns.x] %}{% endfor %}", "deeply nested"},
      {"{% set a = 'a' * 400000 %}{{ (a ~ a) in (a ~ 'b' ~ a) }}", "a template that ends"},
      {"{{ " + std::string(5000, '(') + "1" + std::string(5000, ')') + " }}", "not deeply nested"},
      {"{{ 1" + std::string(9000, '+') + "1 }}", "not deeply nested"},
      {std::string(5000, ' ') + "{{ not " + std::string(300, ' ') + " }}", "an expression"},
  };
  for (const auto& [text, expected] : hostile) EXPECT_THAT(refusal(text), HasSubstr(expected)) << text.substr(0, 60);
}

TEST(ChatTemplates, NamespacesAndMacrosMayHoldThemselves) {
  EXPECT_EQ(rendered("{% set ns = namespace() %}{% set ns.me = ns %}{{ ns.me.me is defined }}"), "True");
  EXPECT_EQ(rendered("{% set ns = namespace() %}{% macro f() %}x{% endmacro %}{% set ns.f = f %}{{ ns.f() }}"), "x");
  EXPECT_THAT(refusal("{% set ns = namespace() %}{% for i in [1] %}{% macro f() %}x{% endmacro %}{% set ns.f = f %}"
                      "{% endfor %}{{ ns.f() }}"),
              HasSubstr("its scope has ended"));
}

TEST(ChatTemplates, TakeBrokenTextsAsTheyAre) {
  EXPECT_EQ(rendered("{{ messages[0].content | trim }}.", {{"user", " \xFF\xE2\x82 a "}}), "\xFF\xE2\x82 a.");
  EXPECT_EQ(rendered("{{ messages[0].content | length }}", {{"user", "\xFF\xE2\x82"}}), "2");
}

}  // namespace
}  // namespace qkv::chat_template_test
