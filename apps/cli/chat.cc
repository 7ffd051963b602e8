#include "chat.h"

#include <unistd.h>

#include <utility>

#include "command.h"
#include "interrupts.h"
#include "lines.h"

namespace qkv::cli {
namespace {

// Turns are marked for a person who types and reads.
bool is_at_terminal() { return ::isatty(STDIN_FILENO) == 1 && ::isatty(STDOUT_FILENO) == 1; }

void answer(const GenerateRequest& request, const Manner& how, const Writing& writing, Chat& chat) {
  const InterruptWatch watch;
  const GenerateFigures figures =
      how.json ? answer_in_chat(request, writing, chat) : answer_in_chat(request, writing, chat, print_now);
  print(how.json ? reply_as_line(figures) : "\n");
  flush_output();
  for (std::size_t n = writing.cautions.size(); n < figures.cautions.size(); ++n) how.careful(figures.cautions[n]);
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

void print_now(std::string_view part) {
  print(part);
  flush_output();
}

void say_before(const Manner& how, const Writing& writing) {
  for (const std::string& note : writing.notes) how.say(note);
  for (const std::string& caution : writing.cautions) how.careful(caution);
}

void run_chat(const GenerateRequest& request, const Manner& how, const Writing& writing) {
  const std::vector<ChatMessage> messages = conversation_in(request);
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
