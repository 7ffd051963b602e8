// What `qkv fetch` prints as JSON.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "qkv/api/member.h"

namespace qkv {

struct FetchFile {
  std::string name;
  std::int64_t size = 0;
  std::string hash;
};

/// A model on its hub, and what came of it.
struct FetchFigures {
  std::string name, revision;
  std::vector<FetchFile> files;
  std::optional<std::string> folder;  // none where files were only listed
  std::optional<std::int64_t> received, was_there;
};

[[nodiscard]] const Members<FetchFile>& members_of(const FetchFile* file);
[[nodiscard]] const Members<FetchFigures>& members_of(const FetchFigures* figures);

}  // namespace qkv
