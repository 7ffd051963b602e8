// What a request says of a conversation.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "api/fields/refuse.h"
#include "files/json_text.h"
#include "qkv/api/texts.h"
#include "qkv/files.h"

namespace qkv {
namespace {

using api_detail::refuse;
using nlohmann::json;

constexpr const char* kForm = R"(a list of messages, [{"role": "user", "content": "Hello"}])";

[[noreturn]] void refuse_message(std::size_t n, const std::string& expected, const std::string& got) {
  refuse("messages", std::string(kForm) + ", of message " + std::to_string(n) + " " + expected, got);
}

std::string got_at(const json& one, const char* key) {
  return one.is_object() && one.contains(key) ? files::json_for_message(one.at(key)) : "none";
}

// [{"type": "text", "text": "Hello"}], as programs of other servers say it.
std::vector<std::string> parts_in(const json& content, std::size_t n) {
  constexpr const char* kParts = R"(texts alone as parts of its content, {"type": "text", "text": "Hello"})";
  if (content.empty()) refuse_message(n, kParts, "[]");
  std::vector<std::string> parts;
  for (const json& part : content) {
    const bool is_part = part.is_object() && part.contains("type");
    if (!is_part || part.at("type") != "text")
      refuse_message(n, kParts, is_part ? got_at(part, "type") : files::json_for_message(part));
    if (!part.contains("text") || !part.at("text").is_string()) refuse_message(n, kParts, got_at(part, "text"));
    parts.push_back(part.at("text").get<std::string>());
  }
  return parts;
}

ChatMessage message_of(const json& one, std::size_t n) {
  const auto is_text = [&](const char* key) { return one.is_object() && one.contains(key) && one.at(key).is_string(); };
  if (!is_text("role")) refuse_message(n, "a text as role", got_at(one, "role"));
  const bool has_calls = one.contains("tool_calls") && !one.at("tool_calls").is_null() && !one.at("tool_calls").empty();
  if (has_calls) refuse_message(n, "no tool_calls, which qkv does not show a model", got_at(one, "tool_calls"));
  ChatMessage message{.role = one.at("role").get<std::string>(), .content = {}};
  if (one.contains("content") && one.at("content").is_array()) {
    message.parts = parts_in(one.at("content"), n);
    message.content = fmt::format("{}", fmt::join(message.parts, "\n"));
  } else if (is_text("content")) {
    message.content = one.at("content").get<std::string>();
  } else {
    refuse_message(n, "a text as content, or a list of texts", got_at(one, "content"));
  }
  return message;
}

std::vector<ChatMessage> messages_in(const std::string& request) {
  const std::size_t begin = request.find_first_not_of(" \t\r\n");
  const bool is_json = begin != std::string::npos && request[begin] == '[';
  const json all = is_json ? files::parse_json(request, "messages") : files::read_json(request);
  if (!all.is_array() || all.empty()) refuse("messages", kForm, files::json_for_message(all));
  std::vector<ChatMessage> messages;
  for (const json& one : all) messages.push_back(message_of(one, messages.size()));
  return messages;
}

}  // namespace

const Fields<ChatRequest>& chat_fields() {
  static const Fields<ChatRequest> kFields = [] {
    using R = ChatRequest;
    const std::string group = "A conversation";
    Fields<R> fields;
    fields.add(&R::chat, {.name = "chat", .meaning = "Talk with the model in its chat template", .group = group});
    fields.add(&R::system, {.name = "system",
                            .form = "TEXT",
                            .meaning = "What the model is told first",
                            .group = group,
                            .needs = {"chat"},
                            .may_be_empty = true});
    fields.add(&R::user, {.name = "user",
                          .form = "TEXT",
                          .meaning = "The message to answer, and to end after",
                          .group = group,
                          .needs = {"chat"}});
    fields.add(&R::messages, {.name = "messages",
                              .form = "FILE",
                              .meaning = R"(A conversation so far: JSON, [{"role": "user", "content": "Hello"}, ...])",
                              .group = group,
                              .needs = {"chat"}});
    fields.give_examples({{"system", "Answer in one word."},
                          {"user", "What is the capital of France?"},
                          {"messages", R"([{"role": "user", "content": "Hello"}])"}});
    return fields;
  }();
  return kFields;
}

std::vector<ChatMessage> conversation_in(const ChatRequest& request, const std::optional<std::string>& text) {
  std::vector<ChatMessage> messages;
  if (request.system) messages.push_back({.role = "system", .content = *request.system});
  if (!request.messages.empty()) {
    const std::vector<ChatMessage> had = messages_in(request.messages);
    messages.insert(messages.end(), had.begin(), had.end());
  }
  if (const auto& said = text ? text : request.user) messages.push_back({.role = "user", .content = *said});
  if (!messages.empty() && messages.back().role == "assistant") {
    refuse("messages", "a last message to be answered, or `user`", "one of the assistant");
  }
  return messages;
}

GenerateOptions chat_draw(const GenerateOptions& asked, const Given& given, const std::string& path) {
  const GenerateOptions theirs = draw_options_of(path);
  GenerateOptions draw = asked;
  if (!given.has("repetition_penalty")) draw.repetition_penalty = theirs.repetition_penalty;
  if (!given.has("temperature")) draw.temperature = theirs.temperature;
  if (draw.temperature == 0) {
    if (given.has("seed")) refuse("seed", "a `temperature` above 0 beside it", "none");
    return draw;
  }
  if (!given.has("top_k")) draw.top_k = theirs.top_k;
  if (!given.has("top_p")) draw.top_p = theirs.top_p;
  if (!given.has("min_p")) draw.min_p = theirs.min_p;
  return draw;
}

}  // namespace qkv
