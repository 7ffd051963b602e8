// Folders of tokenizers for tests.
#pragma once

#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "files/temporary_directory.h"
#include "qkv/files.h"
#include "qkv/text/read_tokenizer.h"

namespace qkv::tests {

class TokenizerFolder {
 public:
  TokenizerFolder& with(const std::string& name, const std::string& text) {
    write_file((*directory_ / name), text);
    return *this;
  }
  TokenizerFolder& with(const std::string& name, const nlohmann::json& value) { return with(name, value.dump()); }
  [[nodiscard]] std::shared_ptr<const Tokenizer> read(std::vector<std::string>* cautions = nullptr) const {
    return read_tokenizer(*directory_ / "", cautions);
  }
  [[nodiscard]] std::vector<std::int32_t> ids(const std::string& text) const { return read()->encode(text).ids; }
  [[nodiscard]] std::vector<std::string> cautions() const {
    std::vector<std::string> all;
    static_cast<void>(read(&all));
    return all;
  }

 private:
  std::shared_ptr<TemporaryDirectory> directory_ = std::make_shared<TemporaryDirectory>();
};

}  // namespace qkv::tests
