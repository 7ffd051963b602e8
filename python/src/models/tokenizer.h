// A tokenizer as Python holds it.
#pragma once

#include <memory>

#include "qkv/text/tokenizer.h"

namespace qkv::python {

struct OwnedTokenizer {
  std::shared_ptr<const void> owner;  // what `tokenizer` lies in
  const Tokenizer* tokenizer;
};

}  // namespace qkv::python
