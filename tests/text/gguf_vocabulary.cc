#include "text/gguf_vocabulary.h"

#include <algorithm>

#include "files/gguf_keys.h"

namespace qkv::tests {
namespace {

using Json = nlohmann::json;

Json pieces_of(const std::vector<std::string>& tokens) {
  Json pieces = Json::object();
  for (std::size_t id = 0; id < tokens.size(); ++id) pieces[tokens[id]] = id;
  return pieces;
}

// llama.cpp marks what begins a word, where BERT marks what does not.
Json bert_json(const GgufVocabulary& vocabulary) {
  const std::string begins = "▁";
  std::vector<std::string> tokens;
  for (const std::string& token : vocabulary.tokens) {
    const bool special = token.starts_with('[') && token.ends_with(']');
    const bool first = token.starts_with(begins);
    tokens.push_back(special ? token : first ? token.substr(begins.size()) : "##" + token);
  }
  return {{"normalizer",
           {{"type", "BertNormalizer"},
            {"clean_text", true},
            {"handle_chinese_chars", true},
            {"strip_accents", nullptr},
            {"lowercase", true}}},
          {"pre_tokenizer", {{"type", "BertPreTokenizer"}}},
          {"model",
           {{"type", "WordPiece"},
            {"unk_token", "[UNK]"},
            {"continuing_subword_prefix", "##"},
            {"max_input_chars_per_word", 100},
            {"vocab", pieces_of(tokens)}}}};
}

Json gpt2_json(const GgufVocabulary& vocabulary) {
  return {{"pre_tokenizer",
           {{"type", "ByteLevel"}, {"add_prefix_space", false}, {"trim_offsets", true}, {"use_regex", true}}},
          {"decoder", {{"type", "ByteLevel"}, {"add_prefix_space", true}, {"trim_offsets", true}, {"use_regex", true}}},
          {"model", {{"type", "BPE"}, {"vocab", pieces_of(vocabulary.tokens)}, {"merges", vocabulary.merges}}}};
}

// Two pieces that make a third are merged in the order of its score, as transformers converts such a model.
Json merges_by_score(const GgufVocabulary& vocabulary, const Json& pieces) {
  struct Merge {
    double score;
    std::size_t first;
    std::size_t second;
    std::size_t place;
  };
  std::vector<Merge> merges;
  for (std::size_t id = 0; id < vocabulary.tokens.size(); ++id) {
    const std::string& token = vocabulary.tokens[id];
    for (std::size_t cut = 1; cut < token.size(); ++cut) {
      const auto first = pieces.find(token.substr(0, cut));
      const auto second = pieces.find(token.substr(cut));
      if (first == pieces.end() || second == pieces.end()) continue;
      merges.push_back({vocabulary.scores[id], first->get<std::size_t>(), second->get<std::size_t>(), merges.size()});
    }
  }
  std::ranges::sort(merges, [](const Merge& a, const Merge& b) {
    return a.score != b.score ? a.score > b.score : a.place < b.place;
  });
  Json list = Json::array();
  for (const Merge& merge : merges) list.push_back({vocabulary.tokens[merge.first], vocabulary.tokens[merge.second]});
  return list;
}

Json llama_json(const GgufVocabulary& vocabulary) {
  const Json pieces = pieces_of(vocabulary.tokens);
  const Json prepend = {{"type", "Prepend"}, {"prepend", "▁"}};
  const Json replace = {{"type", "Replace"}, {"pattern", {{"String", " "}}}, {"content", "▁"}};
  return {{"normalizer", {{"type", "Sequence"}, {"normalizers", {prepend, replace}}}},
          {"decoder",
           {{"type", "Sequence"},
            {"decoders",
             {{{"type", "Replace"}, {"pattern", {{"String", "▁"}}}, {"content", " "}},
              {{"type", "ByteFallback"}},
              {{"type", "Fuse"}},
              {{"type", "Strip"}, {"content", " "}, {"start", 1}, {"stop", 0}}}}}},
          {"model",
           {{"type", "BPE"},
            {"unk_token", "<unk>"},
            {"fuse_unk", true},
            {"byte_fallback", true},
            {"vocab", pieces},
            {"merges", merges_by_score(vocabulary, pieces)}}}};
}

}  // namespace

GgufVocabulary read_gguf_vocabulary(const std::filesystem::path& path) {
  const Gguf file = Gguf::read(path.string());
  const files::GgufKeys keys(file);
  GgufVocabulary vocabulary{.model = keys.text("tokenizer.ggml.model"),
                            .tokens = keys.texts("tokenizer.ggml.tokens"),
                            .scores = keys.numbers("tokenizer.ggml.scores")};
  if (keys.has("tokenizer.ggml.merges")) vocabulary.merges = keys.texts("tokenizer.ggml.merges");
  for (const std::int64_t type : keys.integers("tokenizer.ggml.token_type")) {
    vocabulary.types.push_back(static_cast<std::int32_t>(type));
  }
  return vocabulary;
}

nlohmann::json tokenizer_json(const GgufVocabulary& vocabulary) {
  if (vocabulary.model == "bert") return bert_json(vocabulary);
  return vocabulary.model == "gpt2" ? gpt2_json(vocabulary) : llama_json(vocabulary);
}

}  // namespace qkv::tests
