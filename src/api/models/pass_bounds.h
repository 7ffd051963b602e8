// What one question of a studio may cost.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>

#include "qkv/api/given_texts.h"
#include "qkv/model/text_model.h"

namespace qkv::api_detail {

struct AnswerBounds {
  std::uint64_t pass_bytes = std::numeric_limits<std::uint64_t>::max();      // of a model's pass over a text
  double numbers = std::numeric_limits<double>::infinity();                  // in which a drawn model is told
  std::size_t media_bytes = std::numeric_limits<std::size_t>::max();         // of the file of a picture or a sound
  std::uint64_t picture_pixels = std::numeric_limits<std::uint64_t>::max();  // of a picture
  double sound_seconds = std::numeric_limits<double>::infinity();            // of a sound
};

/// While it lives, answers of this thread are held to the bounds.
class BoundedAnswers {
 public:
  explicit BoundedAnswers(const AnswerBounds& bounds);
  BoundedAnswers(const BoundedAnswers&) = delete;
  BoundedAnswers& operator=(const BoundedAnswers&) = delete;
  ~BoundedAnswers();

 private:
  AnswerBounds bounds_;
  const AnswerBounds* outer_;
};

/// Those of this thread; without any where no studio answers.
[[nodiscard]] const AnswerBounds& answer_bounds() noexcept;

/// What a pass keeps of each token beside the vectors of one layer.
enum class PassKeeps : std::uint8_t { nothing, layers, layers_and_scores };

/// About what the model's pass over so many tokens allocates at its height.
[[nodiscard]] std::uint64_t bytes_of_pass(const TextModel& model, std::int64_t tokens, PassKeeps keeps);

/// Throws InvalidArgument naming the field whose text has so many tokens if their pass takes more than the bytes.
void require_pass_within(std::uint64_t most, std::string_view field, const TextModel& model, std::int64_t tokens,
                         PassKeeps keeps = PassKeeps::layers_and_scores);

/// The same of this thread's bounds, or of half the machine's memory where there are none, and of a text as the model
/// reads it, of which a pass is over `read_at_most` tokens. Does nothing for a model that reads images.
void require_pass(std::string_view field, const TextModel& model, const std::string& text, PassKeeps keeps,
                  std::optional<std::int64_t> read_at_most = std::nullopt);

/// The same of so many tokens, or places of a sound.
void require_pass_of(std::string_view field, const TextModel& model, std::int64_t tokens, PassKeeps keeps);

/// The same of each text, by its place.
void require_passes(const Texts& texts, const TextModel& model, PassKeeps keeps,
                    std::optional<std::int64_t> read_at_most = std::nullopt);

}  // namespace qkv::api_detail
