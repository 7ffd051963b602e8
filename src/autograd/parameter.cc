#include "qkv/autograd/parameter.h"

namespace qkv {

std::int64_t number_count(std::span<const Parameter> parameters) {
  std::int64_t count = 0;
  for (const Parameter& parameter : parameters) count += parameter.variable.size();
  return count;
}

void clear_gradients(std::span<const Parameter> parameters) {
  for (const Parameter& parameter : parameters) parameter.variable.clear_gradient();
}

}  // namespace qkv
