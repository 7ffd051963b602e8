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

std::size_t checked_sum(std::string_view function, std::initializer_list<std::uint64_t> parts, std::uint64_t most) {
  std::uint64_t total = 0;
  for (const std::uint64_t part : parts) {
    if (part > most - total) {
      throw InvalidArgument(function, "shape", "at most " + std::to_string(most) + " bytes",
                            std::to_string(total) + " and " + std::to_string(part) + " more");
    }
    total += part;
  }
  return static_cast<std::size_t>(total);
}

}  // namespace qkv::core
