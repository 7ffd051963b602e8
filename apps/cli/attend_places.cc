#include "attend_places.h"

#include <algorithm>
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
    if (text->empty()) continue;
    places.push_back({option, *text, of_option(option, [&] { return parse_tensor_path(*text); })});
  }
  return places;
}

}  // namespace

std::vector<OptionPath> inputs_of(const AttendFlags& flags) {
  std::vector<OptionPath> options{{"--q", &flags.q},
                                  {"--k", &flags.k},
                                  {"--v", &flags.v},
                                  {"--past-k", &flags.past_k},
                                  {"--past-v", &flags.past_v},
                                  {"--d-out", &flags.d_out},
                                  {"--d-lse", &flags.d_lse},
                                  {"--mask-file", &flags.mask_file},
                                  {"--bias-file", &flags.bias_file}};
  if (!is_list(flags.sinks)) options.emplace_back("--sinks", &flags.sinks);
  if (!is_list(flags.kv_lengths)) options.emplace_back("--kv-lengths", &flags.kv_lengths);
  return options;
}

namespace {

std::vector<OptionPath> outputs_of(const AttendFlags& flags) {
  return {{"--out", &flags.out},
          {"--lse", &flags.lse},
          {"--weights", &flags.weights},
          {"--scores", &flags.scores},
          {"--present-k", &flags.present_k},
          {"--present-v", &flags.present_v}};
}

// One of the members of --gradients, for all of them.
std::string gradients_member(const AttendFlags& flags) {
  if (flags.gradients.empty()) return {};
  if (!flags.gradients.ends_with(".npz") && !flags.gradients.ends_with(".safetensors")) {
    misuse("--gradients", "a name that ends in .npz or .safetensors", flags.gradients);
  }
  return flags.gradients + ":d_q";
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

void check_places(const AttendFlags& flags) {
  const std::string gradients = gradients_member(flags);
  std::vector<OptionPath> outputs = outputs_of(flags);
  outputs.emplace_back("--gradients", &gradients);
  check_places(inputs_of(flags), outputs);
}

void require_output(const AttendFlags& flags) {
  const std::vector<OptionPath> outputs = outputs_of(flags);
  if (!flags.gradients.empty()) return;
  if (std::ranges::any_of(outputs, [](const OptionPath& output) { return !output.second->empty(); })) return;
  misuse("--out", "a place for a result (--out, --lse, --weights, --scores, --gradients, --present-k, --present-v)",
         "none");
}

}  // namespace qkv::cli
