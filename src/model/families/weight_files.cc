#include "model/families/weight_files.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>

#include "core/block_type.h"
#include "core/listed.h"
#include "core/machine_memory.h"
#include "files/place.h"
#include "qkv/error.h"

namespace qkv::families {
namespace {

namespace fs = std::filesystem;

constexpr const char* kOneFile = "model.safetensors";
constexpr const char* kIndex = "model.safetensors.index.json";

// Weights in forms that are not read, by how their names end.
struct OtherForm {
  std::string_view end;
  std::string_view what;
};
constexpr std::array<OtherForm, 9> kOtherForms = {{
    {".gguf", "a GGUF file: give its path"},
    {"pytorch_model.bin", "a pickle of PyTorch, which could run any program: save the model again as safetensors"},
    {"pytorch_model.bin.index.json", "the index of pickles of PyTorch: save the model again as safetensors"},
    {".pth", "a pickle of PyTorch, which could run any program: save the model again as safetensors"},
    {".pt", "a pickle of PyTorch, which could run any program: save the model again as safetensors"},
    {".h5", "weights of TensorFlow: save the model again as safetensors"},
    {".msgpack", "weights of Flax: save the model again as safetensors"},
    {".onnx", "a graph of ONNX: save the model again as safetensors"},
    {".safetensors", "safetensors by another name: call it model.safetensors if it is the whole model"},
}};

// "; it has pytorch_model.bin, a pickle …"
std::string instead_in(const std::string& folder) {
  std::set<std::string> names;
  std::error_code none;
  for (const auto& entry : fs::directory_iterator(folder, none)) names.insert(entry.path().filename().string());
  for (const OtherForm& form : kOtherForms) {
    const auto found = std::ranges::find_if(names, [&](const std::string& name) { return name.ends_with(form.end); });
    if (found != names.end()) return "neither; it has " + *found + ", " + std::string(form.what);
  }
  return "neither";
}

// A name that stands there twice would be the last one of it, without a word.
void refuse_repeats(const std::string& index) {
  std::vector<std::set<std::string>> keys;  // of each object that is open
  const auto watch = [&](int, nlohmann::json::parse_event_t event, nlohmann::json& value) {
    if (event == nlohmann::json::parse_event_t::object_start) keys.emplace_back();
    if (event == nlohmann::json::parse_event_t::object_end) keys.pop_back();
    if (event == nlohmann::json::parse_event_t::key && !keys.back().insert(value.get<std::string>()).second) {
      throw FileError(index, value.get<std::string>() + ": expected it once, got it twice");
    }
    return true;
  };
  [[maybe_unused]] const nlohmann::json whole = nlohmann::json::parse(files::read_text(index), watch, false);
}

// "I8" of "layers.0.mlp.up_proj.weight": a map in whole numbers, or in 8 bits.
bool is_quantised(const std::string& name, const std::string& type) {
  const bool is_short = type.starts_with('I') || type.starts_with('U') || type.starts_with("F8") ||
                        type.starts_with("F6_") || type.starts_with("F4");
  return is_short && (name.ends_with("weight") || name.ends_with("weight_packed") || name.ends_with("_blocks"));
}

std::optional<std::string> quantised_tensor(const WeightFiles& files) {
  for (const auto& [name, file] : files.names()) {
    if (is_quantised(name, files.stored_type(name))) return name + " is stored as " + files.stored_type(name);
  }
  return std::nullopt;
}

constexpr std::string_view kBlocks = "_blocks";

// "…_scales" of "…_blocks".
std::string scales_of(std::string_view blocks) {
  return std::string(blocks.substr(0, blocks.size() - kBlocks.size())) + "_scales";
}

constexpr std::int64_t kNumbersOfBlock = 32;
constexpr std::int64_t kBytesOfBlock = 16;

// A byte holds two numbers one after the other; of GGML's number n and number n + 16.
void put_in_order(const std::uint8_t* from, std::byte* to) {
  const auto number = [&](int n) { return n % 2 == 0 ? from[n / 2] & 15 : from[n / 2] >> 4; };
  for (int n = 0; n < kBytesOfBlock; ++n) to[n] = static_cast<std::byte>(number(n) | number(n + 16) << 4);
}

}  // namespace

void WeightFiles::join_mxfp4() {
  for (const auto& [name, type] : types_) {
    if (!name.ends_with(kBlocks)) continue;
    const auto scales = names_.find(scales_of(name));
    if (scales == names_.end()) {
      throw FileError(paths_[names_.at(name)], name + ": expected " + scales_of(name) + " beside it, got none");
    }
    for (const std::string& one : {name, scales->first}) {
      if (types_.at(one) != "U8") {
        throw FileError(paths_[names_.at(one)], one + ": expected U8, got " + types_.at(one));
      }
    }
    pairs_.emplace(name, Pair{.blocks = names_.at(name), .scales = scales->second});
    names_.erase(scales);
  }
  for (const auto& [name, pair] : pairs_) types_[name] = "MXFP4";
}

std::uint64_t WeightFiles::numbers_in_blocks() const {
  std::uint64_t numbers = 0;
  for (const auto& [name, pair] : pairs_) {
    numbers += 2 * static_cast<std::uint64_t>(files_[pair.blocks].load(name).size());  // in a byte
  }
  return numbers;
}

QuantisedTensor WeightFiles::joined(const std::string& name, const Pair& pair) const {
  const auto fail = [&](std::size_t file, const std::string& what) { throw FileError(paths_[file], what); };
  const Tensor blocks = files_[pair.blocks].load(name);
  const Tensor scales = files_[pair.scales].load(scales_of(name));
  const Shape& shape = blocks.shape();
  if (shape.rank() != 4 || shape[3] != kBytesOfBlock) {
    fail(pair.blocks, name + ": expected [E, N, K / 32, 16], got " + shape.to_string());
  }
  if (!(scales.shape() == Shape{shape[0], shape[1], shape[2]})) {
    fail(pair.scales, scales_of(name) + ": expected " + Shape{shape[0], shape[1], shape[2]}.to_string() + ", got " +
                          scales.shape().to_string());
  }
  constexpr std::uint8_t kNoNumber = 255;
  const std::span<const std::uint8_t> powers = scales.values<std::uint8_t>();
  if (std::ranges::find(powers, kNoNumber) != powers.end()) {
    fail(pair.scales, scales_of(name) + ": expected scales up to 254, got 255, which stands for no number");
  }
  const std::uint8_t* from = blocks.values<std::uint8_t>().data();
  const auto own = std::make_shared<std::vector<std::byte>>(powers.size() * (kBytesOfBlock + 1));
  std::byte* to = own->data();
  for (const std::uint8_t power : powers) {
    *to = static_cast<std::byte>(power);
    put_in_order(from, to + 1);
    from += kBytesOfBlock;
    to += kBytesOfBlock + 1;
  }
  return {core::BlockType::mxfp4, {shape[0], shape[1], shape[2] * kNumbersOfBlock}, *own, own};
}

WeightFiles::WeightFiles(const std::string& folder) {
  const std::string one = (fs::path(folder) / kOneFile).string();
  const std::string index = (fs::path(folder) / kIndex).string();
  if (files::is_there(one)) {
    files_.push_back(Safetensors::read(one));
    paths_.push_back(one);
    add_all(0);
    if (files::is_there(index)) cautions_.push_back(std::string(kIndex) + ": not read, beside " + kOneFile);
  } else if (files::is_there(index)) {
    open_shards(folder, index);
  } else {
    throw FileError(folder, std::string("expected ") + kOneFile + " or " + kIndex + ", got " + instead_in(folder));
  }
}

// As transformers, which reads whole shards.
void WeightFiles::add_all(std::size_t number) {
  for (const SafetensorsEntry& entry : files_[number].entries()) {
    const auto [place, is_new] = names_.try_emplace(entry.name, number);
    if (!is_new) {
      const std::string& other = paths_[place->second];
      if (!is_same_tensor(files_[number].load(entry.name), files_[place->second].load(entry.name))) {
        throw FileError(paths_[number],
                        entry.name + ": expected it in one shard, got it with other values in " + other + " too");
      }
      cautions_.push_back(entry.name + ": the same in two shards");
    }
    types_[entry.name] = entry.dtype;
  }
}

void WeightFiles::open_shards(const std::string& folder, const std::string& index) {
  refuse_repeats(index);
  const ConfigFile listed = ConfigFile(index).object("weight_map");
  std::map<std::string, std::size_t> numbers;
  for (const std::string& name : listed.words()) {
    const std::string shard = listed.text(name);
    // A shard lies beside its index: a path could lead anywhere.
    if (fs::path(shard).filename() != shard) listed.refuse(name, "the name of a file in the same folder");
    const auto [place, is_new] = numbers.try_emplace(shard, files_.size());
    const std::string path = (fs::path(folder) / shard).string();
    if (is_new) {
      files_.push_back(Safetensors::read(path));
      paths_.push_back(path);
      add_all(place->second);
    }
    if (!files_[place->second].contains(name)) {
      throw FileError(path, name + ": expected this tensor, as the index says, got none of the name");
    }
  }
  std::vector<std::string> unlisted;
  for (const auto& [name, file] : names_) {
    if (!listed.has(name)) unlisted.push_back(name);
  }
  if (unlisted.empty()) return;
  cautions_.push_back(core::listed(unlisted, 1) + ": in a shard, and not in " + kIndex + "; read all the same");
}

bool WeightFiles::contains(std::string_view name) const { return names_.find(name) != names_.end(); }

WeightFiles::WeightFiles(std::map<std::string, std::string, std::less<>> types,
                         std::function<Stored(const std::string&)> load)
    : types_(std::move(types)), load_(std::move(load)) {
  for (const auto& [name, type] : types_) names_.emplace(name, 0);
}

WeightFiles::Stored WeightFiles::stored(const std::string& name) const {
  if (load_) return load_(name);
  const auto pair = pairs_.find(name);
  if (pair == pairs_.end()) return files_[names_.at(name)].load(name);
  constexpr std::size_t kMost = 2;  // of a layer, of which each expert takes its part
  const auto found = std::ranges::find(joined_, name, &std::pair<std::string, QuantisedTensor>::first);
  if (found != joined_.end()) return found->second;
  if (joined_.size() == kMost) joined_.erase(joined_.begin());
  return joined_.emplace_back(name, joined(name, pair->second)).second;
}

Tensor WeightFiles::load(const std::string& name) const { return as_tensor(stored(name)); }

Tensor as_tensor(WeightFiles::Stored stored) {
  const auto* blocks = std::get_if<QuantisedTensor>(&stored);
  return blocks == nullptr ? std::get<Tensor>(std::move(stored)) : blocks->dequantised();
}

bool is_same_tensor(const Tensor& a, const Tensor& b) {
  if (!(a.shape() == b.shape())) return false;
  if (a.dtype() == b.dtype() && a.is_contiguous() && b.is_contiguous()) {
    return std::memcmp(a.data(), b.data(), static_cast<std::size_t>(a.size()) * size_of(a.dtype())) == 0;
  }
  return a.to_vector() == b.to_vector();
}

void require_memory(const std::string& source, std::uint64_t bytes, DType dtype) {
  constexpr double kGiga = 1e9;
  const std::uint64_t most = core::machine_memory();
  if (bytes <= most / 10 * 9) return;
  throw FileError(source,
                  fmt::format("its quantised weights take {:.1f} GB as {}, and there are {:.1f} GB of memory: "
                              "`dtype` file computes with them as they lie",
                              static_cast<double>(bytes) / kGiga, name_of(dtype), static_cast<double>(most) / kGiga));
}

void refuse_quantised(const std::string& folder, const WeightFiles& files) {
  const std::optional<std::string> tensor = quantised_tensor(files);
  if (!tensor) return;
  throw FileError(folder,
                  "its weights are quantised (" + *tensor +
                      "), which is not read: expected f32, f16, bf16 or f64, as the model was before it was quantised");
}

void refuse_adapter(const std::string& folder) {
  constexpr const char* kBase = "base_model_name_or_path";
  const std::string adapter = (fs::path(folder) / "adapter_config.json").string();
  if (!files::is_there(adapter) || files::is_there((fs::path(folder) / kOneFile).string()) ||
      files::is_there((fs::path(folder) / kIndex).string())) {
    return;
  }
  const ConfigFile config(adapter);
  const std::string base = config.has(kBase) ? config.text(kBase) : "another model";
  throw FileError(folder,
                  "an adapter (" + (config.has("peft_type") ? config.text("peft_type") : "PEFT") +
                      "), which changes the weights of " + base +
                      " and is no model by itself: merge it into that (merge_and_unload of peft), and open the result");
}

}  // namespace qkv::families
