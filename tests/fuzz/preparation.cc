// Any bytes as the files beside a model that say how its pictures and sounds are prepared and how it writes: an error
// that is never the caller's misuse, or options by which a picture and a sound can be prepared.
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "attempt.h"
#include "model/families/speech_file.h"
#include "qkv/error.h"
#include "qkv/model/generate.h"
#include "qkv/model/image_preparation.h"
#include "qkv/model/log_mel.h"

namespace {

using qkv::fuzz::attempt;

constexpr std::int64_t kHeight = 5;
constexpr std::int64_t kWidth = 7;

// One folder for all inputs of a process.
const std::string& folder() {
  static const std::string kFolder = [] {
    std::string name = std::filesystem::temp_directory_path() / "qkv-preparation-XXXXXX";
    if (::mkdtemp(name.data()) == nullptr) std::abort();
    std::ofstream(name + "/config.json") << "{}";
    return name;
  }();
  return kFolder;
}

bool is_small(const qkv::ImageSize& size) { return size.height <= 100 && size.width <= 100; }

// A picture may be too small for a crop, which is no fault of the file.
void prepare_picture() {
  const qkv::ImagePreparation preparation = qkv::read_image_preparation(folder());
  const bool is_cheap =
      preparation.shortest_edge.value_or(0) <= 100 && (!preparation.size || is_small(*preparation.size));
  if (!is_cheap || (preparation.crop && !is_small(*preparation.crop))) return;
  try {
    static_cast<void>(qkv::prepare_image(qkv::Tensor(qkv::DType::u8, {kHeight, kWidth, 3}), preparation));
  } catch (const qkv::InvalidArgument&) {
    if (!preparation.crop) std::abort();
  }
}

void prepare_sound() {
  const qkv::LogMelOptions options = qkv::read_log_mel_options(folder());
  const bool is_cheap = options.samples() <= 20000 && options.frames() * options.bins <= 20000 && options.window <= 500;
  if (is_cheap) static_cast<void>(qkv::log_mel(qkv::Tensor(qkv::DType::f32, {1}), options));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  for (const char* name : {"/preprocessor_config.json", "/generation_config.json"}) {
    std::ofstream(folder() + name, std::ios::binary)
        .write(reinterpret_cast<const char*>(data), static_cast<std::streamsize>(size));
  }
  attempt(prepare_picture);
  attempt(prepare_sound);
  attempt([] { static_cast<void>(qkv::draw_options_of(folder())); });
  attempt([] { static_cast<void>(qkv::unheeded_in_generation(folder())); });
  attempt([] { static_cast<void>(qkv::families::speech_words_in(folder())); });
  return 0;
}
