#include "model/families/weight_files.h"

#include <filesystem>
#include <fstream>

#include "model/families/config_file.h"
#include "qkv/error.h"

namespace qkv::families {
namespace {

namespace fs = std::filesystem;

constexpr const char* kOneFile = "model.safetensors";
constexpr const char* kIndex = "model.safetensors.index.json";

}  // namespace

WeightFiles::WeightFiles(const std::string& folder) {
  const fs::path one = fs::path(folder) / kOneFile;
  const fs::path index = fs::path(folder) / kIndex;
  if (fs::exists(one)) {
    files_.push_back(Safetensors::read(one.string()));
    for (const SafetensorsEntry& entry : files_.front().entries()) names_[entry.name] = 0;
  } else if (fs::exists(index)) {
    open_shards(folder, index.string());
  } else {
    throw Error(folder + ": expected " + kOneFile + " or " + kIndex + ", got neither");
  }
}

void WeightFiles::open_shards(const std::string& folder, const std::string& index) {
  const ConfigFile listed = ConfigFile(index).object("weight_map");
  std::map<std::string, std::size_t> numbers;
  for (const std::string& name : listed.words()) {
    const std::string shard = listed.text(name);
    // A shard lies beside its index: a path could lead anywhere.
    if (fs::path(shard).filename() != shard) listed.refuse(name, "the name of a file in the same folder");
    const auto [place, is_new] = numbers.try_emplace(shard, files_.size());
    const std::string path = (fs::path(folder) / shard).string();
    if (is_new) files_.push_back(Safetensors::read(path));
    if (!files_[place->second].contains(name)) {
      throw Error(path + ": " + name + ": expected this tensor, as the index says, got none of the name");
    }
    names_[name] = place->second;
  }
}

bool WeightFiles::contains(std::string_view name) const { return names_.find(name) != names_.end(); }

Tensor WeightFiles::load(const std::string& name) const { return files_[names_.at(name)].load(name); }

}  // namespace qkv::families
