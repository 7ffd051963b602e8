// What the engine says of a question: as data, as a table, and as pictures.
#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "qkv/api/member.h"

namespace qkv::python {

struct Report {
  using Draw = std::function<std::string()>;

  AnyReply reply;
  std::string table = {};
  std::vector<std::pair<std::string, Draw>> pictures = {};  // SVG, drawn when asked for
};

}  // namespace qkv::python
