// What comes of an explanation: a page, pictures, JSON or a text.
#pragma once

#include <functional>
#include <string>

#include "asked.h"
#include "qkv/explain.h"

namespace qkv::cli {

/// Writes the page and the pictures that were asked for, all files or none. Then prints what `json` gives, or the page
/// if that is where it goes, or what `text` gives, which may be nothing, with a line for each file.
void give(const Manner& how, const Explanation& explanation, const std::string& page,
          const std::function<std::string()>& json, const std::function<std::string()>& text);

}  // namespace qkv::cli
