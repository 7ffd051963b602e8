#include "qkv/api/contents.h"
#include "qkv/api/info.h"

namespace qkv {

AnyReply answer(const InfoRequest& request) {
  return request.file.empty() ? any_reply(machine_info()) : any_reply(contents_of(request.file));
}

}  // namespace qkv
