#include "qkv/model/box.h"

#if defined(__linux__)
#include <dlfcn.h>
#endif

#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include "core/listed.h"
#include "files/place.h"
#include "files/reading.h"
#include "model/box_directories.h"
#include "qkv/error.h"

namespace qkv {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kSuffix = ".safetensors";

bool lies_in_build(const fs::path& file) {
  std::error_code none;
  const fs::path tree = fs::weakly_canonical(QKV_TREE_BUILD, none);
  return std::ranges::mismatch(tree, fs::weakly_canonical(file, none)).in1 == tree.end();
}

// What was installed reads nothing of the tree that it was built from: whoever owns that path by then would supply its
// models. A build without such a path (WebAssembly) has its models beside it.
bool is_of_the_tree(const fs::path& program) {
  if (fs::path(QKV_TREE_MODELS).is_relative() || lies_in_build(program)) return true;
#if defined(__linux__)
  // An extension module of Python is no program of its own.
  Dl_info own{};
  const bool is_known = ::dladdr(reinterpret_cast<const void*>(&is_of_the_tree), &own) != 0;
  return is_known && own.dli_fname != nullptr && std::string_view(own.dli_fname).ends_with(".so") &&
         lies_in_build(own.dli_fname);
#else
  return false;
#endif
}

}  // namespace

std::vector<std::string> box_directories() {
  std::vector<std::string> all;
  if (const char* const own = std::getenv("QKV_MODELS"); own != nullptr && *own != 0) all.emplace_back(own);
  std::error_code none;
  const fs::path program = fs::read_symlink("/proc/self/exe", none);
  if (!none) all.push_back(program.parent_path() / "../share/qkv/models");
  if (is_of_the_tree(program)) all.emplace_back(QKV_TREE_MODELS);
  return all;
}

std::vector<std::string> trained_model_names() {
  std::vector<std::string> names;
  for (const std::string& place : box_directories()) {
    std::error_code none;
    for (const auto& entry : fs::directory_iterator(place, none)) {
      if (entry.path().extension() == kSuffix) names.push_back(entry.path().stem().string());
    }
  }
  std::ranges::sort(names);
  names.erase(std::ranges::unique(names).begin(), names.end());
  return names;
}

std::string box_file(std::string_view name) {
  for (const std::string& place : box_directories()) {
    std::string path = place + "/" + std::string(name);
    if (files::is_there(path)) return path;
  }
  throw Error("no file \"" + std::string(name) + "\" in the box of models");
}

std::string trained_model_path(std::string_view name) {
  if (name.find_first_of("./") != std::string_view::npos) return std::string(name);
  for (const std::string& place : box_directories()) {
    std::string path = place + "/" + std::string(name) + std::string(kSuffix);
    if (files::is_there(path)) return path;
  }
  files::require_in_reach(std::string(name));
  if (files::is_folder(std::string(name))) return std::string(name);
  const std::vector<std::string> names = trained_model_names();
  const std::string fault =
      names.empty()
          ? "no model \"" + std::string(name) + "\": there is no box of models, whose folder QKV_MODELS may name"
          : "no model \"" + std::string(name) + "\" in the box, which has " + core::listed(names);
  throw FileError::saying(name, fault + "; for a file, give a path such as ./model.safetensors");
}

}  // namespace qkv
