#include "live_engine.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "encodings.h"
#include "qkv/files.h"
#include "qkv/train/trained_model.h"
#include "server/pages.h"

namespace qkv::studio {
namespace {

// So that a file has at most 8 MB. The tokenizer of gpt is not in the page; the others are large, or have a smaller one
// of their task beside them.
constexpr std::array<std::string_view, 4> kLeftOut = {"brackets", "gpt", "induction3", "towers"};

std::string packed_model(const std::string& name) {
  const auto bytes = read_file(box_file(name + ".safetensors"));
  return gzipped({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
}

}  // namespace

std::optional<LiveEngine> live_engine() {
  const Pages pages = built_pages();
  if (pages.engine.empty()) return std::nullopt;
  LiveEngine live{.engine = std::string(pages.engine), .worker = gunzipped(pages.worker), .models = {}};
  for (const std::string& name : trained_model_names()) {
    if (std::ranges::find(kLeftOut, name) == kLeftOut.end()) live.models[name] = packed_model(name);
  }
  for (const char* const name : {"bottleneck/vector", "bottleneck/attention"}) live.models[name] = packed_model(name);
  return live;
}

}  // namespace qkv::studio
