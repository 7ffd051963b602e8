#include "qkv/text/chat_template.h"

#include <algorithm>
#include <set>

#include "qkv/error.h"
#include "text/chat_template/parser.h"
#include "text/chat_template/renderer.h"

namespace qkv {
namespace {

namespace jinja = text::jinja;

constexpr const char* kPlace = "chat template: ";
constexpr std::size_t kMostBytes = std::size_t{1} << 20;

using Names = std::vector<std::pair<std::string, jinja::Value>>;

using Roles = std::set<std::string, std::less<>>;

jinja::Value content_of(jinja::Budget& budget, const ChatMessage& message, std::size_t place, const Roles& in_parts) {
  const auto marked = [&](const std::string& text) {
    return jinja::marked_text(budget, jinja::MarkedText::of_message(text, place));
  };
  if (message.parts.empty() || !in_parts.contains(message.role)) return marked(message.content);
  const auto text = [&](const char* bytes) { return jinja::plain_text(budget, bytes); };
  std::vector<jinja::Value> parts;
  for (const std::string& part : message.parts) {
    parts.push_back(jinja::dict_of(budget, {{text("type"), text("text")}, {text("text"), marked(part)}}));
  }
  return jinja::list_of(budget, std::move(parts));
}

Names names_of(jinja::Budget& budget, std::span<const ChatMessage> messages, const ChatOptions& options,
               const Roles& in_parts) {
  const auto text = [&](const std::string& bytes) { return jinja::plain_text(budget, bytes); };
  std::vector<jinja::Value> all;
  for (const ChatMessage& message : messages) {
    all.push_back(jinja::dict_of(budget, {{text("role"), text(message.role)},
                                          {text("content"), content_of(budget, message, all.size(), in_parts)}}));
  }
  Names names = {{"messages", jinja::list_of(budget, std::move(all))},
                 {"add_generation_prompt", jinja::boolean(options.add_generation_prompt)},
                 {"tools", jinja::none()},
                 {"documents", jinja::none()}};
  if (options.bos_token) names.emplace_back("bos_token", jinja::plain_text(budget, *options.bos_token));
  if (options.eos_token) names.emplace_back("eos_token", jinja::plain_text(budget, *options.eos_token));
  for (const auto& [name, token] : options.special_tokens) {
    names.emplace_back(name, jinja::plain_text(budget, token));
  }
  for (const auto& [name, flag] : options.flags) names.emplace_back(name, jinja::boolean(flag));
  return names;
}

std::vector<ChatPart> parts_of(const jinja::MarkedText& text) {
  std::vector<ChatPart> parts;
  std::size_t at = 0;
  for (const jinja::Mark& mark : text.marks()) {
    if (at < mark.begin) parts.push_back({at, mark.begin, std::nullopt});
    parts.push_back({mark.begin, mark.end, mark.message});
    at = mark.end;
  }
  if (at < text.size()) parts.push_back({at, text.size(), std::nullopt});
  return parts;
}

std::size_t size_of(std::span<const ChatMessage> messages) {
  std::size_t bytes = 0;
  for (const ChatMessage& message : messages) bytes += message.role.size() + message.content.size();
  return bytes;
}

jinja::MarkedText rendered_by(const jinja::Body& body, std::span<const ChatMessage> messages,
                              const ChatOptions& options, const Roles& in_parts) {
  jinja::Budget budget(messages.size(), size_of(messages));
  jinja::Renderer renderer(budget, names_of(budget, messages, options, in_parts), options.now);
  try {
    return renderer.run(body);
  } catch (const jinja::Fault& fault) {
    throw Error(kPlace + jinja::at_line(renderer.line(), fault.what()));
  }
}

// Whether the template prints the texts of a message's parts. One that knows texts alone refuses a list, or prints it
// as Python would, where this character is escaped.
bool takes_parts(const jinja::Body& body, std::vector<ChatMessage> messages, std::size_t n,
                 const ChatOptions& options) {
  const std::string mark = "\x01";
  messages[n].content = mark;
  messages[n].parts = {mark};
  for (std::size_t other = 0; other < messages.size(); ++other) {
    if (other != n) messages[other].parts.clear();
  }
  try {
    const jinja::MarkedText text = rendered_by(body, messages, options, {messages[n].role});
    return std::ranges::any_of(text.marks(), [&](const jinja::Mark& one) {
      return one.message == n && text.bytes().substr(one.begin, one.end - one.begin).find(mark) != std::string::npos;
    });
  } catch (const Error&) {
    return false;
  }
}

// Of those that have parts here. A template may take a list from users alone.
Roles roles_in_parts(const jinja::Body& body, std::span<const ChatMessage> messages, const ChatOptions& options) {
  Roles asked, taken;
  for (std::size_t n = 0; n < messages.size(); ++n) {
    if (messages[n].parts.empty() || !asked.insert(messages[n].role).second) continue;
    if (takes_parts(body, {messages.begin(), messages.end()}, n, options)) taken.insert(messages[n].role);
  }
  return taken;
}

}  // namespace

struct ChatTemplate::Tree {
  jinja::Body body;
};

ChatTemplate ChatTemplate::parse(std::string_view text) {
  if (text.size() > kMostBytes) {
    throw Error(std::string(kPlace) + "expected at most 1 MiB, got " + std::to_string(text.size()) + " bytes");
  }
  try {
    return ChatTemplate(std::make_shared<const Tree>(Tree{jinja::parse(jinja::tokens_of(text))}));
  } catch (const jinja::Fault& fault) {
    throw Error(std::string(kPlace) + fault.what());
  }
}

RenderedChat ChatTemplate::render_parts(std::span<const ChatMessage> messages, const ChatOptions& options) const {
  const jinja::MarkedText text =
      rendered_by(tree_->body, messages, options, roles_in_parts(tree_->body, messages, options));
  return {text.bytes(), parts_of(text)};
}

std::string ChatTemplate::render(std::span<const ChatMessage> messages, const ChatOptions& options) const {
  return render_parts(messages, options).text;
}

}  // namespace qkv
