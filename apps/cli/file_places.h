// Checks, before anything is computed, that the files of a command can be written and do not replace one another.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "pictures.h"
#include "qkv/api/problem.h"

namespace qkv::cli {

/// An option and the tensor path that it was given; empty where it was not.
using OptionPath = std::pair<std::string, const std::string*>;

/// An option and the file that it names; empty where it was not given.
struct FilePlace {
  std::string option;
  std::string file;
};

/// The files that load_problem() reads.
[[nodiscard]] std::vector<OptionPath> inputs_of(const ProblemRequest& request);

/// The file of the tensor path that an option was given, "" where it was not. Throws InvalidArgument naming the option.
[[nodiscard]] std::string file_of_tensor(const std::string& option, const std::string& path);

/// --png, --svg and --pdf.
[[nodiscard]] std::vector<FilePlace> places_of(const PicturePaths& pictures);

/// Throws Misuse if two outputs would be one file, however they are spelt, or an output one that is read;
/// Error if one cannot be written. What is read may be anything else than a file: the name of a model, a text.
void check_files(const std::vector<FilePlace>& read, const std::vector<FilePlace>& written);

/// The same of tensor paths, whose archives several outputs may share, beside pictures. Throws what
/// require_writable_tensors() throws, too.
void check_places(const std::vector<OptionPath>& read, const std::vector<OptionPath>& written,
                  const PicturePaths& pictures = {});

}  // namespace qkv::cli
