// What `qkv embed`, `qkv fill` and `qkv generate` print as JSON.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "qkv/api/member.h"
#include "qkv/model/fill.h"
#include "qkv/model/text_model.h"
#include "qkv/model/write_text.h"

namespace qkv {

/// What `qkv embed` prints, a line for each text.
struct EmbedFigures {
  std::string text;
  std::string prompt;  // that stood before it; may be empty
  std::vector<float> vector;
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
};

/// What `qkv generate --json` prints, a line for each text.
struct GenerateFigures {
  std::string end, prompt, text;
  std::vector<std::int32_t> tokens;
};

/// Of fill_gaps() of the text, by the model's own pieces.
[[nodiscard]] FillFigures fill_figures(const std::string& text, const std::vector<FilledMask>& masks,
                                       const Tokenizer& pieces);
[[nodiscard]] GenerateFigures generate_figures(const std::string& prompt, const WrittenText& written);

[[nodiscard]] const Members<EmbedFigures>& members_of(const EmbedFigures* figures);
[[nodiscard]] const Members<FillPiece>& members_of(const FillPiece* piece);
[[nodiscard]] const Members<FillMask>& members_of(const FillMask* mask);
[[nodiscard]] const Members<FillFigures>& members_of(const FillFigures* figures);
[[nodiscard]] const Members<GenerateFigures>& members_of(const GenerateFigures* figures);

}  // namespace qkv
