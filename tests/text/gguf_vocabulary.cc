#include "text/gguf_vocabulary.h"

#include <algorithm>
#include <array>
#include <bit>
#include <fstream>
#include <iterator>
#include <map>
#include <stdexcept>

namespace qkv::tests {
namespace {

using Json = nlohmann::json;

enum GgufType : std::uint8_t { u8, i8, u16, i16, u32, i32, f32, boolean, string, array, u64, i64, f64 };

class GgufReader {
 public:
  explicit GgufReader(std::string bytes) : bytes_(std::move(bytes)) {}

  template <class Number>
  Number number() {
    std::array<char, sizeof(Number)> bytes{};
    std::ranges::copy(take(bytes.size()), bytes.begin());
    return std::bit_cast<Number>(bytes);
  }
  std::string text() { return std::string(take(number<std::uint64_t>())); }

  void skip(std::uint32_t type) {
    static const std::map<std::uint32_t, std::size_t> kSizes = {
        {u8, 1}, {i8, 1}, {u16, 2}, {i16, 2}, {u32, 4}, {i32, 4}, {f32, 4}, {boolean, 1}, {u64, 8}, {i64, 8}, {f64, 8}};
    if (type == string) {
      static_cast<void>(text());
    } else {
      static_cast<void>(take(kSizes.at(type)));
    }
  }

 private:
  std::string_view take(std::size_t count) {
    if (count > bytes_.size() - at_) throw std::runtime_error("a GGUF file that ends too early");
    at_ += count;
    return std::string_view(bytes_).substr(at_ - count, count);
  }
  std::string bytes_;
  std::size_t at_ = 0;
};

void read_array(GgufReader& reader, const std::string& key, GgufVocabulary& vocabulary) {
  const auto type = reader.number<std::uint32_t>();
  const auto count = reader.number<std::uint64_t>();
  for (std::uint64_t n = 0; n < count; ++n) {
    if (key == "tokenizer.ggml.tokens") {
      vocabulary.tokens.push_back(reader.text());
    } else if (key == "tokenizer.ggml.merges") {
      vocabulary.merges.push_back(reader.text());
    } else if (key == "tokenizer.ggml.scores") {
      vocabulary.scores.push_back(reader.number<float>());
    } else if (key == "tokenizer.ggml.token_type") {
      vocabulary.types.push_back(reader.number<std::int32_t>());
    } else {
      reader.skip(type);
    }
  }
}

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
  std::ifstream file(path, std::ios::binary);
  GgufReader reader(std::string{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()});
  constexpr std::uint32_t kMagic = 0x46554747;
  if (reader.number<std::uint32_t>() != kMagic) throw std::runtime_error(path.string() + ": no GGUF file");
  reader.skip(u32);
  reader.skip(u64);
  GgufVocabulary vocabulary;
  const auto count = reader.number<std::uint64_t>();
  for (std::uint64_t n = 0; n < count; ++n) {
    const std::string key = reader.text();
    const auto type = reader.number<std::uint32_t>();
    if (type == array) {
      read_array(reader, key, vocabulary);
    } else if (key == "tokenizer.ggml.model") {
      vocabulary.model = reader.text();
    } else {
      reader.skip(type);
    }
  }
  return vocabulary;
}

nlohmann::json tokenizer_json(const GgufVocabulary& vocabulary) {
  if (vocabulary.model == "bert") return bert_json(vocabulary);
  return vocabulary.model == "gpt2" ? gpt2_json(vocabulary) : llama_json(vocabulary);
}

}  // namespace qkv::tests
