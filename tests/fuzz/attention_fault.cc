#include <exception>

#include "cases/gradients.h"
#include "cases/judge.h"
#include "cases/ragged.h"
#include "cases/random_case.h"
#include "cases/windows.h"
#include "fuzz/attention.h"

namespace qkv::fuzz {

std::string fault_of(const cases::Case& one) {
  try {
    std::string fault = cases::fault_by_row(one);
    if (fault.empty()) fault = cases::windows_fault(one);
    if (one.cache != cases::Cache::none) return fault;
    if (fault.empty()) fault = cases::gradient_fault(one);
    if (fault.empty()) fault = cases::ragged_fault(one);
    return fault.empty() ? cases::window_gradients_fault(one) : fault;
  } catch (const std::exception& error) {
    return std::string("threw: ") + error.what();
  }
}

std::string report(const cases::Case& failing) {
  const cases::Case smallest = cases::shrunk(failing, fault_of);
  return fault_of(smallest) + "\nfirst met as " + to_text(failing) + "\nrepeat with QKV_FUZZ_CASE=\"" +
         to_text(smallest) + "\" ctest -R AttentionFuzz";
}

}  // namespace qkv::fuzz
