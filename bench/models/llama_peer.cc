// llama_peer THREADS prefill|decode|unequal FILE.gguf TOKENS
//     model_peer.cc's rounds by llama.cpp's library, which its llama-bench calls likewise: in batches of 2,048 and
//     parts of 512. Unequal prompts are read at once, as llama.cpp can: as sequences of one batch.
#include <llama.h>

#include <algorithm>
#include <cstdio>
#include <exception>
#include <functional>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "rounds.h"

namespace {

using model_rounds::Round;

struct Opened {
  std::unique_ptr<llama_model, decltype(&llama_model_free)> model{nullptr, llama_model_free};
  std::unique_ptr<llama_context, decltype(&llama_free)> context{nullptr, llama_free};
  std::int64_t vocabulary = 0;
};

std::shared_ptr<Opened> open(const std::string& path, int threads, std::uint32_t tokens, std::uint32_t sequences) {
  auto opened = std::make_shared<Opened>();
  opened->model.reset(llama_model_load_from_file(path.c_str(), llama_model_default_params()));
  if (!opened->model) throw std::runtime_error("llama.cpp cannot open " + path);
  llama_context_params options = llama_context_default_params();
  options.n_ctx = sequences * (tokens + 32);
  options.n_batch = std::max(2048U, sequences * tokens);
  options.n_ubatch = 512;
  options.n_seq_max = sequences;
  options.n_threads = options.n_threads_batch = threads;
  opened->context.reset(llama_init_from_model(opened->model.get(), options));
  if (!opened->context) throw std::runtime_error("llama.cpp cannot run " + path);
  opened->vocabulary = llama_vocab_n_tokens(llama_model_get_vocab(opened->model.get()));
  return opened;
}

void decode(llama_context* context, const llama_batch& batch) {
  if (llama_decode(context, batch) != 0) throw std::runtime_error("llama_decode failed");
  llama_synchronize(context);
}

void forget(const Opened& opened) { llama_memory_clear(llama_get_memory(opened.context.get()), true); }

void append(llama_batch& batch, llama_token token, std::int64_t position, std::size_t sequence, bool scored) {
  const int at = batch.n_tokens++;
  batch.token[at] = token;
  batch.pos[at] = static_cast<llama_pos>(position);
  batch.n_seq_id[at] = 1;
  batch.seq_id[at][0] = static_cast<llama_seq_id>(sequence);
  batch.logits[at] = static_cast<std::int8_t>(scored);
}

Round reading(const std::shared_ptr<Opened>& opened, const std::vector<std::int64_t>& lengths) {
  return [=] {
    std::int64_t all = 0;
    for (const std::int64_t length : lengths) all += length;
    forget(*opened);
    llama_batch batch = llama_batch_init(static_cast<int>(all), 0, 1);
    std::vector<int> last;
    for (std::size_t text = 0; text < lengths.size(); ++text) {
      const std::vector<std::int64_t> ids = model_rounds::prompt_ids(lengths[text], opened->vocabulary);
      for (std::int64_t n = 0; n < lengths[text]; ++n) {
        append(batch, static_cast<llama_token>(ids[static_cast<std::size_t>(n)]), n, text, n + 1 == lengths[text]);
      }
      last.push_back(batch.n_tokens - 1);
    }
    decode(opened->context.get(), batch);
    llama_batch_free(batch);
    std::vector<double> scores;
    for (const int at : last) {
      const float* own = llama_get_logits_ith(opened->context.get(), at);
      scores.insert(scores.end(), own, own + opened->vocabulary);
    }
    return qkv::Tensor(qkv::Tensor(scores, {static_cast<std::int64_t>(lengths.size()), opened->vocabulary}),
                       qkv::DType::f32);
  };
}

Round decoding(const std::shared_ptr<Opened>& opened, std::int64_t tokens) {
  return [=] {
    forget(*opened);
    auto token = static_cast<llama_token>(model_rounds::prompt_ids(1, opened->vocabulary).front());
    std::vector<std::int64_t> written;
    for (std::int64_t n = 0; n < tokens; ++n) {
      decode(opened->context.get(), llama_batch_get_one(&token, 1));
      const std::span scores(llama_get_logits_ith(opened->context.get(), 0),
                             static_cast<std::size_t>(opened->vocabulary));
      token = static_cast<llama_token>(std::ranges::max_element(scores) - scores.begin());
      written.push_back(token);
    }
    return qkv::Tensor(written, {tokens});
  };
}

void answer(std::span<char*> words) {
  const std::string what = words.size() == 5 ? words[2] : "";
  if (what != "prefill" && what != "decode" && what != "unequal") {
    throw std::runtime_error("usage: llama_peer THREADS prefill|decode|unequal FILE.gguf TOKENS");
  }
  llama_log_set([](ggml_log_level, const char*, void*) {}, nullptr);
  const std::int64_t tokens = std::stoll(words[4]);
  const std::vector<std::int64_t> lengths =
      what == "unequal" ? model_rounds::unequal_lengths(tokens) : std::vector{tokens};
  const auto opened = open(words[3], std::stoi(words[1]), static_cast<std::uint32_t>(tokens),
                           static_cast<std::uint32_t>(lengths.size()));
  model_rounds::serve(what == "decode" ? decoding(opened, tokens) : reading(opened, lengths));
}

}  // namespace

int main(int argc, char** argv) {
  try {
    answer({argv, static_cast<std::size_t>(argc)});
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "llama_peer: %s\n", error.what());
    return 1;
  }
}
