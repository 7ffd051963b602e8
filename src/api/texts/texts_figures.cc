#include <fmt/format.h>

#include <utility>

#include "qkv/api/texts.h"
#include "qkv/picture/terminal.h"

namespace qkv {

FillFigures fill_figures(const std::string& text, const std::vector<FilledMask>& masks, const Tokenizer& pieces) {
  FillFigures figures;
  figures.text = text;
  for (const FilledMask& mask : masks) {
    FillMask shown;
    shown.place = mask.place;
    for (const MaskFilling& filling : mask.fillings) {
      shown.fillings.push_back({one_line(shown_token(pieces, filling.token)), filling.probability, filling.token});
    }
    figures.masks.push_back(std::move(shown));
  }
  return figures;
}

GenerateFigures generate_figures(const std::string& prompt, const WrittenText& written, const Writing& writing) {
  return {.end = std::string(name_of(written.end)),
          .prompt = prompt,
          .text = written.text,
          .weights = writing.weights,
          .tokens = written.tokens,
          .messages = {},
          .notes = writing.notes,
          .cautions = writing.cautions,
          .cache_bytes = written.cache_bytes > 0 ? std::optional(written.cache_bytes) : std::nullopt};
}

GenerateFigures chat_figures(const Chat& chat, const WrittenText& written, const Writing& writing) {
  GenerateFigures figures = generate_figures(chat.last_read().rendered.text, written, writing);
  figures.messages = chat.messages();
  return figures;
}

std::string as_text(const FillFigures& figures) {
  std::string text;
  for (const FillMask& mask : figures.masks) {
    text += fmt::format("the mask at token {}\n", mask.place);
    for (const FillPiece& filling : mask.fillings) {
      text += fmt::format("  {:.4f}  {}\n", filling.probability, filling.piece);
    }
  }
  return text;
}

Members<EmbedFigures> describe(const EmbedFigures* /*type*/) {
  return Members<EmbedFigures>("EmbedFigures")
      .add(&EmbedFigures::text, "text", "What was read")
      .add_if_there(&EmbedFigures::prompt, "prompt", "That stood before it")
      .add(&EmbedFigures::vector, "vector", "With the digits of a float")
      .add_cautions();
}

Members<FillPiece> describe(const FillPiece* /*type*/) {
  return Members<FillPiece>("FillPiece")
      .add(&FillPiece::piece, "piece", "As people read it")
      .add(&FillPiece::probability, "probability", "Of it, there")
      .add(&FillPiece::token, "token", "Its number");
}

Members<FillMask> describe(const FillMask* /*type*/) {
  return Members<FillMask>("FillMask")
      .add(&FillMask::fillings, "fillings", "What it may be, the likeliest first")
      .add(&FillMask::place, "place", "Of the text's tokens");
}

Members<FillFigures> describe(const FillFigures* /*type*/) {
  return Members<FillFigures>("FillFigures")
      .add(&FillFigures::masks, "masks", "Of the text, in their order")
      .add(&FillFigures::text, "text", "What was read")
      .add_cautions();
}

Members<ChatMessage> describe(const ChatMessage* /*type*/) {
  return Members<ChatMessage>("ChatMessage")
      .add(&ChatMessage::role, "role", "system, user, assistant, or another")
      .add(&ChatMessage::content, "content", "Its text");
}

Members<GenerateFigures> describe(const GenerateFigures* /*type*/) {
  using F = GenerateFigures;
  return Members<F>("GenerateFigures")
      .add(&F::end, "end", "Why it ended: token, stop, length, positions or reader")
      .add(&F::prompt, "prompt", "What it goes on with, or answers")
      .add(&F::text, "text", "Without its prompt, its end and its stop")
      .add_if_there(&F::weights, "weights", "How quantised ones are computed with")
      .add(&F::tokens, "tokens", "That were written; also those behind a stop")
      .add_if_there(&F::messages, "messages", "The conversation, the answer the last")
      .add_if_there(&F::notes, "notes", "How it was written, where the model's files say how; fields in backquotes")
      .add_cautions()
      .add_if_there(&F::cache_bytes, "cache_bytes",
                    "Of the keys and values that were kept, at most: layers with a window keep less");
}

}  // namespace qkv
