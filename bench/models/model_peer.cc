// model_peer texts FILE
//     writes the texts to be embedded, one a line: 1 to 16 sentences of the task english each, short ones far more
//     often
// model_peer THREADS f32|bf16 embed FOLDER TEXTS
// model_peer THREADS f32|bf16|file prefill|decode|unequal MODEL TOKENS
//     a round for each line of standard input, as rounds.h says: embeds the texts; reads a prompt of TOKENS, or eight
//     of unequal lengths up to TOKENS, and scores the token after each; or writes TOKENS after a prompt of one. The
//     results are vectors [texts, d], scores [prompts, vocabulary], or ids [TOKENS]. With `file`, MODEL is GGUF, its
//     quantised weights stay as they lie in it, and the rest is computed in f32.
// torch_model.py beside it does the same in PyTorch, llama_peer.cc in llama.cpp.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <fstream>
#include <functional>
#include <initializer_list>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "qkv/files.h"
#include "qkv/model/embed.h"
#include "qkv/random.h"
#include "qkv/threads.h"
#include "qkv/train/task.h"
#include "rounds.h"

namespace {

using namespace qkv;
using model_rounds::Round;

constexpr std::int64_t kTexts = 512;
constexpr double kMostSentences = 16;

void write_texts(const std::string& path) {
  const std::unique_ptr<const Task> task = make_task("english");
  Generator generator(1);
  std::ofstream file(path);
  std::int64_t next = 0;
  for (const double drawn : generator.rand({kTexts}).to_vector()) {
    const auto sentences = 1 + static_cast<std::int64_t>(kMostSentences * drawn * drawn * drawn);
    for (std::int64_t n = 0; n < sentences; ++n) {
      file << (n == 0 ? "" : ". ") << task->example(Split::train, next++).syntax->sentence;
    }
    file << ".\n";
  }
  if (!file.flush()) throw std::runtime_error("cannot write " + path);
}

std::vector<std::string> lines_of(const std::string& path) {
  std::ifstream file(path);
  std::vector<std::string> lines;
  for (std::string line; std::getline(file, line);) lines.push_back(line);
  if (lines.empty()) throw std::runtime_error("no lines in " + path);
  return lines;
}

Round embedding(const std::shared_ptr<const Model>& model, DType dtype, const std::string& folder,
                const std::string& path) {
  EmbedOptions options = embed_options_of(folder);
  options.dtype = dtype;
  return [=, texts = lines_of(path)] { return embed_texts(*model, texts, options); };
}

const Decoder& decoder_of(const Model& model) { return *model.parts().decoder; }

Tensor prompt_of(std::int64_t tokens, std::int64_t vocabulary) {
  return {model_rounds::prompt_ids(tokens, vocabulary), {1, tokens}};
}

// A decoder takes no texts end to end: each prompt has a cache of its own and is read alone, without padding.
Round reading(const std::shared_ptr<const Model>& model, DType dtype, const std::vector<std::int64_t>& lengths) {
  return [=] {
    const Decoder& decoder = decoder_of(*model);
    std::vector<double> scores;
    for (const std::int64_t tokens : lengths) {
      DecoderCache cache = decoder.make_cache(1, tokens, dtype);
      const ModelCall call{.dtype = dtype, .scores = Scores::last};
      const Tensor prompt = prompt_of(tokens, decoder.options().vocabulary);
      const std::vector<double> own = decoder.forward_cached(prompt, cache, call).value().to_vector();
      scores.insert(scores.end(), own.begin(), own.end());
    }
    return Tensor(Tensor(scores, {static_cast<std::int64_t>(lengths.size()), decoder.options().vocabulary}),
                  DType::f32);
  };
}

Round decoding(const std::shared_ptr<const Model>& model, DType dtype, std::int64_t tokens) {
  const Tensor prompt = prompt_of(1, decoder_of(*model).options().vocabulary);
  return [=] {
    const NewTokens written = decoder_of(*model).generate(prompt, {.most = tokens, .dtype = dtype});
    return Tensor(written.front(), {static_cast<std::int64_t>(written.front().size())});
  };
}

Round round_of(std::span<char*> words) {
  set_threads(std::stoi(words[1]));
  const std::string dtype_name = words[2];
  const std::string what = words[3];
  const std::string path = words[4];
  const std::string last = words[5];
  const DType dtype = dtype_name == "bf16" ? DType::bf16 : DType::f32;
  const Model opened = Model::open(path, dtype_name == "file" ? QuantisedWeights::as_stored : QuantisedWeights::as_f32);
  const auto model = std::make_shared<const Model>(what == "embed" && dtype == DType::bf16 ? opened.to(dtype) : opened);
  if (what == "embed") return embedding(model, dtype, path, last);
  const std::int64_t tokens = std::stoll(last);
  if (what == "decode") return decoding(model, dtype, tokens);
  return reading(model, dtype, what == "prefill" ? std::vector{tokens} : model_rounds::unequal_lengths(tokens));
}

bool is_one_of(const std::string& word, std::initializer_list<const char*> words) {
  return std::ranges::find(words, word) != words.end();
}

void answer(std::span<char*> words) {
  if (words.size() == 3 && std::string(words[1]) == "texts") return write_texts(words[2]);
  if (words.size() != 6 || !is_one_of(words[2], {"f32", "bf16", "file"}) ||
      !is_one_of(words[3], {"embed", "prefill", "decode", "unequal"})) {
    throw std::runtime_error(
        "usage: model_peer texts FILE | model_peer THREADS f32|bf16 embed FOLDER TEXTS | model_peer THREADS "
        "f32|bf16|file prefill|decode|unequal MODEL TOKENS");
  }
  model_rounds::serve(round_of(words));
}

}  // namespace

int main(int argc, char** argv) {
  try {
    answer({argv, static_cast<std::size_t>(argc)});
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "model_peer: %s\n", error.what());
    return 1;
  }
}
