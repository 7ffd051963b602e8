// preprocessor_config.json: how a sound becomes a spectrogram, as the authors of Whisper say it.
#include <filesystem>

#include "model/families/config_file.h"
#include "qkv/model/log_mel.h"

namespace qkv {

LogMelOptions read_log_mel_options(const std::string& folder) {
  const std::filesystem::path own = std::filesystem::path(folder) / "preprocessor_config.json";
  const std::filesystem::path all = std::filesystem::path(folder) / "processor_config.json";
  const bool is_inside = !std::filesystem::exists(own) && std::filesystem::exists(all);
  const families::ConfigFile config =
      is_inside ? families::ConfigFile(all.string()).object("feature_extractor") : families::ConfigFile(own.string());
  LogMelOptions options;
  const auto read = [&](const char* word, std::int64_t& value) {
    value = config.integer(word, value);
    if (value < 1) config.refuse(word, "1 or more");
  };
  read("feature_size", options.bins);
  read("sampling_rate", options.rate);
  read("hop_length", options.hop);
  read("chunk_length", options.seconds);
  read("n_fft", options.window);
  config.require("dither", 0.0);
  config.require("do_normalize", false);
  config.require("padding_value", 0.0);
  return options;
}

}  // namespace qkv
