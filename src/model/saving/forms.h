// The ways from one form of a model to another; convert_model() chooses among them.
#pragma once

#include <string>

#include "files/staged_file.h"
#include "qkv/model/convert.h"

namespace qkv::saving {

/// Each writes everything, reads it back and compares, and leaves the renaming to its caller. Throws as
/// convert_model().
[[nodiscard]] Conversion folder_to_gguf(const std::string& folder, files::StagedFile& out,
                                        const ConvertOptions& options);
[[nodiscard]] Conversion gguf_to_gguf(const std::string& path, files::StagedFile& out, const ConvertOptions& options);
[[nodiscard]] Conversion gguf_to_folder(const std::string& path, files::StagedFolder& out,
                                        const ConvertOptions& options);
[[nodiscard]] Conversion folder_to_folder(const std::string& folder, files::StagedFolder& out,
                                          const ConvertOptions& options);
/// Of a model file of qkv's, or of tensors alone.
[[nodiscard]] Conversion file_to_file(const std::string& path, files::StagedFile& out, const ConvertOptions& options);

}  // namespace qkv::saving
