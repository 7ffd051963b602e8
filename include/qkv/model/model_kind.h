// The kinds of models, and what can be asked of a kind.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace qkv {

/// The place of a network in Model::Network, which lists the kinds; kind_of tells that of a network (model.h).
enum class ModelKind : std::uint8_t {};

/// What a kind of model reads and says. Whoever treats kinds differently asks for one of these.
struct KindTraits {
  std::string_view name;      // "encoder-decoder"
  bool goes_on = false;       // reads one text, in which a token sees those before it, and says what comes next
  bool fills = false;         // reads one text whole, and says what stands at each place
  bool reads_source = false;  // reads a source by an encoder, and says tokens that attend to it
  bool reads_images = false;
  bool reads_sound = false;
  bool writes = false;   // generates tokens, one after the other
  bool is_pair = false;  // holds images and texts against each other, and says no tokens
  bool sees = false;     // reads an image alone, and says what class it is of, or nothing
};
[[nodiscard]] const KindTraits& traits_of(ModelKind kind) noexcept;
/// "decoder", "encoder", "encoder-decoder", "captioner", "two-tower", "image-encoder", "transcriber"
[[nodiscard]] std::string_view name_of(ModelKind kind) noexcept;
/// Throws InvalidArgument for another word, with the words that there are.
[[nodiscard]] ModelKind model_kind_named(std::string_view name);
/// Those that a task can train.
[[nodiscard]] std::vector<std::string> trained_kind_names();

}  // namespace qkv
