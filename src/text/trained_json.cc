#include "text/trained_json.h"

#include <nlohmann/json.hpp>

#include "text/json_field.h"

namespace qkv::text {
namespace {

constexpr const char* kEndOfTraining = "<|endoftext|>";

Json byte_level_stage() {
  return {{"type", "ByteLevel"}, {"add_prefix_space", false}, {"trim_offsets", false}, {"use_regex", true}};
}

}  // namespace

std::string json_of_training(std::span<const std::string> pieces,
                             std::span<const std::pair<std::string, std::string>> merges) {
  Json vocab = Json::object();
  for (std::size_t id = 0; id < pieces.size(); ++id) vocab[pieces[id]] = id;
  Json list = Json::array();
  for (const auto& [first, second] : merges) list.push_back({first, second});
  const std::size_t end = pieces.size();
  vocab[kEndOfTraining] = end;
  const Json added = {{"id", end},       {"content", kEndOfTraining}, {"single_word", false}, {"lstrip", false},
                      {"rstrip", false}, {"normalized", false},       {"special", true}};
  const Json json = {{"version", "1.0"},
                     {"truncation", nullptr},
                     {"padding", nullptr},
                     {"added_tokens", Json::array({added})},
                     {"normalizer", nullptr},
                     {"pre_tokenizer", byte_level_stage()},
                     {"post_processor", byte_level_stage()},
                     {"decoder", byte_level_stage()},
                     {"model",
                      {{"type", "BPE"},
                       {"dropout", nullptr},
                       {"unk_token", nullptr},
                       {"continuing_subword_prefix", nullptr},
                       {"end_of_word_suffix", nullptr},
                       {"fuse_unk", false},
                       {"byte_fallback", false},
                       {"ignore_merges", false},
                       {"vocab", vocab},
                       {"merges", list}}}};
  return json.dump(1) + "\n";
}

}  // namespace qkv::text
