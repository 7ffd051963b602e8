// Worked examples are the same for everyone and long: a page shows the one that it was made with.
#include "qkv/course/worked.h"

#include "qkv/api/refusal.h"
#include "qkv/explain.h"

namespace qkv {

namespace {

[[noreturn]] void refuse(std::string_view name) {
  throw NotThere(
      "worked", std::string(name) + ": the engine in a page has no worked examples; `qkv explain --worked` shows them");
}

}  // namespace

Explanation explain_worked(std::string_view name) { refuse(name); }
const std::vector<WorkedExample>& worked_examples() { refuse("list"); }

}  // namespace qkv
