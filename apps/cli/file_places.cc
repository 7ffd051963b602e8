#include "file_places.h"

#include <filesystem>
#include <vector>

#include "misuse.h"
#include "qkv/files.h"

namespace qkv::cli {
namespace {

struct Place {
  std::string option;
  std::string text;
  TensorPath path;
};

std::vector<Place> places_of(const std::vector<OptionPath>& options) {
  std::vector<Place> places;
  for (const auto& [option, text] : options) {
    if (text->empty() || is_tensor_text(*text)) continue;
    places.push_back({option, *text, of_option(option, [&] { return parse_tensor_path(*text); })});
  }
  return places;
}

// Also where neither is there yet.
bool same_file(const std::filesystem::path& a, const std::filesystem::path& b) {
  std::error_code ignored;
  if (std::filesystem::equivalent(a, b, ignored)) return true;
  return std::filesystem::weakly_canonical(a, ignored) == std::filesystem::weakly_canonical(b, ignored);
}

void require_apart(const Place& output, const Place& other, const std::string& whose) {
  if (!same_file(output.path.file, other.path.file)) return;
  const std::string own = "\"" + output.text + "\"";
  misuse(output.option, "a file other than that of " + other.option + ", " + whose,
         output.text == other.text ? own : own + " and \"" + other.text + "\"");
}

// Two results share an archive if they spell it alike, for it is written once, with both in it.
bool share_archive(const Place& a, const Place& b) {
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

void check_places(const std::vector<OptionPath>& read, const std::vector<OptionPath>& written) {
  const std::vector<Place> inputs = places_of(read);
  const std::vector<Place> outputs = places_of(written);
  std::vector<std::string> paths;
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    for (const Place& input : inputs) require_apart(outputs[i], input, "which is read");
    for (std::size_t j = 0; j < i; ++j) {
      if (!share_archive(outputs[i], outputs[j])) require_apart(outputs[i], outputs[j], "which is written, too");
    }
    paths.push_back(outputs[i].text);
  }
  require_writable_tensors(paths);
}

}  // namespace qkv::cli
