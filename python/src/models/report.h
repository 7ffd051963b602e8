// What the engine says of a question: as JSON, as a table, and as pictures.
#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace qkv::python {

struct Report {
  using Draw = std::function<std::string()>;

  std::string json;
  std::string table = {};
  std::vector<std::pair<std::string, Draw>> pictures = {};  // SVG, drawn when asked for
};

}  // namespace qkv::python
