#include "live_engine.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <span>
#include <system_error>
#include <utility>
#include <vector>

#include "encodings.h"
#include "qkv/files.h"
#include "qkv/model/box.h"
#include "server/pages.h"

namespace qkv::studio {
namespace {

namespace fs = std::filesystem;

constexpr std::array<const char*, 2> kUnchosen = {"bottleneck/vector", "bottleneck/attention"};

std::string packed(std::span<const std::byte> bytes) {
  return gzipped({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
}

std::string packed_model(const std::string& name) { return packed(read_file(box_file(name + ".safetensors"))); }

// Whether a model is shown by its name in the box, or by the path of its file there.
bool is_of_box(const std::string& shown, const std::string& name) {
  std::error_code none;
  return shown == name || fs::equivalent(shown, box_file(name + ".safetensors"), none);
}

// What a model takes in a page: base85, and its name with quotes, colon and comma.
std::size_t bytes_in_page(const std::string& name, const std::string& packed) {
  constexpr std::size_t kAround = 6;
  return base85_bytes(packed.size()) + name.size() + kAround;
}

}  // namespace

std::vector<std::byte> box_model(const std::string& name) {
  std::vector<std::string> names = trained_model_names();
  names.insert(names.end(), kUnchosen.begin(), kUnchosen.end());
  return std::ranges::find(names, name) == names.end() ? std::vector<std::byte>()
                                                       : read_file(box_file(name + ".safetensors"));
}

std::optional<LiveEngine> live_engine() {
  const Pages pages = built_pages();
  if (pages.engine.empty()) return std::nullopt;
  LiveEngine live{.engine = std::string(pages.engine), .worker = gunzipped(pages.worker), .models = {}};
  for (const char* const name : kUnchosen) live.models[name] = packed_model(name);
  return live;
}

void add_models(LiveEngine& live, const std::set<std::string>& shown, std::size_t room, Studio& studio) {
  std::vector<std::pair<std::size_t, std::string>> others;
  std::size_t taken = 0;
  for (const std::string& name : trained_model_names()) {
    if (const auto as = std::ranges::find_if(shown, [&](const auto& one) { return is_of_box(one, name); });
        as != shown.end()) {
      const auto opened = studio.model(*as);
      taken += bytes_in_page(name, live.models[name] = packed(opened->model().file()->bytes()));
    } else {
      others.emplace_back(fs::file_size(box_file(name + ".safetensors")), name);
    }
  }
  std::ranges::sort(others);
  for (const auto& [size, name] : others) {
    std::string model = packed_model(name);
    taken += bytes_in_page(name, model);
    if (taken > room) return;
    live.models[name] = std::move(model);
  }
}

}  // namespace qkv::studio
