// libFuzzer's bytes as calls of attention.
#include "fuzz/attention.h"

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>

#include "cases/random_case.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const qkv::cases::Case one = qkv::cases::case_from({data, size});
  if (qkv::fuzz::fault_of(one).empty()) return 0;
  std::fprintf(stderr, "%s\n", qkv::fuzz::report(one).c_str());
  std::abort();
}
