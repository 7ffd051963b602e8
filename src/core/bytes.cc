#include "core/bytes.h"

#include <string>

namespace qkv::core {

std::size_t checked_bytes(std::string_view function, const Dims& extents, std::size_t element_size,
                          std::uint64_t most) {
  const auto count = static_cast<std::uint64_t>(extents.product());
  if (count == 0 || element_size <= most / count) return static_cast<std::size_t>(count) * element_size;
  throw InvalidArgument(function, "shape", "at most " + std::to_string(most) + " bytes",
                        extents.to_string() + " of " + std::to_string(element_size) + " bytes each");
}

}  // namespace qkv::core
