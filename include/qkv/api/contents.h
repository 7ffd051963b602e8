// What is in a file of weights or in a model's folder: what `qkv info FILE` prints.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "qkv/api/member.h"

namespace qkv {

/// A word of the metadata, or of a folder's config.json.
struct ContentsWord {
  std::string name;
  std::string type;   // "string", "list of f32"
  std::string value;  // as JSON; of a long list its first values and how many there are
};

struct ContentsTensor {
  std::string name;
  std::string type;                 // as the file says it: "F32", "Q4_K"
  std::vector<std::int64_t> shape;  // the outermost axis first
  std::int64_t bytes = 0;           // in the file
};

/// All tensors of a type.
struct ContentsType {
  std::string type;
  std::int64_t tensors = 0;
  std::int64_t numbers = 0;
  std::int64_t bytes = 0;
};

struct ContentsFile {
  std::string name;
  std::int64_t bytes = 0;
};

struct Contents {
  std::string path;
  std::string form;                 // "GGUF, version 3", "safetensors", "a folder"
  std::vector<ContentsFile> files;  // one, the parts of a split one, or those of the folder, by name
  std::vector<ContentsWord> words;  // metadata by name; of a folder its config.json
  std::vector<ContentsType> types;  // the largest first
  std::vector<ContentsTensor> tensors;
  std::int64_t numbers = 0;  // of all tensors
  std::int64_t memory = 0;   // bytes that the quantised ones take when the model is opened: 4 a number
  std::string refusal;       // of GGUF: why qkv opens no model of it; empty where it does
  bool writes = false;       // of GGUF: qkv generate opens it
};

/// Of a GGUF or safetensors file, or of a folder with config.json: no weight is read. Throws Error naming the path, as
/// Gguf::read() and Safetensors::read(), and for any other file.
[[nodiscard]] Contents contents_of(const std::string& path);

/// For people, in lines of at most `width` columns where what is in the file does not make them longer. Tensors of a
/// type and shape that differ in their numbers alone are one line, unless `each` asks for one each.
enum class ContentsLines : std::uint8_t { grouped, each };
[[nodiscard]] std::string contents_as_text(const Contents& contents, int width, ContentsLines lines);

[[nodiscard]] Members<ContentsWord> describe(const ContentsWord* word);
[[nodiscard]] Members<ContentsTensor> describe(const ContentsTensor* tensor);
[[nodiscard]] Members<ContentsType> describe(const ContentsType* type);
[[nodiscard]] Members<ContentsFile> describe(const ContentsFile* file);
[[nodiscard]] Members<Contents> describe(const Contents* contents);

}  // namespace qkv
