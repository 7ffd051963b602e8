// What a model is shown: a text, a conversation, a picture, a sound, or an example of its task.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "qkv/model/text_model.h"
#include "qkv/tensor.h"
#include "qkv/text/chat_template.h"
#include "qkv/wav.h"

namespace qkv {

/// One of these; of two towers a text or a picture is what one of them reads.
struct Shown {
  std::optional<std::string> text = std::nullopt;      // UTF-8, of the model's own tokens
  std::vector<ChatMessage> messages = {};              // in the model's chat template, to be answered
  Tensor picture = {};                                 // u8 [H, W, 3], for a model that reads images
  std::optional<Sound> sound = std::nullopt;           // for a model that reads sound
  std::optional<std::int64_t> example = std::nullopt;  // which held-out example of its task
};

struct ReadExample {
  Example example;
  /// Of each token of a conversation the role of the message that it has a byte of, else "template"; else empty.
  std::vector<std::string> sources = {};
};

/// The one way from what a model is shown to what it reads. Throws InvalidArgument of `function` naming text, messages,
/// picture, sound or example for what the model does not read, for none and for several; as TextModel::example_of(),
/// TextModel::image_of(), example_of_sound() and ChatForm do; and as the examples do.
[[nodiscard]] ReadExample read_shown(const TextModel& model, const Shown& shown, std::string_view function);

}  // namespace qkv
