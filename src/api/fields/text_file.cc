#include "api/fields/text_file.h"

#include "files/place.h"

namespace qkv::api_detail {

std::string text_of_file(const std::string& path) {
  std::string text = files::read_text(path);
  if (text.ends_with('\n')) text.resize(text.size() - (text.ends_with("\r\n") ? 2 : 1));
  return text;
}

}  // namespace qkv::api_detail
