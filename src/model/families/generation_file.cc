// How the authors of a folder mean its model to write.
#include <filesystem>

#include "model/families/config_file.h"
#include "qkv/model/generate.h"

namespace qkv {

GenerateOptions draw_options_of(const std::string& folder) {
  namespace fs = std::filesystem;
  constexpr std::int64_t kUsualTopK = 50;
  GenerateOptions draw;
  const fs::path path = fs::path(folder) / "generation_config.json";
  if (!fs::is_directory(folder) || !fs::exists(path)) return draw;
  const families::ConfigFile config(path.string());
  draw.repetition_penalty = config.number("repetition_penalty", 1);
  if (config.flag("do_sample", false)) {
    draw.temperature = config.number("temperature", 1);
    draw.top_k = config.integer("top_k", kUsualTopK);
    draw.top_p = config.number("top_p", 1);
    draw.min_p = config.number("min_p", 0);
    return draw;
  }
  draw.beams = config.integer("num_beams", 1);
  draw.length_penalty = config.number("length_penalty", 1);
  return draw;
}

}  // namespace qkv
