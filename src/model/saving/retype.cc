// The same tensors, by the same names, in another type.
#include <algorithm>
#include <array>
#include <filesystem>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>

#include "files/checksum.h"
#include "files/json_text.h"
#include "files/place.h"
#include "model/families/weight_files.h"
#include "model/saving/forms.h"
#include "model/saving/planned_tensors.h"
#include "model/saving/same_model.h"
#include "model/saving/written_json.h"
#include "qkv/error.h"
#include "qkv/files.h"
#include "qkv/safetensors.h"

namespace qkv::saving {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

constexpr const char* kShardIndex = "model.safetensors.index.json";

PlannedTensors retyped(const Safetensors& file, const ConvertOptions& options) {
  PlannedTensors plan;
  for (const SafetensorsEntry& entry : file.entries()) {
    const bool changes = options.type && is_floating(file.load(entry.name).dtype());
    plan.add({entry.name, changes ? type_in_file(*options.type) : entry.dtype, entry.shape,
              [&file, name = entry.name] { return file.load(name); }},
             options.type && !changes ? "no floating numbers" : "");
  }
  return plan;
}

// Writes one file and compares it.
void write_retyped(const Safetensors& file, files::StagedFile& out, const std::map<std::string, std::string>& metadata,
                   Conversion& done, const ConvertOptions& options) {
  PlannedTensors plan = retyped(file, options);
  files::write_safetensors(out, metadata, plan.tensors, progress_of(options, "write"));
  out.finish();
  const Safetensors back = Safetensors::read(out.temporary());
  Conversion part{.form = {}, .bytes = 0, .tensors = std::move(plan.shown), .cautions = {}};
  compare_tensors(
      part, [&](const std::string& name) { return file.load(name); },
      [&](const std::string& name) { return back.load(name); }, options);
  std::ranges::move(part.tensors, std::back_inserter(done.tensors));
}

bool is_in_another_form(const std::string& name) {
  constexpr std::array<std::string_view, 8> kEnds = {".bin", ".pt", ".pth", ".h5", ".msgpack", ".onnx", ".gguf", ".ot"};
  return std::ranges::any_of(kEnds, [&](std::string_view end) { return name.ends_with(end); });
}

enum class FileUse : std::uint8_t { copied, in_another_form, no_shard, written_anew, of_no_use };

// `name` is relative to the folder. The weights of a module in a folder of its own are no part of the model's.
FileUse use_of_file(const fs::path& name, const std::vector<std::string>& shards) {
  constexpr std::string_view kIndexEnd = ".index.json";
  const std::string text = name.string();
  if (is_in_another_form(text)) return FileUse::in_another_form;
  if (text.ends_with(".safetensors")) {
    if (name.has_parent_path()) return FileUse::copied;
    return std::ranges::find(shards, text) == shards.end() ? FileUse::no_shard : FileUse::written_anew;
  }
  if (!text.ends_with(kIndexEnd)) return FileUse::copied;
  const std::string listed = text.substr(0, text.size() - kIndexEnd.size());
  return name.has_parent_path() && !is_in_another_form(listed) ? FileUse::copied : FileUse::of_no_use;
}

std::string with_dtype(const std::string& text, const std::string& path, const std::optional<std::string>& type) {
  if (!type) return text;
  auto config = nlohmann::ordered_json::parse(text, nullptr, false);
  if (!config.is_object()) throw FileError(path, "expected a JSON object");
  for (const char* word : {"dtype", "torch_dtype"}) {
    if (config.contains(word)) config[word] = dtype_in_config(type_in_file(*type));
  }
  return config.dump(2) + "\n";
}

void copy_files(const std::string& folder, const std::vector<std::string>& shards, files::StagedFolder& out,
                const ConvertOptions& options, Conversion& done) {
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    const fs::path name = entry.path().lexically_relative(folder);
    const bool is_hidden =
        std::ranges::any_of(name, [](const fs::path& part) { return part.string().starts_with('.'); });
    if (is_hidden || !fs::is_regular_file(entry.status())) continue;
    const FileUse use = use_of_file(name, shards);
    if (use == FileUse::in_another_form) {
      done.cautions.push_back(name.string() + ": not copied, as it holds weights in another form");
    } else if (use == FileUse::no_shard) {
      done.cautions.push_back(name.string() + ": not copied, as it is not a shard of the model");
    }
    if (use != FileUse::copied) continue;
    const std::string text = files::read_bytes(entry.path().string());
    write_file(out.add(name.string()),
               name == "config.json" ? with_dtype(text, entry.path().string(), options.type) : text);
  }
}

void write_index(const std::string& folder, files::StagedFolder& out, const Conversion& done) {
  Json index = files::read_json((fs::path(folder) / kShardIndex).string());
  std::int64_t size = 0;
  for (const ConvertedTensor& tensor : done.tensors) size += tensor.bytes;
  index["metadata"]["total_size"] = size;
  write_json(out, kShardIndex, index);
}

}  // namespace

Conversion folder_to_folder(const std::string& folder, files::StagedFolder& out, const ConvertOptions& options) {
  const families::WeightFiles weights(folder);
  families::refuse_quantised(folder, weights);
  Conversion done{.form = "a folder", .bytes = 0, .tensors = {}, .cautions = weights.cautions()};
  std::vector<std::string> shards;
  for (const std::string& path : weights.paths()) shards.push_back(fs::path(path).filename().string());
  copy_files(folder, shards, out, options, done);
  for (std::size_t n = 0; n < shards.size(); ++n) {
    const Safetensors& file = weights.files()[n];
    files::StagedFile part(out.add(shards[n]));
    write_retyped(file, part, file.metadata(), done, options);
    part.appear();
  }
  if (shards.size() > 1) write_index(folder, out, done);
  for (const auto& entry : fs::recursive_directory_iterator(out.temporary())) {
    if (entry.is_regular_file()) done.bytes += static_cast<std::int64_t>(entry.file_size());
  }
  return done;
}

Conversion file_to_file(const std::string& path, files::StagedFile& out, const ConvertOptions& options) {
  const Safetensors file = files::read_safetensors(path);
  files::require_sound(file);
  std::map<std::string, std::string> metadata = file.metadata();
  // Of the bytes as they were.
  std::erase_if(metadata, [](const auto& word) { return word.first.starts_with("checksum."); });
  Conversion done{.form = "safetensors", .bytes = 0, .tensors = {}, .cautions = {}};
  if (metadata.size() != file.metadata().size()) {
    done.cautions.emplace_back("the new file has no checksum: qkv writes one when a model is trained");
  }
  write_retyped(file, out, metadata, done, options);
  done.bytes = static_cast<std::int64_t>(fs::file_size(out.temporary()));
  return done;
}

}  // namespace qkv::saving
