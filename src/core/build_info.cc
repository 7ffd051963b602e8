#include "core/commit.h"
#include "qkv/info.h"

namespace qkv {

const BuildInfo& build_info() noexcept {
  static constexpr BuildInfo kInfo{
      .version = QKV_VERSION,
      .compiler = QKV_COMPILER,
      .flags = QKV_FLAGS,
      .build_type = QKV_BUILD_TYPE,
      .commit = QKV_COMMIT,
      .full = QKV_VERSION QKV_BEYOND,
      .targets = QKV_TARGETS,
      .left_out = QKV_TARGETS_LEFT_OUT,
  };
  return kInfo;
}

}  // namespace qkv
