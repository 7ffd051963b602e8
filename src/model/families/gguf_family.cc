#include "model/families/gguf_family.h"

#include <algorithm>
#include <vector>

#include "core/listed.h"
#include "model/families/gguf_neighbours.h"
#include "qkv/error.h"

namespace qkv::families {
namespace {

const std::vector<GgufFamily>& gguf_families() {
  static const std::vector<GgufFamily> kAll = [] {
    std::vector<GgufFamily> all;
    for (const std::span<const GgufFamily> of_file : {gguf_decoders(), gguf_gpts(), gguf_encoders(), gguf_mixtures()}) {
      all.insert(all.end(), of_file.begin(), of_file.end());
    }
    return all;
  }();
  return kAll;
}

}  // namespace

std::string key_of(const files::GgufKeys& keys, std::string_view name) {
  return keys.text("general.architecture") + "." + std::string(name);
}

const GgufFamily& gguf_family_for(const std::string& model_type, const std::string& source) {
  std::vector<std::string_view> names;
  for (const GgufFamily& family : gguf_families()) {
    for (const std::string_view type : {family.model_type, family.also}) {
      if (type.empty()) continue;
      if (type == model_type) return family;
      names.push_back(type);
    }
  }
  throw FileError(source,
                  "model_type: expected one that is written as GGUF, " + core::joined(names) + ", got " + model_type);
}

const GgufFamily& gguf_family_of(const files::GgufKeys& keys) {
  constexpr std::string_view kKey = "general.architecture";
  const std::string& name = keys.text(kKey);
  const std::string experts = key_of(keys, "expert_count");
  const bool has_experts = keys.has(experts) && keys.integer(experts) != 0;
  std::vector<std::string_view> names;
  const GgufFamily* found = nullptr;
  for (const GgufFamily& family : gguf_families()) {
    if (family.architecture == name) {
      if (family.has_experts == has_experts) return family;
      found = &family;
    }
    if (std::ranges::find(names, family.architecture) == names.end()) names.push_back(family.architecture);
  }
  if (found != nullptr) return *found;
  keys.refuse(kKey, "one of the architectures " + core::joined(names) + gguf_neighbour_text(name));
}

}  // namespace qkv::families
