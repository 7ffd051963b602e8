// model_peer texts FILE
//     writes the texts to be embedded, one a line: 1 to 16 sentences of the task english each, short ones far more
//     often
// model_peer THREADS f32|bf16 embed FOLDER TEXTS
// model_peer THREADS f32|bf16 prefill|decode FOLDER TOKENS
//     a round for each line of standard input: embeds the texts, reads a prompt of TOKENS and scores the token after
//     it, or writes TOKENS after a prompt of one. Answers {"seconds": …, "processor": …}. A line that is not empty
//     names a file to which the results of the round are written: vectors [texts, d], scores [vocabulary], or ids
//     [TOKENS].
// torch_model.py beside it does the same in PyTorch.
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <ctime>
#include <exception>
#include <fstream>
#include <functional>
#include <initializer_list>
#include <iostream>
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

namespace {

using namespace qkv;
using Clock = std::chrono::steady_clock;
using Round = std::function<Tensor()>;

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

// Tokens that no draw decides, so that Python has the same ones.
Tensor prompt_of(std::int64_t tokens, std::int64_t vocabulary) {
  std::vector<std::int64_t> ids;
  for (std::int64_t n = 0; n < tokens; ++n) ids.push_back((7919 * n + 1) % vocabulary);
  return {ids, {1, tokens}};
}

const Decoder& decoder_of(const Model& model) { return std::get<Decoder>(model.network()); }

Round prefill(const std::shared_ptr<const Model>& model, DType dtype, std::int64_t tokens) {
  const Tensor prompt = prompt_of(tokens, decoder_of(*model).options().vocabulary);
  return [=] {
    const Decoder& decoder = decoder_of(*model);
    DecoderCache cache = decoder.make_cache(1, tokens, dtype);
    const ModelCall call{.dtype = dtype, .scores = Scores::last};
    return Tensor(decoder.forward_cached(prompt, cache, call).value(), DType::f32);
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
  const std::string folder = words[4];
  const std::string last = words[5];
  const DType dtype = dtype_name == "f32" ? DType::f32 : DType::bf16;
  const Model opened = Model::open(folder);
  const auto model = std::make_shared<const Model>(what == "embed" && dtype == DType::bf16 ? opened.to(dtype) : opened);
  if (what == "embed") return embedding(model, dtype, folder, last);
  return what == "prefill" ? prefill(model, dtype, std::stoll(last)) : decoding(model, dtype, std::stoll(last));
}

void serve(const Round& round) {
  std::cout.precision(9);
  for (std::string line; std::getline(std::cin, line);) {
    const Clock::time_point start = Clock::now();
    const std::clock_t before = std::clock();
    const Tensor result = round();
    const std::chrono::duration<double> taken = Clock::now() - start;
    const double processor = static_cast<double>(std::clock() - before) / CLOCKS_PER_SEC;
    if (!line.empty()) write_tensor(line, result);
    std::cout << R"({"seconds": )" << taken.count() << R"(, "processor": )" << processor << "}\n" << std::flush;
  }
}

bool is_one_of(const std::string& word, std::initializer_list<const char*> words) {
  return std::ranges::find(words, word) != words.end();
}

void answer(std::span<char*> words) {
  if (words.size() == 3 && std::string(words[1]) == "texts") return write_texts(words[2]);
  if (words.size() != 6 || !is_one_of(words[2], {"f32", "bf16"}) ||
      !is_one_of(words[3], {"embed", "prefill", "decode"})) {
    throw std::runtime_error(
        "usage: model_peer texts FILE | model_peer THREADS f32|bf16 embed FOLDER TEXTS | model_peer THREADS f32|bf16 "
        "prefill|decode FOLDER TOKENS");
  }
  serve(round_of(words));
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
