#include "api/models/seen_and_heard.h"

#include "api/fields/refuse.h"
#include "qkv/files.h"
#include "qkv/png.h"

namespace qkv::api_detail {

Tensor picture_at(std::string_view field, const std::string& path) {
  return of_path(field, [&] { return decode_png(read_file(path), path); });
}

Sound sound_at(std::string_view field, const std::string& path) {
  return of_path(field, [&] { return decode_wav(read_file(path), path); });
}

}  // namespace qkv::api_detail
