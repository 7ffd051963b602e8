#include "house/rooms.h"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <regex>

namespace qkv::house {
namespace {

namespace fs = std::filesystem;

struct Include {
  std::string name;
  bool quoted = false;
};

std::optional<Include> include_of(const std::string& line) {
  static const std::regex kInclude(R"(^\s*#\s*include\s*([<"])([^>"]+)[>"])");
  std::smatch match;
  if (!std::regex_search(line, match, kInclude)) return std::nullopt;
  return Include{match[2].str(), match[1] == "\""};
}

const Room* find_room(std::string_view name) {
  const auto found = std::ranges::find(rooms(), name, &Room::name);
  return found == rooms().end() ? nullptr : &*found;
}

std::string first_part(const fs::path& path) { return path.begin() == path.end() ? "" : path.begin()->string(); }

/// Files of api that are of training, and no others of its room, use train.
bool is_of_training(const fs::path& path) {
  static constexpr std::array<std::string_view, 6> kStarts = {"src/api/learn/",         "src/api/models/",
                                                              "src/api/study/",         "src/api/task/",
                                                              "include/qkv/api/task.h", "include/qkv/api/train.h"};
  return std::ranges::any_of(kStarts, [&](std::string_view start) { return path.native().starts_with(start); });
}

bool may_use(const Room& room, std::string_view other, const fs::path& path) {
  return room.name == other || std::ranges::find(room.may_use, other) != room.may_use.end() ||
         (other == "train" && is_of_training(path));
}

bool is_standard(const Include& include) {
  return !include.quoted && include.name.find_first_of("./") == std::string::npos;
}

std::string use_of(const Room& room, std::string_view other, std::string_view header, const fs::path& path) {
  if (other.empty()) return std::string(header) + ": a public header that the table of rooms does not know";
  if (may_use(room, other, path)) return {};
  return std::string(header) + ": " + std::string(room.name) + " may not use " + std::string(other);
}

std::string fault_in_public(const Room& room, const Include& include, const fs::path& path) {
  if (is_standard(include)) return {};
  if (include.name.starts_with("qkv/")) return use_of(room, room_of_public(include.name), include.name, path);
  return include.name + ": a public header includes the standard library and qkv/ only";
}

std::string fault_in_room(const Room& room, const Include& include, const fs::path& path) {
  if (include.name.starts_with("qkv/")) return use_of(room, room_of_public(include.name), include.name, path);
  if (include.quoted) {
    const std::string other = first_part(include.name);
    if (find_room(other) != nullptr) return use_of(room, other, include.name, path);
    return include.name + ": a header of src/ is included by its path, room first";
  }
  const auto brought = [&](std::string_view start) { return include.name.starts_with(start); };
  if (is_standard(include) || std::ranges::any_of(room.brings, brought)) return {};
  return include.name + ": " + std::string(room.name) + " does not bring this library";
}

std::string fault_outside(const Include& include, std::string_view who) {
  if (!include.quoted || include.name.starts_with("qkv/")) return {};
  if (find_room(first_part(include.name)) == nullptr) return {};
  return include.name + ": " + std::string(who) + " uses the public headers only";
}

std::string fault(const fs::path& path, const Include& include) {
  if (path == "include/qkv/qkv.h") return {};  // names every public header: umbrella_test.cc
  const std::string top = first_part(path);
  if (path.native().starts_with("apps/studio/wasm/stand_ins/")) return {};  // in the place of files of many rooms
  if (top == "apps") return fault_outside(include, "an app");
  if (top == "python") return fault_outside(include, "the Python package");
  if (top == "bench") return fault_outside(include, "a benchmark");
  const std::string name = top == "include" ? std::string(room_of_public(path.lexically_relative("include").string()))
                                            : first_part(path.lexically_relative("src"));
  const Room* room = find_room(name);
  if (room == nullptr) return "a file of no room that the table knows";
  return top == "include" ? fault_in_public(*room, include, path) : fault_in_room(*room, include, path);
}

}  // namespace

const std::vector<Room>& rooms() {
  static const std::vector<Room> kRooms = {
      {"core",
       {},
       {"cpuid.h", "fmt/format-inl.h", "sched.h", "sys/auxv.h", "sys/resource.h", "sys/syscall.h", "unistd.h"}},
      {"mask", {"core"}, {"fmt/", "utf8.h"}},
      {"kernels", {"core", "mask"}, {"arm_neon.h", "immintrin.h", "oneapi/dnnl/", "pthread.h", "wasm_simd128.h"}},
      {"attention", {"core", "mask", "kernels"}, {"fmt/"}},
      {"cache", {"core", "mask", "kernels", "attention"}, {"fmt/"}},
      {"probe", {"core", "mask", "kernels", "attention"}, {"fmt/"}},
      {"cluster", {"core", "mask", "kernels", "attention", "cache"}, {"fmt/", "mpi.h"}},
      {"cost", {"core", "mask"}, {"fmt/"}},
      {"files",
       {"core"},
       {"fmt/", "nlohmann/", "png.h", "utf8.h", "zip.h", "zlib.h", "fcntl.h", "sys/mman.h", "sys/stat.h", "unistd.h"}},
      {"hub", {"core"}, {"curl/", "fmt/", "nlohmann/", "openssl/", "fcntl.h", "sys/file.h", "unistd.h"}},
      {"text", {"core", "files"}, {"fmt/", "nlohmann/", "pcre2.h", "protozero/", "utf8.h", "utf8proc.h"}},
      {"picture", {"core", "mask"}, {"fmt/", "utf8.h", "cairo", "png.h"}},
      {"autograd", {"core", "mask", "kernels", "attention"}, {}},
      {"nn", {"core", "mask", "kernels", "attention", "cache", "probe", "autograd"}, {"fmt/"}},
      {"model",
       {"core", "mask", "kernels", "attention", "cache", "probe", "autograd", "nn", "files", "text"},
       {"fmt/", "nlohmann/", "dlfcn.h"}},
      {"train",
       {"core", "mask", "kernels", "attention", "cache", "probe", "autograd", "nn", "model", "files", "text"},
       {"fmt/", "utf8.h", "fcntl.h", "sys/file.h", "unistd.h"}},
      {"insight",
       {"core", "mask", "kernels", "attention", "cache", "probe", "autograd", "nn", "model", "files", "text",
        "picture"},
       {"fmt/"}},
      {"explain",
       {"core", "mask", "kernels", "attention", "cache", "probe", "autograd", "nn", "model", "cost", "files", "text",
        "picture", "insight"},
       {"fmt/", "utf8.h"}},
      {"course",
       {"core", "mask", "kernels", "attention", "cache", "probe", "autograd", "nn", "model", "cost", "files", "text",
        "picture", "insight", "explain"},
       {"fmt/"}},
      {"study",
       {"core", "mask", "kernels", "attention", "cache", "probe", "autograd", "nn", "model", "train", "files", "text",
        "picture"},
       {"fmt/"}},
      {"api",
       {"core", "mask", "kernels", "attention", "cache", "probe", "autograd", "nn", "model", "cost", "files", "hub",
        "text", "picture", "insight", "explain", "course", "study"},
       {"fmt/", "nlohmann/", "malloc.h"}},
  };
  return kRooms;
}

std::string_view room_of_public(std::string_view header) {
  static const std::map<std::string_view, std::string_view> kOwners = {
      {"cancel", "core"},
      {"dlpack", "core"},
      {"dtype", "core"},
      {"error", "core"},
      {"info", "core"},
      {"quantised_tensor", "core"},
      {"random", "core"},
      {"tensor", "core"},
      {"threads", "core"},
      {"watched", "core"},
      {"bias", "mask"},
      {"mask", "mask"},
      {"mask_plans", "mask"},
      {"tile_plan", "mask"},
      {"stage", "kernels"},
      {"targets", "kernels"},
      {"feature_map", "kernels"},
      {"heads", "attention"},
      {"kv", "cache"},
      {"kv_cache", "cache"},
      {"decode", "cache"},
      {"linear_attention", "attention"},
      {"materialized_attention", "attention"},
      {"softmax", "attention"},
      {"attention", "attention"},
      {"backward", "attention"},
      {"probe", "probe"},
      {"gradient_probe", "probe"},
      {"cost", "cost"},
      {"captions", "files"},
      {"files", "files"},
      {"gguf", "files"},
      {"image", "files"},
      {"npy", "files"},
      {"npz", "files"},
      {"png", "files"},
      {"safetensors", "files"},
      {"wav", "files"},
      {"written_files", "files"},
      {"explain", "explain"},
  };
  if (!header.starts_with("qkv/") || !header.ends_with(".h")) return {};
  header = header.substr(4, header.size() - 6);
  const std::size_t slash = header.find('/');
  if (slash != std::string_view::npos) {
    const Room* room = find_room(header.substr(0, slash));
    return room == nullptr ? std::string_view{} : room->name;
  }
  const auto found = kOwners.find(header);
  return found == kOwners.end() ? std::string_view{} : found->second;
}

std::vector<std::string> violations(const SourceFile& file) {
  std::vector<std::string> faults;
  int number = 0;
  for (const std::string& line : lines_of(file.text)) {
    ++number;
    const std::optional<Include> include = include_of(line);
    if (!include) continue;
    const std::string text = fault(file.path, *include);
    if (!text.empty()) faults.push_back(file.path.string() + ":" + std::to_string(number) + ": " + text);
  }
  return faults;
}

}  // namespace qkv::house
