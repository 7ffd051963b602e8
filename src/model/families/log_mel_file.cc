// preprocessor_config.json: how a sound becomes a spectrogram, as the authors of Whisper say it.
#include <filesystem>

#include "model/families/config_file.h"
#include "model/log_mel_bounds.h"
#include "qkv/model/log_mel.h"

namespace qkv {

LogMelOptions read_log_mel_options(const std::string& folder) {
  const std::filesystem::path own = std::filesystem::path(folder) / "preprocessor_config.json";
  const std::filesystem::path all = std::filesystem::path(folder) / "processor_config.json";
  const bool is_inside = !std::filesystem::exists(own) && std::filesystem::exists(all);
  const families::ConfigFile config =
      is_inside ? families::ConfigFile(all.string()).object("feature_extractor") : families::ConfigFile(own.string());
  LogMelOptions options;
  for (const LogMelBound& bound : kLogMelBounds) {
    options.*bound.value = config.integer(bound.word, options.*bound.value);
  }
  require_log_mel_bounds(
      options, [&](const LogMelBound& bound, const std::string& expected) { config.refuse(bound.word, expected); });
  config.require("dither", 0.0);
  config.require("do_normalize", false);
  config.require("padding_value", 0.0);
  return options;
}

}  // namespace qkv
