// Files of JSON in a folder that is written.
#pragma once

#include <nlohmann/json.hpp>

#include "files/staged_file.h"
#include "qkv/files.h"

namespace qkv::saving {

inline void write_json(files::StagedFolder& out, const char* name, const nlohmann::json& json) {
  write_file(out.add(name), json.dump(2) + "\n");
}

}  // namespace qkv::saving
