// The models that faces ask about: opened by name, with the texts to look at them.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "qkv/api/given_texts.h"
#include "qkv/api/saying.h"
#include "qkv/insight/texts.h"
#include "qkv/model/embed.h"
#include "qkv/model/text_model.h"
#include "qkv/text/syntax.h"

namespace qkv {

/// A model that is open.
using OpenedModel = std::shared_ptr<const TextModel>;

/// What a model that is asked about computes in: with all weights in f32 or f64, quantised ones too, or as its file has
/// them: in f32, where quantised weights are, with activations in 8 bits.
enum class ModelNumbers : std::uint8_t { f32, f64, file };

/// The model of this name or path; its cautions are said. Without `numbers` they are those that whoever opens models
/// for this thread chose, else f32. Throws InvalidArgument naming `model`, or Error if its file cannot be read.
[[nodiscard]] OpenedModel open_model(const std::string& name, const Saying& saying = {},
                                     std::optional<ModelNumbers> numbers = std::nullopt);

/// "f32", "f64" or "file", as a request's field `dtype` has it; nullopt for an empty word.
[[nodiscard]] std::optional<ModelNumbers> model_numbers_named(std::string_view dtype);

/// While it lives, open_model() of this thread opens by `open`, which may have the model open already.
class OpensModels {
 public:
  using Open = std::function<OpenedModel(const std::string& name, std::optional<ModelNumbers> numbers)>;

  explicit OpensModels(Open open);
  OpensModels(const OpensModels&) = delete;
  OpensModels& operator=(const OpensModels&) = delete;
  ~OpensModels();

 private:
  Open open_;
  const Open* outer_;
};

/// Says what of a text the model's task never draws, for which the model may answer anything. The model must be able to
/// read the text. Says nothing of a model that reads pictures.
void say_outside(const TextModel& model, const std::string& text, const Saying& saying);
/// The same of several: of the first that lies outside, by its place, and how many do. One that follows itself is one.
void say_outside(const TextModel& model, const Texts& texts, const Saying& saying);

/// embed_options_of() for a caller that adds no prompt and compares vectors by their cosines. Says the folder's
/// cautions, and a default prompt or another similarity, which are not heeded.
[[nodiscard]] EmbedOptions vectors_without_prompt(const std::string& path, const Saying& saying);

/// The lines of the file, but for empty ones, as texts of a model whose heads are looked at; says which it did not
/// learn from. Throws as texts_of(), and InvalidArgument naming "file: FILE, line N" for a line that the model cannot
/// read.
[[nodiscard]] HeadTexts texts_of_lines(const TextModel& trained, const FileOfTexts& file, const Saying& saying);

/// The same of the request's field `texts`. Throws InvalidArgument naming "texts[n]" for one that the model cannot
/// read.
[[nodiscard]] HeadTexts texts_to_look_at(const TextModel& trained, const std::vector<std::string>& texts,
                                         const Saying& saying);

/// head_texts() of the first `count` held-out examples of the model's task, or of `count` sentences of the task english
/// if the model has no examples. Throws InvalidArgument naming count if it is below 1, and trained if the model writes
/// captions and has no examples.
[[nodiscard]] HeadTexts texts_to_look_at(const TextModel& trained, std::int64_t count);

/// English sentences with their trees. Throws InvalidArgument naming count if it is below 1.
[[nodiscard]] std::vector<ParsedSentence> trees_to_look_at(std::int64_t count);

}  // namespace qkv
