// A model with its texts: what cuts them into tokens, how long they are, what is asked of them, what the model answers.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "qkv/model/batch.h"
#include "qkv/model/examples.h"
#include "qkv/model/image_preparation.h"
#include "qkv/model/log_mel.h"
#include "qkv/model/model.h"
#include "qkv/wav.h"

namespace qkv {

struct BatchForm;

/// What a model learnt here; nothing of a model of others.
struct Learnt {
  std::string task = {};                               // "induction"
  TextLengths lengths = {};                            // of its examples; with `examples`, theirs
  bool labels_tokens = false;                          // likewise
  std::shared_ptr<const Examples> examples = nullptr;  // null where they are not here: the reader's own
};

/// A function's argument, as errors name it: InvalidArgument's function and argument.
struct ArgumentName {
  std::string_view function, argument;
};

class TextModel {
 public:
  /// A model of others, which learnt nothing here: it reads its own tokenizers in their own templates, and an encoder
  /// is asked at its mask tokens, "[MASK]" or "<mask>", if a text has some. `path` is where it lies: a folder says how
  /// pictures are prepared. Throws Error for a model without a tokenizer.
  TextModel(Model model, std::string path);
  /// A model that learnt a task: "<s>" and "</s>" are put around its texts where its tokenizer has them. Throws Error
  /// for a model without examples and tokenizer.
  TextModel(Model model, std::string path, Learnt learnt);

  [[nodiscard]] const Model& model() const noexcept { return model_; }
  /// The same texts of model().to(dtype).
  [[nodiscard]] TextModel to(DType dtype) const;
  [[nodiscard]] ModelKind kind() const noexcept { return model_.kind(); }
  [[nodiscard]] const KindTraits& traits() const noexcept { return model_.traits(); }
  /// Of tokens and answers.
  [[nodiscard]] const Tokenizer& tokenizer() const noexcept { return *tokenizer_; }
  /// Of the source: another one than tokenizer() in translation.
  [[nodiscard]] const Tokenizer& source_tokenizer() const noexcept { return *source_tokenizer_; }
  /// That of the text which a reader gives: the source's where there is one.
  [[nodiscard]] const Tokenizer& reader() const { return reads_source() ? source_tokenizer() : tokenizer(); }
  /// The longest that it learnt from, or that its config says; 0 where that is not known.
  [[nodiscard]] const TextLengths& lengths() const noexcept { return learnt_.lengths; }
  [[nodiscard]] bool reads_source() const noexcept;
  /// In a joined batch the source's tokens are numbered after those of the answers, where their tokenizers differ.
  [[nodiscard]] std::int64_t joined_source_offset() const;

  /// "" of a model of others.
  [[nodiscard]] const std::string& task_name() const noexcept { return learnt_.task; }
  [[nodiscard]] bool has_task() const noexcept { return !learnt_.task.empty(); }
  [[nodiscard]] bool has_examples() const noexcept { return learnt_.examples != nullptr; }
  /// Throws Error if it has none, or they are not here.
  [[nodiscard]] const Examples& examples() const;
  /// Examples::mark(), if it has examples.
  void mark(Example& example) const;
  /// Examples::asked(); without examples the gaps of the text, if its tokens are labelled and it has some.
  [[nodiscard]] std::vector<bool> asked(const Example& example) const;
  /// Whether it says what stands at each token, rather than what follows: it may be a decoder.
  [[nodiscard]] bool labels_tokens() const noexcept;
  /// Examples::outside(); without examples, what is longer than lengths().
  [[nodiscard]] std::vector<std::string> outside(const Example& example) const;
  /// Examples::answer_text(); without examples the text of the tokens, without "</s>".
  [[nodiscard]] std::string answer_text(std::vector<std::int32_t> answer) const;

  /// The example that a text stands for, asking for nothing: its source, with "</s>" added, where the model reads one,
  /// and tokens that begin with "<s>"; the tokens else. A model of no task has the special tokens of its tokenizer's
  /// template, and the padding that it reads. Throws InvalidArgument naming text if it has a token that the model does
  /// not know, or none, or more than the model reads with its padding or has learned positions for.
  [[nodiscard]] Example example_of(std::string_view text) const;
  /// The same, with errors that name what the caller's reader knows the text by.
  [[nodiscard]] Example example_of(std::string_view text, const ArgumentName& called) const;
  /// A picture as the model reads it: u8 [H, W, 3] -> f32 [3, side, side]. Of a task as qkv::image_of(); of a folder of
  /// others as its preprocessor_config.json says. Throws InvalidArgument naming picture, and for a model that reads no
  /// images; Error where nothing says how its pictures are prepared.
  [[nodiscard]] Tensor image_of(const TensorView& picture) const;
  /// Such an image for people: red, green and blue in [0, 1], without the mean and deviation that a folder's
  /// preparation brings in.
  [[nodiscard]] Tensor colours_of(const TensorView& image) const;
  /// A sound of at most what the model reads at once, as it reads it: f32 [bins, frames], at the rate and as
  /// preprocessor_config.json says, of a file as LogMelOptions do. Throws InvalidArgument naming sound, and for a model
  /// that reads none; Error where the folder says another form than the model reads.
  [[nodiscard]] Tensor sound_of(const Sound& sound) const;
  /// That form.
  [[nodiscard]] LogMelOptions log_mel_options() const;
  /// Where the model lies.
  [[nodiscard]] const std::string& path() const noexcept { return path_; }
  /// One example as a batch that model() reads.
  [[nodiscard]] Batch batch_of(const Example& example) const;
  /// Likewise several, side by side. Throws InvalidArgument naming examples if there are none.
  [[nodiscard]] Batch batch_of(std::span<const Example> examples) const;

  /// What the model says at each place of the example's tokens, [T, vocabulary], as probabilities in f64. Throws
  /// InvalidArgument for a two-tower model, which says nothing.
  [[nodiscard]] Tensor probabilities(const Example& example) const;
  /// Those of scores [1, T, vocabulary] that a pass over batch_of(example) has given.
  [[nodiscard]] Tensor probabilities(const Example& example, const TensorView& scores) const;
  /// The options with what the model says of writing where they leave it open: ends ("</s>" of a task); of a task
  /// "<pad>", "<s>" and "<unknown>" are never written; and window().
  [[nodiscard]] GenerateOptions writing(GenerateOptions options) const;
  /// The last tokens of a text that a decoder writes on from: as many as its examples had or its config has. nullopt
  /// where nothing says so, and of a model that reads a source or an image.
  [[nodiscard]] std::optional<std::int64_t> window() const;
  /// The positions of which it learned a vector for each, which a text cannot go past; nullopt where they are others.
  [[nodiscard]] std::optional<std::int64_t> positions() const;
  /// Adds tokens after the last, by writing(options). Throws as Model::generate().
  void answer(Example& example, const GenerateOptions& options) const;
  /// How many tokens the task asks for after a text that ends in this one: those of the sum after "=", 0 if it asks
  /// for none there.
  [[nodiscard]] std::int64_t answer_length(std::int32_t last) const;
  /// f64 [B]: the cosine of each example's image and its tokens. Throws InvalidArgument for a model other than
  /// two-tower.
  [[nodiscard]] Tensor cosines(std::span<const Example> examples) const;

 private:
  void require_places(const Example& example) const;
  [[nodiscard]] std::vector<std::int64_t> never_written() const;
  [[nodiscard]] ImagePreparation preparation() const;
  [[nodiscard]] BatchForm form() const;

  Model model_;
  std::string path_;
  Learnt learnt_;
  std::shared_ptr<const Tokenizer> tokenizer_;
  std::shared_ptr<const Tokenizer> source_tokenizer_;
};

}  // namespace qkv
