#include "qkv/model/chat.h"

#include <algorithm>
#include <limits>
#include <map>
#include <string>
#include <utility>

#include "model/growing_text.h"
#include "model/next_token.h"
#include "model/require_finite.h"
#include "model/require_writing.h"
#include "qkv/cancel.h"
#include "qkv/error.h"

namespace qkv {
namespace {

constexpr const char* kChat = "Chat";
constexpr const char* kAssistant = "assistant";

ChatTemplate template_of(const ModelTokenizers& tokenizers) {
  const std::string& text = tokenizers.chat_template;
  if (!text.empty() && tokenizers.tokens != nullptr) return ChatTemplate::parse(text);
  throw InvalidArgument(kChat, "model",
                        "one with a chat template (tokenizer_config.json, chat_template.jinja, or "
                        "tokenizer.chat_template of GGUF), which "
                        "has learned conversations, and whose name often ends in -Instruct or -chat",
                        "one without");
}

std::map<std::string, std::string> without_ends(std::map<std::string, std::string> tokens) {
  tokens.erase("bos_token");
  tokens.erase("eos_token");
  return tokens;
}

ChatOptions chat_options_of(const ModelTokenizers& tokenizers) {
  const auto token = [&](const char* name) -> std::optional<std::string> {
    const auto found = tokenizers.special_tokens.find(name);
    return found == tokenizers.special_tokens.end() ? std::nullopt : std::optional(found->second);
  };
  return {.bos_token = token("bos_token"),
          .eos_token = token("eos_token"),
          .special_tokens = without_ends(tokenizers.special_tokens)};
}

// The message that a token has a byte of; a token of the template alone has none.
std::optional<std::size_t> message_of(const TextRange& token, std::span<const ChatPart> parts) {
  for (const ChatPart& part : parts) {
    if (part.message && part.begin < token.end && token.begin < part.end) return part.message;
  }
  return std::nullopt;
}

const Decoder& writing_decoder(const TextModel& model) {
  const Decoder* decoder = model.model().parts().decoder;
  if (decoder != nullptr && model.traits().goes_on && model.lengths().source == 0) return *decoder;
  throw InvalidArgument(kChat, "model", "a decoder, which goes on with its texts",
                        "one of kind " + std::string(name_of(model.kind())));
}

}  // namespace

ChatForm::ChatForm(const ModelTokenizers& tokenizers)
    : template_(template_of(tokenizers)), options_(chat_options_of(tokenizers)), tokenizer_(tokenizers.tokens) {}

ChatTokens ChatForm::read(std::span<const ChatMessage> messages, ChatEnd end) const {
  ChatOptions options = options_;
  options.add_generation_prompt = end == ChatEnd::for_answer;
  ChatTokens tokens{.rendered = template_.render_parts(messages, options)};
  Encoding encoding = tokenizer_->encode(tokens.rendered.text, {.special = SpecialTokens::without});
  for (const TextRange& range : encoding.offsets) {
    tokens.messages.push_back(message_of(range, tokens.rendered.parts));
  }
  tokens.ids = std::move(encoding.ids);
  tokens.offsets = std::move(encoding.offsets);
  return tokens;
}

std::string source_in(const ChatTokens& read, std::span<const ChatMessage> messages, std::size_t n) {
  return read.messages[n] ? messages[*read.messages[n]].role : "template";
}

std::optional<std::int64_t> ChatForm::end_of_turn() const {
  const std::vector<ChatMessage> messages = {{.role = "user", .content = "a"}, {.role = kAssistant, .content = "b"}};
  std::string after;
  try {
    const RenderedChat chat = template_.render_parts(messages, options_);
    const auto is_answer = [](const ChatPart& part) { return part.message == 1; };
    const auto last = std::find_if(chat.parts.rbegin(), chat.parts.rend(), is_answer);
    if (last == chat.parts.rend()) return std::nullopt;
    after = chat.text.substr(last->end);
  } catch (const Error&) {
    return std::nullopt;  // a template that refuses such a conversation
  }
  after.erase(0, after.find_first_not_of(" \n"));
  const std::vector<std::int32_t> ids = tokenizer_->encode(after, {.special = SpecialTokens::without}).ids;
  if (ids.empty() || !is_special_token(*tokenizer_, ids.front())) return std::nullopt;
  return ids.front();
}

Chat::Chat(const TextModel& model) : model_(&model), form_(model) {
  static_cast<void>(writing_decoder(model));
  ends_ = model.writing({}).ends;
  const auto end = form_.end_of_turn();
  if (end && std::ranges::find(ends_, *end) == ends_.end()) ends_.push_back(*end);
}

WrittenText Chat::answer(const WriteOptions& options) {
  require_writing(kChat, *model_, options);
  const auto refuse = [](const std::string& expected, const std::string& got) {
    throw InvalidArgument(kChat, "messages", expected, got);
  };
  if (options.draw.beams != 1) {
    throw InvalidArgument(kChat, "beams", "1, for one answer is followed", std::to_string(options.draw.beams));
  }
  if (messages_.empty()) refuse("one message or more", "none");
  if (messages_.back().role == kAssistant) refuse("a last message to be answered", "one of the assistant");
  read_ = form_.read(messages_, ChatEnd::for_answer);
  GenerateOptions draw = model_->writing(options.draw);
  if (options.draw.ends.empty()) draw.ends = ends_;
  const auto length = std::ssize(read_.ids);
  // The last token that is written needs no place.
  const std::int64_t places = draw.window ? *draw.window + 1 - length : std::numeric_limits<std::int64_t>::max();
  if (places < 1) {
    throw Error("the conversation: expected one of at most " + std::to_string(*draw.window) +
                " tokens, which the model reads at once, got " + std::to_string(length) + " tokens: begin a new one");
  }
  const bool has_places = draw.most <= places;
  draw.most = std::min(draw.most, places);
  // What stands right before the answer decides how its first token is written; all of it would be decoded each time.
  constexpr std::size_t kBefore = 8;
  const std::span<const std::int32_t> before = std::span(read_.ids).last(std::min(read_.ids.size(), kBefore));
  GrowingText text(model_->tokenizer(), options.stops, before);
  const auto tell = [&](const std::string& part) {
    if (options.said && !part.empty()) options.said(0, part);
  };
  draw.written = [&](std::int64_t, std::int64_t token) {
    tell(text.add(static_cast<std::int32_t>(token)));
    return !text.has_stopped();
  };
  const std::vector<std::int64_t> ids(read_.ids.begin(), read_.ids.end());
  WriteEnd end = WriteEnd::token;
  try {
    const NewTokens written = writing_decoder(*model_).write_on(Tensor(ids, {1, length}), kept_, draw);
    if (std::ssize(written.front()) == draw.most) end = has_places ? WriteEnd::length : WriteEnd::positions;
  } catch (const Cancelled&) {
    end = WriteEnd::reader;
  } catch (const generation::NotNumbers&) {
    fail_not_finite(model_->model(), kChat, "the scores of the next token");
  }
  tell(text.rest());
  WrittenText answer = text.written(end);
  answer.cache_bytes = cache_bytes_of(*model_, std::ssize(kept_.tokens), draw);
  messages_.push_back({.role = kAssistant, .content = answer.text});
  return answer;
}

}  // namespace qkv
