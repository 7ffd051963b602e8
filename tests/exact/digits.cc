// exact_digits: prints a line for each of a fixed set of f64 results, to be compared with tests/exact/digits.txt.
// The file was made by `build/release/tests/exact/exact_digits > tests/exact/digits.txt`.
#include "exact/digits.h"

#include <bit>
#include <cstdint>
#include <cstdio>
#include <exception>

namespace qkv::digits {

void print(const std::string& name, const TensorView& numbers) {
  constexpr std::uint64_t kPrime = 1099511628211U;
  constexpr std::uint64_t kNan = std::uint64_t{0x7FF8} << 48U;
  std::uint64_t hash = 14695981039346656037U;
  for (const double number : numbers.to_vector()) {
    const auto bits = number != number ? kNan : std::bit_cast<std::uint64_t>(number);
    for (unsigned byte = 0; byte < 64; byte += 8) hash = (hash ^ (bits >> byte & 0xFFU)) * kPrime;
  }
  std::printf("%016llx %s\n", static_cast<unsigned long long>(hash), name.c_str());
}

}  // namespace qkv::digits

int main() {
  using namespace qkv::digits;
  try {
    print_functions();
    print_draws();
    print_positions();
    print_attention();
    print_linear_attention();
    print_probes();
    print_operations();
    print_transformer_steps();
  } catch (const std::exception& error) {
    std::fprintf(stderr, "exact_digits: %s\n", error.what());
    return 1;
  }
}
