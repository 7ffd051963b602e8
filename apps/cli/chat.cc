#include "chat.h"

#include <fmt/format.h>
#include <unistd.h>

#include <utility>

#include "command.h"
#include "interrupts.h"
#include "lines.h"

namespace qkv::cli {
namespace {

// Turns are marked for a person who types and reads.
bool is_at_terminal() { return ::isatty(STDIN_FILENO) == 1 && ::isatty(STDOUT_FILENO) == 1; }

// A conversation that has become too long is no fault of a field.
WrittenText answer_of(Chat& chat, const WriteOptions& write) {
  try {
    return chat.answer(write);
  } catch (const InvalidArgument& error) {
    if (error.argument() != "messages") throw;
    throw Error(fmt::format("the conversation: expected {}, got {}: begin a new one", error.expected(), error.got()));
  }
}

void answer(const GenerateRequest& request, const Manner& how, const Writing& writing, Chat& chat) {
  WriteOptions write = writing.options;
  if (!how.json) {
    write.said = [](std::int64_t, std::string_view part) {
      print(part);
      flush_output();
    };
  }
  const InterruptWatch watch;
  const WrittenText written = answer_of(chat, write);
  const std::vector<std::string> met = limits_met(request, *writing.model, {&written, 1});
  GenerateFigures figures = chat_figures(chat, written, writing);
  figures.cautions.insert(figures.cautions.end(), met.begin(), met.end());
  print(how.json ? reply_as_line(figures) : "\n");
  flush_output();
  for (const std::string& what : met) how.careful(what);
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

}  // namespace

void say_before(const Manner& how, const Writing& writing) {
  for (const std::string& note : writing.notes) how.say(note);
  for (const std::string& caution : writing.cautions) how.careful(caution);
}

void run_chat(const GenerateRequest& request, const Manner& how, const Writing& writing) {
  const std::vector<ChatMessage> messages = messages_of(request);
  Chat chat(*writing.model);
  say_before(how, writing);
  for (const ChatMessage& message : messages) chat.say(message);
  if (request.user || !request.messages.empty()) {
    answer(request, how, writing, chat);
    if (InterruptWatch::interrupted()) throw Exit{kInterrupted};
    return;
  }
  if (is_at_terminal()) how.say("Ctrl-C ends an answer, Ctrl-D the conversation");
  while (std::optional<std::string> line = next_turn()) {
    chat.say({.role = "user", .content = std::move(*line)});
    answer(request, how, writing, chat);
    if (reader_is_gone()) return;
  }
}

}  // namespace qkv::cli
