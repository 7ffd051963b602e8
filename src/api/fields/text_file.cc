#include "api/fields/text_file.h"

#include <cstddef>
#include <vector>

#include "qkv/files.h"

namespace qkv::api_detail {

std::string text_of_file(const std::string& path) {
  const std::vector<std::byte> bytes = read_file(path);
  std::string text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  if (text.ends_with('\n')) text.resize(text.size() - (text.ends_with("\r\n") ? 2 : 1));
  return text;
}

}  // namespace qkv::api_detail
