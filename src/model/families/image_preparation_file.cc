// preprocessor_config.json: what is done to a picture, as the authors of CLIP, SigLIP, ViT and DINOv2 say it.
#include <algorithm>
#include <filesystem>

#include "core/found.h"
#include "core/listed.h"
#include "model/families/config_file.h"
#include "qkv/model/image_preparation.h"

namespace qkv::families {
namespace {

// Newer folders have it inside of the config of all that a model reads.
ConfigFile preparation_in(const std::string& folder) {
  const std::filesystem::path own = std::filesystem::path(folder) / "preprocessor_config.json";
  const std::filesystem::path all = std::filesystem::path(folder) / "processor_config.json";
  const bool is_inside = !std::filesystem::exists(own) && std::filesystem::exists(all);
  return is_inside ? ConfigFile(all.string()).object("image_processor") : ConfigFile(own.string());
}

// What a kind of `transformers` does where the file does not say.
struct Processor {
  std::string_view type;
  ResizeFilter filter;
  bool is_square;  // what a size of one number means: both sides, else the shorter one
  bool crops;
};
constexpr Processor kProcessors[] = {
    {"BitImageProcessor", ResizeFilter::bicubic, false, true},
    {"CLIPImageProcessor", ResizeFilter::bicubic, false, true},
    {"SiglipImageProcessor", ResizeFilter::bicubic, true, false},
    {"ViTImageProcessor", ResizeFilter::bilinear, true, false},
};

// "ViTFeatureExtractor", "ViTImageProcessorFast" -> "ViTImageProcessor".
std::string today(std::string type) {
  constexpr std::string_view kFormer = "FeatureExtractor";
  for (const std::string_view end : {std::string_view("Fast"), std::string_view("Pil")}) {
    if (type.ends_with(end)) type.resize(type.size() - end.size());
  }
  if (type.ends_with(kFormer)) type.replace(type.size() - kFormer.size(), kFormer.size(), "ImageProcessor");
  return type;
}

// Of a file that names none what it has tells.
Processor processor_in(const ConfigFile& config) {
  for (const char* const word : {"image_processor_type", "feature_extractor_type"}) {
    if (!config.has(word)) continue;
    const auto* const found = core::found_in(kProcessors, today(config.text(word)), &Processor::type);
    if (found == nullptr) config.refuse(word, "one of " + core::joined(kProcessors, &Processor::type));
    return *found;
  }
  return {.type = {}, .filter = ResizeFilter::bicubic, .is_square = false, .crops = config.has("crop_size")};
}

std::int64_t side_in(const ConfigFile& config, std::string_view word) {
  constexpr std::int64_t kMost = std::int64_t{1} << 14;
  const std::int64_t side = config.integer(word);
  if (side < 1 || side > kMost) config.refuse(word, "1 to " + std::to_string(kMost) + " pixels");
  return side;
}

ImageSize size_in(const ConfigFile& size) {
  return {.height = side_in(size, "height"), .width = side_in(size, "width")};
}

ResizeFilter filter_in(const ConfigFile& config, ResizeFilter usual) {
  constexpr std::int64_t kBilinear = 2;
  constexpr std::int64_t kBicubic = 3;
  const std::int64_t number = config.integer("resample", usual == ResizeFilter::bicubic ? kBicubic : kBilinear);
  if (number != kBilinear && number != kBicubic) config.refuse("resample", "2, bilinear, or 3, bicubic");
  return number == kBilinear ? ResizeFilter::bilinear : ResizeFilter::bicubic;
}

void read_size(const ConfigFile& config, bool is_square, ImagePreparation& preparation) {
  if (!config.has_object("size")) {
    const std::int64_t side = side_in(config, "size");
    if (is_square) {
      preparation.size = {.height = side, .width = side};
    } else {
      preparation.shortest_edge = side;
    }
    return;
  }
  const ConfigFile size = config.object("size");
  if (size.has("shortest_edge")) {
    size.require("longest_edge", nullptr);
    preparation.shortest_edge = side_in(size, "shortest_edge");
  } else {
    preparation.size = size_in(size);
  }
}

void read_crop(const ConfigFile& config, ImagePreparation& preparation) {
  if (config.has_object("crop_size")) {
    preparation.crop = size_in(config.object("crop_size"));
  } else {
    const std::int64_t side = side_in(config, "crop_size");
    preparation.crop = {.height = side, .width = side};
  }
}

std::array<double, 3> colours_in(const ConfigFile& config, std::string_view word) {
  const std::vector<double> numbers = config.numbers(word);
  if (numbers.size() != 3) config.refuse(word, "a number for red, green and blue each");
  return {numbers[0], numbers[1], numbers[2]};
}

}  // namespace
}  // namespace qkv::families

namespace qkv {

ImagePreparation read_image_preparation(const std::string& folder) {
  const families::ConfigFile config = families::preparation_in(folder);
  const families::Processor processor = families::processor_in(config);
  ImagePreparation preparation{.filter = families::filter_in(config, processor.filter)};
  config.require("do_pad", false);
  config.require("do_flip_channel_order", false);
  config.require("do_grayscale", false);
  if (config.flag("do_resize", true)) families::read_size(config, processor.is_square, preparation);
  if (config.flag("do_center_crop", processor.crops)) families::read_crop(config, preparation);
  preparation.factor = config.flag("do_rescale", true) ? config.number("rescale_factor", 1.0 / 255) : 1;
  if (config.flag("do_normalize", true)) {
    preparation.mean = families::colours_in(config, "image_mean");
    preparation.deviation = families::colours_in(config, "image_std");
    if (std::ranges::min(preparation.deviation) <= 0) config.refuse("image_std", "numbers above 0");
  }
  return preparation;
}

}  // namespace qkv
