// Texts as vectors, what stands in their gaps, and what a model writes after them: `qkv embed`, `qkv fill` and
// `qkv generate`, and embed(), fill() and generate() of Python.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "qkv/api/field.h"
#include "qkv/api/given.h"
#include "qkv/api/given_texts.h"
#include "qkv/api/member.h"
#include "qkv/api/models.h"
#include "qkv/api/saying.h"
#include "qkv/model/chat.h"
#include "qkv/model/fill.h"
#include "qkv/model/text_model.h"
#include "qkv/model/write_text.h"

namespace qkv {

struct EmbedRequest {
  std::string model;
  std::optional<std::string> text;
  std::vector<std::string> texts;    // in place of a text
  FileOfTexts file;                  // likewise
  std::vector<std::string> pooling;  // several stand end to end; empty: the folder's own
  std::optional<std::string> prompt_name, prompt;
  std::optional<bool> normalise;
  std::string dtype = "f32";
};

/// How a model writes.
struct WriteRequest {
  GenerateOptions draw;
  std::vector<std::string> stops;
  std::string dtype = "f32";
  std::optional<std::string> cache_type;  // default: the dtype
};

/// A conversation: what stands in it so far.
struct ChatRequest {
  bool chat = false;
  std::optional<std::string> system, user;
  std::string messages;  // a file of JSON, or JSON itself: [{"role": "user", "content": "Hello"}]

  friend bool operator==(const ChatRequest&, const ChatRequest&) = default;
};

struct GenerateRequest : WriteRequest, ChatRequest {
  GenerateRequest() { dtype = "file"; }

  std::string model;
  std::optional<std::string> text;
  std::vector<std::string> texts;  // in place of a text
  FileOfTexts file;                // in place of a text
  std::string sound;               // in place of a text: a WAV file, for a model that reads sound
  std::string language;            // spoken there
  bool translate = false;          // into English
  std::int64_t samples = 1;
};

struct FillRequest {
  std::string model;
  std::string text;
  std::int64_t count = 5;
};

[[nodiscard]] const Fields<EmbedRequest>& embed_fields();
[[nodiscard]] const Fields<WriteRequest>& write_fields();
[[nodiscard]] const Fields<ChatRequest>& chat_fields();
[[nodiscard]] const Fields<GenerateRequest>& generate_fields();
[[nodiscard]] const Fields<FillRequest>& fill_fields();

/// Vectors of texts, and how they were made.
struct EmbeddedTexts {
  Tensor rows;                          // f32 [texts, width]
  std::string prompt;                   // that stood before each of them
  bool is_default_prompt = false;       // the folder's own, which nobody asked for
  std::vector<std::string> cautions;    // what the folder says in vain
  std::optional<std::int64_t> longest;  // tokens that are read of a text, of which `cut` texts had more
  std::int64_t cut = 0;
  CutAt cut_at = CutAt::end;
};

/// The request's texts and their vectors.
struct EmbedReply {
  std::vector<std::string> texts;
  EmbeddedTexts embedded;
};

/// Opens the model. Says a default prompt, which texts were cut, and what it did not learn from. Throws InvalidArgument
/// naming the field, and "FILE, line N" for a text of a file.
[[nodiscard]] EmbedReply embed(const EmbedRequest& request, const Saying& saying);

/// With ends and dtype as the model needs them.
[[nodiscard]] WriteOptions write_options(const WriteRequest& request, const Model& model);

/// A model that is open to write, how it does, and what whoever reads the text has to know; fields stand in backquotes.
struct Writing {
  OpenedModel model;
  WriteOptions options;
  std::string weights;  // Model::quantised_words()
  std::vector<std::string> notes, cautions;
  Texts prompts;  // each text as often as there are samples; none of a conversation

  /// What is said becomes one of the cautions.
  [[nodiscard]] Saying heard() {
    return {.caution = [this](const std::string& what) { cautions.push_back(what); }};
  }
};

/// Reads the texts, opens the model. Ends and dtype are as the model needs them, and in a conversation as chat_draw()
/// has it. Throws InvalidArgument for a field that would change nothing, and as given_texts(), open_model() and
/// chat_draw().
[[nodiscard]] Writing writing_of(const GenerateRequest& request, const Given& given);

/// Who waits for what is written.
struct WritingWatch {
  /// Called once, before the first part: until then the request may be refused.
  std::function<void()> begins = [] {};
  decltype(WriteOptions::said) said = {};  // as WriteOptions has it
};

/// What a request of a conversation leaves open, as the authors of the model at `path` mean it to write: temperature,
/// top_k, top_p, min_p and repetition_penalty of its generation_config.json, but for what was given; a temperature of 0
/// that was given takes the others of the draw with it. Throws InvalidArgument naming seed where nothing is drawn.
[[nodiscard]] GenerateOptions chat_draw(const GenerateOptions& asked, const Given& given, const std::string& path);

/// The messages of a request, in their order: of the system, those of `messages`, of the user, or `text` in its place.
/// Throws InvalidArgument naming messages for what is no such list, and Error for a file that cannot be read.
[[nodiscard]] std::vector<ChatMessage> conversation_in(const ChatRequest& request,
                                                       const std::optional<std::string>& text = std::nullopt);

/// What `qkv embed` prints, a line for each text.
struct EmbedFigures {
  std::string text;
  std::string prompt;  // that stood before it; may be empty
  std::vector<float> vector;
  std::vector<std::string> cautions;
};

struct FillPiece {
  std::string piece;  // as people read it
  double probability = 0;
  std::int64_t token = 0;
};

struct FillMask {
  std::vector<FillPiece> fillings;  // the likeliest first
  std::int64_t place = 0;
};

/// What `qkv fill --json` prints.
struct FillFigures {
  std::vector<FillMask> masks;
  std::string text;
  std::vector<std::string> cautions;
};

/// What `qkv generate --json` prints, a line for each text.
struct GenerateFigures {
  std::string end, prompt, text;
  std::string weights;  // Model::quantised_words()
  std::vector<std::int32_t> tokens;
  std::vector<ChatMessage> messages;         // of a conversation, the answer the last
  std::vector<std::string> notes, cautions;  // of how it was written; what its reader has to know
  std::optional<std::int64_t> cache_bytes;
};

/// Of fill_gaps() of the text, by the model's own pieces.
[[nodiscard]] FillFigures fill_figures(const std::string& text, const std::vector<FilledMask>& masks,
                                       const Tokenizer& pieces);
/// With the weights, the notes and the cautions of `writing`.
[[nodiscard]] GenerateFigures generate_figures(const std::string& prompt, const WrittenText& written,
                                               const Writing& writing = {});
/// The same, of the last answer of a conversation.
[[nodiscard]] GenerateFigures chat_figures(const Chat& chat, const WrittenText& written, const Writing& writing = {});

/// Writes after each prompt; cautions of what was read and written are added to those of `writing`. Throws as
/// write_texts(), naming "FILE, line N" or `text` for a prompt, and the field of an option.
[[nodiscard]] std::vector<GenerateFigures> generate(const GenerateRequest& request, Writing& writing,
                                                    const WritingWatch& watch = {});

/// Writes the answer to the conversation. Its cautions stand behind those of `writing`, which stays as it is. Throws as
/// Chat::answer().
[[nodiscard]] GenerateFigures answer_in_chat(const GenerateRequest& request, const Writing& writing, Chat& chat,
                                             const std::function<void(std::string_view part)>& said = {});

/// For people.
[[nodiscard]] std::string as_text(const FillFigures& figures);

[[nodiscard]] EmbedFigures embed_figures(const EmbedReply& reply, std::size_t n);

/// Each opens the model. Of a text EmbedFigures, of several a list of them.
[[nodiscard]] AnyReply answer(const EmbedRequest& request, const Saying& saying = {});
/// `said` is told each part as it is certain, as WriteOptions has it.
[[nodiscard]] std::vector<GenerateFigures> answer(const GenerateRequest& request, const Given& given,
                                                  const decltype(WriteOptions::said)& said = {});
[[nodiscard]] FillFigures answer(const FillRequest& request, const Saying& saying = {});

[[nodiscard]] Members<EmbedFigures> describe(const EmbedFigures* figures);
[[nodiscard]] Members<FillPiece> describe(const FillPiece* piece);
[[nodiscard]] Members<FillMask> describe(const FillMask* mask);
[[nodiscard]] Members<FillFigures> describe(const FillFigures* figures);
[[nodiscard]] Members<ChatMessage> describe(const ChatMessage* message);
[[nodiscard]] Members<GenerateFigures> describe(const GenerateFigures* figures);

}  // namespace qkv
