// The pictures of a directory with their captions.
#pragma once

#include <string>
#include <vector>

#include "qkv/error.h"

namespace qkv {

struct CaptionedPicture {
  std::string file;     // "birds/0001.png"
  std::string caption;  // UTF-8, as it stands there, without white space around it
  std::string source;   // where the caption stands: "birds/0001.txt", "birds/metadata.jsonl, line 3"
};

/// The PNG files of a directory, hidden ones left out, with their captions, of which nothing else is read. Where the
/// directory has a `metadata.jsonl`, each line of it is an object with `file_name`, below the directory, and `text`, as
/// Hugging Face's imagefolder has it; a picture may have several lines. Else the text of NAME.txt is the caption of
/// NAME.png beside it. In the order of the lines, or of the names. Throws Error naming the file, what was expected and
/// what came: a directory without pictures, a picture without caption, an empty caption, one that is not UTF-8, a line
/// that is no such object or names no picture.
[[nodiscard]] std::vector<CaptionedPicture> read_captions(const std::string& directory);

}  // namespace qkv
