// libFuzzer's bytes as calls of attention.
#include "fuzz/attention.h"

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "cases/random_case.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const qkv::cases::Case one = qkv::cases::case_from({data, size});
  const std::string fault = qkv::fuzz::fault_of(one);
  if (fault.empty()) return 0;
  std::fprintf(stderr, "%s\n%s\n", fault.c_str(), to_text(one).c_str());  // before the time that shrinking takes
  std::fprintf(stderr, "%s\n", qkv::fuzz::report(one).c_str());
  std::abort();
}
