// Small random folders of CLIP and SigLIP, as others publish them: config, weights, tokenizer, preparation of pictures.
#pragma once

#include <fstream>
#include <string>

#include "files/temporary_directory.h"
#include "model/random_weights.h"

namespace qkv::tests {

class TowerFolder {
 public:
  /// `type` is "clip" or "siglip". Pictures are 8 x 8 pixels in patches of 4, texts have at most 9 tokens.
  explicit TowerFolder(const std::string& type) {
    const std::string widths = R"("hidden_size": 12, "intermediate_size": 16, "num_hidden_layers": 2,
                                  "num_attention_heads": 3)";
    put("config.json", R"({"model_type": ")" + type + R"(", "projection_dim": 10, "text_config": {)" + widths +
                           R"(, "vocab_size": 9, "max_position_embeddings": 9, "eos_token_id": 1,
                              "projection_size": 12}, "vision_config": {)" +
                           widths + R"(, "image_size": 8, "patch_size": 4}})");
    const std::string size = type == "clip" ? R"("size": {"shortest_edge": 8}, "crop_size": {"height": 8, "width": 8},)"
                                            : R"("size": {"height": 8, "width": 8},)";
    put("preprocessor_config.json", "{" + size + R"("image_mean": [0.5, 0.4, 0.3], "image_std": [0.25, 0.5, 0.5]})");
    put("tokenizer.json", tokenizer(type == "clip"));
    put_random_weights(path());
  }

  [[nodiscard]] std::string path() const { return directory_.path(); }
  [[nodiscard]] std::string operator/(const std::string& name) const { return directory_ / name; }
  void put(const std::string& name, const std::string& text) const {
    std::ofstream(directory_ / name, std::ios::binary) << text;
  }

 private:
  static std::string special(const std::string& piece, int id) {
    const std::string number = std::to_string(id);
    return "\"" + piece + R"(": {"id": ")" + piece + R"(", "ids": [)" + number + R"(], "tokens": [")" + piece + "\"]}";
  }

  // Words; a text begins and ends as CLIP's do, or ends only, as SigLIP's.
  static std::string tokenizer(bool begins) {
    const std::string start = begins ? R"({"SpecialToken": {"id": "<s>", "type_id": 0}}, )" : "";
    return R"({"model": {"type": "WordLevel", "unk_token": "<unk>", "vocab": {"<s>": 0, "</s>": 1, "<unk>": 2, "a": 3,
      "red": 4, "circle": 5, "blue": 6, "square": 7, "<pad>": 8}}, "pre_tokenizer": {"type": "Whitespace"},
      "post_processor": {"type": "TemplateProcessing", "single": [)" +
           start + R"({"Sequence": {"id": "A", "type_id": 0}}, {"SpecialToken": {"id": "</s>", "type_id": 0}}],
      "pair": [{"Sequence": {"id": "A", "type_id": 0}}, {"Sequence": {"id": "B", "type_id": 1}}],
      "special_tokens": {)" +
           special("<s>", 0) + ", " + special("</s>", 1) + "}}}";
  }

  TemporaryDirectory directory_;
};

}  // namespace qkv::tests
