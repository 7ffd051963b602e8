// Texts that a model goes on with, as text: drawn or searched, streamed, ended by a token or by a string.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "qkv/model/generate.h"
#include "qkv/model/text_model.h"

namespace qkv {

inline constexpr std::int64_t kMostNewTokens = std::int64_t{1} << 20;
inline constexpr std::int64_t kMostBeams = 1024;

struct WriteOptions {
  GenerateOptions draw = {};            // ends, never and window as TextModel::writing() completes them
  std::vector<std::string> stops = {};  // each ends a text before it; special tokens are looked at, too
  /// Told each part of text number `text` as it is certain: whole characters, and no beginning of a stop.
  std::function<void(std::int64_t text, std::string_view part)> said = {};
};

enum class WriteEnd : std::uint8_t {
  token,   // one of the ends
  stop,    // one of the stops
  length,  // as many tokens as were asked for
  // as many as an encoder-decoder has learned positions for; a decoder goes on by its window
  positions,
  reader,  // cancelled through a WatchedThread; only in an answer of a Chat
};
/// "token", "stop", "length", "positions", "reader"
[[nodiscard]] std::string_view name_of(WriteEnd end) noexcept;

struct WrittenText {
  std::string text;                  // without its prompt, its end and its stop
  std::vector<std::int32_t> tokens;  // that were written; of a stop also those behind the text
  WriteEnd end = WriteEnd::length;
  /// Tokens at the beginning, prompt included, without which its last token was written: those before the window.
  std::int64_t unread = 0;
  std::int64_t cache_bytes = 0;  // of the keys and values that it was written over, of a decoder that reads no source
};

/// What the model writes after each prompt: after it, or in answer to it where the model reads a source; no more than
/// its task asks for, where that says how much. Prompts of the
/// same number of tokens share their passes; the seed of a prompt's draws follows from draw.seed and the first of those
/// that it shares them with. Throws InvalidArgument naming draw.most or draw.beams beyond the two bounds, prompt n as
/// "prompts[n]" where TextModel::example_of() does, and as generate().
[[nodiscard]] std::vector<WrittenText> write_texts(const TextModel& model, std::span<const std::string> prompts,
                                                   const WriteOptions& options);
/// The same after one example, such as a sound.
[[nodiscard]] WrittenText write_after(const TextModel& model, Example example, const WriteOptions& options);

}  // namespace qkv
