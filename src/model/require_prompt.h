// What generate() asks of its arguments, before a cache is made for them.
#pragma once

#include "qkv/model/generate.h"

namespace qkv {

/// Throws InvalidArgument naming prompt, or the option that has no meaning.
void require_prompt(const TensorView& prompt, const GenerateOptions& options);

}  // namespace qkv
