// Small random folders of the families of text, whose tensors a test renames, adds and takes away.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "files/temporary_directory.h"
#include "model/random_weights.h"
#include "qkv/safetensors.h"

namespace qkv::tests {

class PublishedFolder {
 public:
  /// `more` are words of its config behind those of the family: ", \"a\": 1".
  explicit PublishedFolder(const std::string& type, const std::string& more = "") {
    put("config.json", "{\"model_type\": \"" + type + "\", " + words_of(type) + more + "}");
    put_random_weights(path());
    const Safetensors file = Safetensors::read(directory_ / "model.safetensors");
    for (const SafetensorsEntry& entry : file.entries()) tensors[entry.name] = Tensor(file.load(entry.name).view());
  }

  [[nodiscard]] std::string path() const { return directory_.path(); }
  [[nodiscard]] std::string operator/(const std::string& name) const { return directory_ / name; }
  void put(const std::string& name, const std::string& text) const { write_file(directory_ / name, text); }

  void write(const std::string& file = "model.safetensors") const {
    std::vector<NamedView> views;
    for (const auto& [name, value] : tensors) views.push_back({name, value.view()});
    write_file(directory_ / file, encode_safetensors(views));
  }
  [[nodiscard]] Model open() const {
    write();
    return Model::open(path());
  }
  [[nodiscard]] std::string error() const {
    return error_message<Error>([&] { static_cast<void>(open()); });
  }
  void rename(const std::function<std::string(std::string)>& to) {
    std::map<std::string, Tensor> renamed;
    for (auto& [name, value] : tensors) renamed.emplace(to(name), std::move(value));
    tensors = std::move(renamed);
  }
  [[nodiscard]] Tensor drawn(const Shape& shape, std::uint64_t seed = 5) const {
    return Generator(seed).randn(shape, DType::f32);
  }

  std::map<std::string, Tensor> tensors;  // of the file, once it is written

 private:
  static std::string words_of(const std::string& type) {
    if (type == "distilbert") {
      return R"("architectures": ["DistilBertForMaskedLM"], "vocab_size": 9, "dim": 8, "hidden_dim": 12, "n_layers": 2,
                "n_heads": 2, "max_position_embeddings": 16)";
    }
    if (type == "gpt2") {
      return R"("architectures": ["GPT2LMHeadModel"], "vocab_size": 9, "n_embd": 8, "n_layer": 2, "n_head": 2,
                "n_positions": 16)";
    }
    if (type == "t5" || type == "mt5") {
      return R"("vocab_size": 9, "d_model": 8, "d_kv": 4, "d_ff": 12, "num_layers": 2, "num_heads": 2)";
    }
    const std::string common = R"("vocab_size": 9, "hidden_size": 8, "intermediate_size": 12, "num_hidden_layers": 2,
                                  "num_attention_heads": 2, "max_position_embeddings": 16)";
    if (type == "bert") return common + R"(, "architectures": ["BertForMaskedLM"])";
    if (type == "roberta" || type == "xlm-roberta" || type == "camembert") {
      return common + R"(, "architectures": ["RobertaForMaskedLM"], "pad_token_id": 1)";
    }
    return common + R"(, "architectures": ["LlamaForCausalLM"], "head_dim": 4, "num_key_value_heads": 2)";
  }

  TemporaryDirectory directory_;
};

}  // namespace qkv::tests
