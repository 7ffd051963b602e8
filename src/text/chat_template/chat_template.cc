#include "qkv/text/chat_template.h"

#include "qkv/error.h"
#include "text/chat_template/parser.h"
#include "text/chat_template/renderer.h"

namespace qkv {
namespace {

namespace jinja = text::jinja;

constexpr const char* kPlace = "chat template: ";
constexpr std::size_t kMostBytes = std::size_t{1} << 20;

using Names = std::vector<std::pair<std::string, jinja::Value>>;

jinja::Value value_of(jinja::Budget& budget, const ChatMessage& message, std::size_t place) {
  const auto text = [&](std::string bytes) { return jinja::plain_text(budget, std::move(bytes)); };
  return jinja::dict_of(
      budget, {{text("role"), text(message.role)},
               {text("content"), jinja::marked_text(budget, jinja::MarkedText::of_message(message.content, place))}});
}

Names names_of(jinja::Budget& budget, std::span<const ChatMessage> messages, const ChatOptions& options) {
  std::vector<jinja::Value> all;
  for (const ChatMessage& message : messages) all.push_back(value_of(budget, message, all.size()));
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
  jinja::Budget budget(messages.size(), size_of(messages));
  jinja::Renderer renderer(budget, names_of(budget, messages, options), options.now);
  try {
    const jinja::MarkedText text = renderer.run(tree_->body);
    return {text.bytes(), parts_of(text)};
  } catch (const jinja::Fault& fault) {
    throw Error(kPlace + jinja::at_line(renderer.line(), fault.what()));
  }
}

std::string ChatTemplate::render(std::span<const ChatMessage> messages, const ChatOptions& options) const {
  return render_parts(messages, options).text;
}

}  // namespace qkv
