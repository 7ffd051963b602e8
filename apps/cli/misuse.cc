#include "misuse.h"

namespace qkv::cli {

void refuse(const std::string& option, const std::string& message) { throw Misuse(option + ": " + message); }

void misuse(const std::string& option, const std::string& expected, const std::string& got) {
  throw InvalidArgument("request", option, expected, got.empty() ? "\"\"" : got);
}

}  // namespace qkv::cli
