// Conversations with a model: messages in its chat template, answers, and the cache that is kept from turn to turn.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "qkv/model/decoder.h"
#include "qkv/model/text_model.h"
#include "qkv/model/write_text.h"
#include "qkv/text/chat_template.h"

namespace qkv {

/// A conversation as a model reads it.
struct ChatTokens {
  RenderedChat rendered;
  std::vector<std::int32_t> ids = {};
  std::vector<TextRange> offsets = {};  // of each token: its bytes of rendered.text
  // Of each token the message that it has a byte of; nullopt for what is of the template alone.
  std::vector<std::optional<std::size_t>> messages = {};
};

/// Of token n: the role of the message that it has a byte of, or "template".
[[nodiscard]] std::string source_in(const ChatTokens& read, std::span<const ChatMessage> messages, std::size_t n);

/// Whether a rendered conversation ends with what the template puts before an answer.
enum class ChatEnd : std::uint8_t { closed, for_answer };

/// The chat template of a model with its tokenizer. Copies share them.
class ChatForm {
 public:
  /// Throws Error for a model without a template, saying what to do, and as ChatTemplate::parse().
  explicit ChatForm(const ModelTokenizers& tokenizers);
  explicit ChatForm(const TextModel& model) : ChatForm(model.model().tokenizers()) {}

  /// The conversation as text and tokens; the tokenizer's own template, which puts "<s>" before other texts, adds
  /// nothing. Throws as ChatTemplate::render().
  [[nodiscard]] ChatTokens read(std::span<const ChatMessage> messages, ChatEnd end) const;
  /// The special token with which the template ends an answer: "<|im_end|>"; nullopt where it has none.
  [[nodiscard]] std::optional<std::int64_t> end_of_turn() const;

 private:
  ChatTemplate template_;
  ChatOptions options_;
  std::shared_ptr<const Tokenizer> tokenizer_;
};

/// A conversation that grows. Of each turn only the tokens are computed that the last one did not have; where the
/// answer's text is cut into other tokens than were written, from the first other one on.
class Chat {
 public:
  /// `model` must outlive it. Throws as ChatForm, and InvalidArgument naming model for one that is no decoder that
  /// writes.
  explicit Chat(const TextModel& model);

  void say(ChatMessage message) { messages_.push_back(std::move(message)); }
  /// Writes the answer to the messages, and adds it to them as the assistant's. It ends at the model's own ends, at the
  /// template's end of a turn, at options.stops, and where the model's window is full (WriteEnd::positions). Where a
  /// WatchedThread stops the computation, what was written so far is the answer (WriteEnd::reader). Throws
  /// InvalidArgument naming messages if there is none, or the last one is the assistant's; draw.beams other than 1; and
  /// as write_texts(); Error for more tokens than the model reads at once.
  WrittenText answer(const WriteOptions& options);

  [[nodiscard]] const std::vector<ChatMessage>& messages() const noexcept { return messages_; }
  /// What the model read for the last answer.
  [[nodiscard]] const ChatTokens& last_read() const noexcept { return read_; }
  /// How many tokens were computed in all turns.
  [[nodiscard]] std::int64_t computed() const noexcept { return kept_.computed; }

 private:
  const TextModel* model_;
  ChatForm form_;
  std::vector<std::int64_t> ends_;
  std::vector<ChatMessage> messages_;
  ChatTokens read_;
  KeptText kept_;
};

}  // namespace qkv
