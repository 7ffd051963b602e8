// How large a new network is, whatever its kind.
#pragma once

#include <cstdint>
#include <optional>

#include "qkv/model/examples.h"
#include "qkv/model/model.h"

namespace qkv::kinds {

/// Each kind takes what it has a use for.
struct Sizes {
  TextLengths lengths;
  std::int64_t vocabulary = 0;
  std::int64_t source_vocabulary = 0;
  std::int64_t joined_vocabulary = 0;  // of source and tokens as one text
  std::int64_t layers = 0;             // of each stack
  std::int64_t d_model = 0;
  std::int64_t heads = 0;
  std::optional<std::int64_t> d_ff = std::nullopt;
  Positions positions = Positions::rotary;
};

/// A network of the kind, its parameters drawn. Throws as the options of the network do.
[[nodiscard]] Model::Network network_of(ModelKind kind, const Sizes& sizes, const Init& init);

}  // namespace qkv::kinds
