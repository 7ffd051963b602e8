// Conversations as the text that a model was trained on: the chat template of its tokenizer.
#pragma once

#include <cstddef>
#include <ctime>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace qkv {

struct ChatMessage {
  std::string role;  // "system", "user", "assistant", or what else the template knows
  std::string content;
  // Texts that the content was given as, if it was; it is these, joined by line breaks. A template that goes through
  // parts has them as [{"type": "text", "text": ...}, ...], any other the content.
  std::vector<std::string> parts = {};
};

struct ChatOptions {
  std::optional<std::string> bos_token = std::nullopt;  // undefined in the template if not given, as the others
  std::optional<std::string> eos_token = std::nullopt;
  std::map<std::string, std::string> special_tokens = {};  // "unk_token", "pad_token" …
  bool add_generation_prompt = false;                      // ends with what stands in front of the model's answer
  std::map<std::string, bool> flags = {};                  // further variables of the template: "enable_thinking"
  std::optional<std::tm> now = std::nullopt;               // the date for templates that name one; else local time
};

/// Bytes [begin, end) of a rendered conversation: of the template, or of the content of a message.
struct ChatPart {
  std::size_t begin = 0;
  std::size_t end = 0;
  std::optional<std::size_t> message = std::nullopt;  // its place in the conversation
};

struct RenderedChat {
  std::string text;
  std::vector<ChatPart> parts;  // in order; together they cover the text, and none is empty
};

/// A template in the part of Jinja that published chat templates use, with the results of Jinja 3.1 as `transformers`
/// sets it up (immutable sandbox, trim_blocks, lstrip_blocks, break and continue, tojson without escapes, and
/// raise_exception and strftime_now). `tools` and `documents` are none. Strings marked as safe are strings as others.
/// There is no extends, include, import, recursive for, *arguments, and no % or format for strings.
/// Immutable; several threads may render at a time.
class ChatTemplate {
 public:
  /// `text`: what tokenizer_config.json has as chat_template, chat_template.jinja, or a GGUF file's
  /// tokenizer.chat_template. Throws Error("chat template: line <n>: expected …, got …") for what is no template, and
  /// for one of more than 1 MiB.
  [[nodiscard]] static ChatTemplate parse(std::string_view text);

  /// The conversation as text. Throws Error for a conversation that the template refuses, with its words, for members
  /// of undefined values, and for a template that needs more steps, bytes or depth than a conversation of this size may
  /// need: such a template ends within a tenth of a second.
  [[nodiscard]] std::string render(std::span<const ChatMessage> messages, const ChatOptions& options = {}) const;

  /// The same with the origin of each byte. What a template makes of a content, such as its upper case or a part of
  /// it, is of the message, too; a role is of the template.
  [[nodiscard]] RenderedChat render_parts(std::span<const ChatMessage> messages, const ChatOptions& options = {}) const;

 private:
  struct Tree;
  explicit ChatTemplate(std::shared_ptr<const Tree> tree) : tree_(std::move(tree)) {}

  std::shared_ptr<const Tree> tree_;
};

}  // namespace qkv
