#include "chat.h"

#include <fmt/format.h>
#include <unistd.h>

#include <optional>
#include <string_view>
#include <utility>

#include "command.h"
#include "lines.h"
#include "misuse.h"
#include "output.h"
#include "walk_progress.h"

namespace qkv::cli {
namespace {

constexpr const char* kGenerate = "qkv generate";

// Turns are marked for a person who types and reads.
bool is_at_terminal() { return ::isatty(STDIN_FILENO) == 1 && ::isatty(STDOUT_FILENO) == 1; }

WriteOptions write_options_of(const ChatCall& call) {
  WriteOptions write = write_options(call.request, call.model.model());
  write.draw = chat_draw(write.draw, call.given, call.path);
  const std::string ours = options_for(write.draw);
  const bool is_theirs = ours != options_for(call.request.draw);
  if (is_theirs) complain(kGenerate, "drawn as its generation_config.json asks:" + ours);
  return write;
}

// A conversation that has become too long is no fault of a field.
[[noreturn]] void say_of_messages(const InvalidArgument& error) {
  throw Error(fmt::format("the conversation: expected {}, got {}: begin a new one", error.expected(), error.got()));
}

void say_end(const ChatCall& call, const WrittenText& written) {
  if (written.end != WriteEnd::positions) return;
  complain(kGenerate,
           fmt::format("careful: the model reads at most {} tokens at once, and the conversation has as many: "
                       "the answer was cut; begin a new one",
                       *call.model.window()));
}

void answer(const ChatCall& call, Chat& chat, const WriteOptions& asked) {
  WriteOptions write = asked;
  if (!call.json) {
    write.said = [](std::int64_t, std::string_view part) {
      print(part);
      flush_output();
    };
  }
  const InterruptWatch watch;
  const WrittenText written = [&] {
    try {
      return chat.answer(write);
    } catch (const InvalidArgument& error) {
      if (error.argument() != "messages") throw;
      say_of_messages(error);
    }
  }();
  print(call.json ? reply_as_line(chat_figures(chat, written, call.model.model().quantised_words())) : "\n");
  flush_output();
  say_end(call, written);
  if (InterruptWatch::terminated()) throw Exit{kTerminated};
}

std::optional<std::string> next_turn() {
  while (true) {
    if (is_at_terminal()) {
      print("> ");
      flush_output();
    }
    std::optional<std::string> line = line_of_input();
    if (!line && is_at_terminal()) print("\n");
    if (!line || line->find_first_not_of(" \t") != std::string::npos) return line;
  }
}

void talk(const ChatCall& call, Chat& chat, const WriteOptions& write) {
  if (is_at_terminal()) complain(kGenerate, "Ctrl-C ends an answer, Ctrl-D the conversation");
  while (std::optional<std::string> line = next_turn()) {
    chat.say({.role = "user", .content = std::move(*line)});
    answer(call, chat, write);
    if (reader_is_gone()) return;
  }
}

}  // namespace

std::string options_for(const GenerateOptions& draw) {
  const GenerateOptions plain;
  std::string text;
  const auto add = [&](const char* name, auto value, auto usual) {
    if (value != usual) text += fmt::format(" {} {}", name, value);
  };
  add("--temperature", draw.temperature, plain.temperature);
  add("--top-k", draw.top_k, plain.top_k);
  add("--top-p", draw.top_p, plain.top_p);
  add("--min-p", draw.min_p, plain.min_p);
  add("--repetition-penalty", draw.repetition_penalty, plain.repetition_penalty);
  add("--beams", draw.beams, plain.beams);
  if (draw.beams > 1) add("--length-penalty", draw.length_penalty, plain.length_penalty);
  return text;
}

void run_chat(const ChatCall& call) {
  const std::vector<ChatMessage> messages = messages_of(call.request);
  Chat chat(call.model);
  const WriteOptions write = write_options_of(call);
  for (const ChatMessage& message : messages) chat.say(message);
  const bool answers_once = call.request.user || !call.request.messages.empty();
  if (!answers_once) return talk(call, chat, write);
  answer(call, chat, write);
  if (InterruptWatch::interrupted()) throw Exit{kInterrupted};
}

}  // namespace qkv::cli
