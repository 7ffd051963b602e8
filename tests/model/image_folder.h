// Small random folders of ViT and DINOv2, as others publish them: config, weights, preparation of pictures.
#pragma once

#include <fstream>
#include <string>

#include "files/temporary_directory.h"
#include "model/random_weights.h"

namespace qkv::tests {

class ImageFolder {
 public:
  /// `type` is "vit", "deit", "dinov2" or "dinov2_with_registers", `more` further words of its config: `"num_labels":
  /// 3`. Pictures become 8 x 8 pixels in patches of 4; a DINOv2 has positions for 12 x 12 pixels.
  explicit ImageFolder(const std::string& type, const std::string& more = R"("id2label": {"0": "cat", "1": "dog"})") {
    const bool is_vit = type == "vit" || type == "deit";
    const std::string name = type == "deit" ? "DeiT" : is_vit ? "ViT" : "Dinov2";
    const bool has_other = more.find("architectures") != std::string::npos;
    put("config.json", R"({"model_type": ")" + type + "\", " +
                           (has_other ? "" : R"("architectures": [")" + name + R"(ForImageClassification"], )") +
                           R"("hidden_size": 12, "num_hidden_layers": 2,
                              "num_attention_heads": 3, "patch_size": 4, )" +
                           (is_vit ? R"("intermediate_size": 16, "image_size": 8, )" : R"("image_size": 12, )") + more +
                           "}");
    const std::string size = is_vit ? R"("image_processor_type": "ViTImageProcessor", "size": 8,)"
                                    : R"("image_processor_type": "BitImageProcessor", "size": {"shortest_edge": 9},
                                         "crop_size": {"height": 8, "width": 8},)";
    put("preprocessor_config.json", "{" + size + R"("image_mean": [0.5, 0.4, 0.3], "image_std": [0.25, 0.5, 0.5]})");
    put_random_weights(path());
  }

  [[nodiscard]] std::string path() const { return directory_.path(); }
  void put(const std::string& name, const std::string& text) const {
    std::ofstream(directory_ / name, std::ios::binary) << text;
  }

 private:
  TemporaryDirectory directory_;
};

}  // namespace qkv::tests
