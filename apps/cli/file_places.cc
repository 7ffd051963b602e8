#include "file_places.h"

#include <utility>
#include <vector>

#include "misuse.h"
#include "qkv/error.h"
#include "qkv/files.h"
#include "qkv/written_files.h"

namespace qkv::cli {
namespace {

// A file by the path of a tensor in it.
struct TensorPlace : FilePlace {
  std::string text;
  TensorPath path;
};

// What is wrong with a path is said of its option.
TensorPath tensor_path(const std::string& option, const std::string& text) {
  try {
    return parse_tensor_path(text);
  } catch (const InvalidArgument& error) {
    misuse(option, error.expected(), error.got());
  }
}

std::vector<TensorPlace> tensor_places(const std::vector<OptionPath>& options) {
  std::vector<TensorPlace> places;
  for (const auto& [option, text] : options) {
    if (text->empty() || is_tensor_text(*text)) continue;
    TensorPath path = tensor_path(option, *text);
    places.push_back({{option, path.file}, *text, std::move(path)});
  }
  return places;
}

// "-" is standard output; what cannot be a name of a file is none.
bool is_same_file(const std::string& a, const std::string& b) {
  if (a.empty() || b.empty() || a == "-" || b == "-") return false;
  try {
    return is_same_place(a, b);
  } catch (const Error&) {  // a directory
    return false;
  }
}

// As the options were given.
const std::string& given_as(const FilePlace& place) { return place.file; }
const std::string& given_as(const TensorPlace& place) { return place.text; }

template <class Place>
void require_apart(const Place& output, const Place& other, const std::string& whose) {
  if (!is_same_file(output.file, other.file)) return;
  const std::string own = "\"" + given_as(output) + "\"";
  misuse(output.option, "a file other than that of " + other.option + ", " + whose,
         given_as(output) == given_as(other) ? own : own + " and \"" + given_as(other) + "\"");
}

// Two results share an archive if they spell it alike, for it is written once, with both in it.
bool share_archive(const TensorPlace& a, const TensorPlace& b) {
  return a.path.format != TensorFormat::npy && a.path.file == b.path.file && a.path.member != b.path.member;
}

}  // namespace

std::vector<OptionPath> inputs_of(const ProblemRequest& request) {
  std::vector<OptionPath> options{{"--q", &request.q},
                                  {"--k", &request.k},
                                  {"--v", &request.v},
                                  {"--past-k", &request.past_k},
                                  {"--past-v", &request.past_v},
                                  {"--d-lse", &request.d_lse},
                                  {"--mask-file", &request.mask_file},
                                  {"--bias-file", &request.bias_file}};
  if (request.d_out != kDrawn) options.emplace_back("--d-out", &request.d_out);
  if (!is_number_list(request.sinks)) options.emplace_back("--sinks", &request.sinks);
  if (!is_number_list(request.kv_lengths)) options.emplace_back("--kv-lengths", &request.kv_lengths);
  return options;
}

std::string file_of_tensor(const std::string& option, const std::string& path) {
  return path.empty() ? "" : tensor_path(option, path).file;
}

std::vector<FilePlace> places_of(const PicturePaths& pictures) {
  return {{"--png", pictures.png}, {"--svg", pictures.svg}, {"--pdf", pictures.pdf}};
}

void check_files(const std::vector<FilePlace>& read, const std::vector<FilePlace>& written) {
  for (std::size_t i = 0; i < written.size(); ++i) {
    for (const FilePlace& input : read) require_apart(written[i], input, "which is read");
    for (std::size_t j = 0; j < i; ++j) require_apart(written[i], written[j], "which is written, too");
    if (!written[i].file.empty() && written[i].file != "-") qkv::require_writable(written[i].file);
  }
}

void check_places(const std::vector<OptionPath>& read, const std::vector<OptionPath>& written,
                  const PicturePaths& pictures) {
  const std::vector<TensorPlace> inputs = tensor_places(read);
  const std::vector<TensorPlace> outputs = tensor_places(written);
  std::vector<std::string> paths;
  std::vector<FilePlace> files(inputs.begin(), inputs.end());  // what a picture may not replace
  files.insert(files.end(), outputs.begin(), outputs.end());
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    for (const TensorPlace& input : inputs) require_apart(outputs[i], input, "which is read");
    for (std::size_t j = 0; j < i; ++j) {
      if (!share_archive(outputs[i], outputs[j])) require_apart(outputs[i], outputs[j], "which is written, too");
    }
    paths.push_back(outputs[i].text);
  }
  require_writable_tensors(paths);
  check_files(files, places_of(pictures));
}

}  // namespace qkv::cli
