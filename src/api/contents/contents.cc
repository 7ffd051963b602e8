#include "qkv/api/contents.h"

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <system_error>
#include <utility>

#include "api/fields/refuse.h"
#include "core/block_type.h"
#include "files/gguf_header.h"
#include "files/gguf_keys.h"
#include "files/json_text.h"
#include "files/mapped_file.h"
#include "files/place.h"
#include "files/reading.h"
#include "model/families/gguf.h"
#include "qkv/gguf.h"
#include "qkv/model/box.h"
#include "qkv/safetensors.h"

namespace qkv {
namespace {

namespace fs = std::filesystem;

std::string as_json(const nlohmann::json& value) {
  return value.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

std::int64_t numbers_in(const ContentsTensor& tensor) {
  std::int64_t numbers = 1;
  for (const std::int64_t extent : tensor.shape) numbers *= extent;
  return numbers;
}

bool is_in_blocks(const std::string& type) {
  const files::GgufType* known = files::find_gguf_type(type);
  return known != nullptr && known->block.has_value();
}

void add_tensor(Contents& contents, ContentsTensor tensor) {
  const std::int64_t numbers = numbers_in(tensor);
  contents.numbers += numbers;
  if (is_in_blocks(tensor.type)) contents.memory += numbers * static_cast<std::int64_t>(sizeof(float));
  auto type = std::ranges::find(contents.types, tensor.type, &ContentsType::type);
  if (type == contents.types.end()) type = contents.types.insert(type, ContentsType{.type = tensor.type});
  type->tensors += 1;
  type->numbers += numbers;
  type->bytes += tensor.bytes;
  contents.tensors.push_back(std::move(tensor));
}

void add_file(Contents& contents, const fs::path& path) {
  std::error_code none;
  const std::uintmax_t size = fs::file_size(path, none);
  contents.files.push_back({path.filename().string(), none ? 0 : static_cast<std::int64_t>(size)});
}

void add_gguf_tensors(Contents& contents, const Gguf& file) {
  for (const GgufEntry& entry : file.entries()) {
    add_tensor(contents, {entry.name, entry.type, entry.shape, static_cast<std::int64_t>(entry.end - entry.begin)});
  }
}

void add_safetensors(Contents& contents, const Safetensors& file) {
  for (const SafetensorsEntry& entry : file.entries()) {
    add_tensor(contents, {entry.name, entry.dtype, entry.shape, static_cast<std::int64_t>(entry.end - entry.begin)});
  }
}

void read_gguf(Contents& contents, const Gguf& file) {
  contents.form = "GGUF, version " + std::to_string(file.version());
  for (std::size_t n = 0; n < file.parts(); ++n) add_file(contents, file.source_of(n));
  for (const auto& [name, value] : file.metadata()) {
    const auto* text = std::get_if<std::string>(&value.value);
    contents.words.push_back({name, value.type, text == nullptr ? files::gguf_value_text(value) : as_json(*text)});
  }
  add_gguf_tensors(contents, file);
  families::GgufOutlook outlook = families::outlook_of_gguf(file);
  contents.refusal = std::move(outlook.refusal);
  contents.writes = outlook.writes;
}

void read_safetensors(Contents& contents, const Safetensors& file) {
  contents.form = "safetensors";
  add_file(contents, contents.path);
  for (const auto& [name, text] : file.metadata()) {
    contents.words.push_back({name, "string", as_json(text)});
  }
  add_safetensors(contents, file);
}

// In the order of their names.
std::vector<fs::path> files_in(const std::string& folder) {
  std::vector<fs::path> all;
  std::error_code none;
  for (const auto& entry : fs::directory_iterator(folder, none)) {
    if (fs::is_regular_file(entry.status(none))) all.push_back(entry.path());
  }
  std::ranges::sort(all);
  return all;
}

void read_config(Contents& contents, const std::string& path) {
  const nlohmann::json config = files::read_json(path);
  if (!config.is_object()) throw FileError(path, "expected a JSON object, got " + files::json_for_message(config));
  for (const auto& [name, value] : config.items()) {
    contents.words.push_back({name, value.type_name(), as_json(value)});
  }
}

void read_folder(Contents& contents) {
  contents.form = "a folder";
  const fs::path config = fs::path(contents.path) / "config.json";
  if (!files::is_there(config.string())) {
    throw FileError(contents.path, "expected a folder with config.json, got one without");
  }
  read_config(contents, config.string());
  for (const fs::path& path : files_in(contents.path)) {
    add_file(contents, path);
    if (path.extension() == ".safetensors") add_safetensors(contents, Safetensors::read(path.string()));
  }
}

// A path, not a name: whoever gives one of the box is told its file.
void require_path(const std::string& path) {
  const std::vector<std::string> names = trained_model_names();
  if (files::is_there(path) || std::ranges::find(names, path) == names.end()) return;
  api_detail::refuse("file", "a path (the box's model of this name is " + trained_model_path(path) + ")",
                     "\"" + path + "\"");
}

void read_one_file(Contents& contents) {
  files::SharedBytes bytes = files::map_file(contents.path);
  if (families::is_gguf(bytes.bytes)) return read_gguf(contents, Gguf::read(std::move(bytes), contents.path));
  if (const std::string_view other = files::other_than_safetensors(bytes.bytes, contents.path); !other.empty()) {
    throw FileError(contents.path, files::expected_weights() + std::string(other));
  }
  read_safetensors(contents, {std::move(bytes), contents.path});
}

}  // namespace

Contents contents_of(const std::string& path) {
  require_path(path);
  files::require_file_or_folder(path);
  Contents contents;
  contents.path = path;
  files::is_folder(path) ? read_folder(contents) : read_one_file(contents);
  std::ranges::sort(contents.types, {}, [](const ContentsType& type) { return std::pair(-type.bytes, type.type); });
  return contents;
}

}  // namespace qkv
