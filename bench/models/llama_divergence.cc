// llama_divergence EXACT.gguf FILE.gguf TEXT TOKENS
//     the first TOKENS tokens of a text, 512 at a time, by llama.cpp: the mean KL divergence of FILE's next-token
//     probabilities from EXACT's in nats, how often both have the same likeliest token, and FILE's perplexity, as JSON.
#include <llama.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <exception>
#include <fstream>
#include <iterator>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

constexpr std::size_t kWindow = 512;

class Scorer {
 public:
  explicit Scorer(const std::string& path) : model_(open(path)) {
    llama_context_params options = llama_context_default_params();
    options.n_ctx = options.n_batch = options.n_ubatch = kWindow;
    options.n_threads = options.n_threads_batch = 1;
    context_.reset(llama_init_from_model(model_.get(), options));
    if (!context_) throw std::runtime_error("llama.cpp cannot run " + path);
  }

  [[nodiscard]] std::vector<llama_token> tokens_of(const std::string& text) const {
    std::vector<llama_token> tokens(text.size() + 1);
    const int count = llama_tokenize(vocabulary(), text.data(), static_cast<int>(text.size()), tokens.data(),
                                     static_cast<int>(tokens.size()), false, false);
    tokens.resize(static_cast<std::size_t>(std::max(count, 0)));
    return tokens;
  }

  void read(std::span<const llama_token> tokens) {
    llama_memory_clear(llama_get_memory(context_.get()), true);
    llama_batch batch = llama_batch_init(static_cast<int>(tokens.size()), 0, 1);
    for (const llama_token token : tokens) {
      const int at = batch.n_tokens++;
      batch.token[at] = token;
      batch.pos[at] = at;
      batch.n_seq_id[at] = 1;
      batch.seq_id[at][0] = 0;
      batch.logits[at] = 1;
    }
    const int failed = llama_decode(context_.get(), batch);
    llama_batch_free(batch);
    if (failed != 0) throw std::runtime_error("llama_decode failed");
  }

  /// Logarithms of the probabilities of the token after place `at`.
  [[nodiscard]] std::vector<double> logarithms(std::size_t at) const {
    const float* scores = llama_get_logits_ith(context_.get(), static_cast<int>(at));
    std::vector<double> all(scores, scores + llama_vocab_n_tokens(vocabulary()));
    const double largest = *std::ranges::max_element(all);
    double sum = 0;
    for (const double score : all) sum += std::exp(score - largest);
    for (double& score : all) score -= largest + std::log(sum);
    return all;
  }

 private:
  using ModelHandle = std::unique_ptr<llama_model, decltype(&llama_model_free)>;
  static ModelHandle open(const std::string& path) {
    ModelHandle model(llama_model_load_from_file(path.c_str(), llama_model_default_params()), llama_model_free);
    if (!model) throw std::runtime_error("llama.cpp cannot open " + path);
    return model;
  }
  [[nodiscard]] const llama_vocab* vocabulary() const { return llama_model_get_vocab(model_.get()); }

  ModelHandle model_;
  std::unique_ptr<llama_context, decltype(&llama_free)> context_{nullptr, llama_free};
};

struct Sums {
  double divergence = 0, surprise = 0;
  int places = 0, predicted = 0, same = 0;
};

void compare(const Scorer& exact, const Scorer& other, std::span<const llama_token> tokens, Sums& sums) {
  for (std::size_t at = 0; at < tokens.size(); ++at) {
    const std::vector<double> p = exact.logarithms(at);
    const std::vector<double> q = other.logarithms(at);
    for (std::size_t n = 0; n < p.size(); ++n) sums.divergence += std::exp(p[n]) * (p[n] - q[n]);
    sums.same += std::ranges::max_element(p) - p.begin() == std::ranges::max_element(q) - q.begin() ? 1 : 0;
    ++sums.places;
    if (at + 1 == tokens.size()) continue;
    sums.surprise -= q[static_cast<std::size_t>(tokens[at + 1])];
    ++sums.predicted;
  }
}

void answer(std::span<char*> words) {
  if (words.size() != 5) throw std::runtime_error("usage: llama_divergence EXACT.gguf FILE.gguf TEXT TOKENS");
  llama_log_set([](ggml_log_level, const char*, void*) {}, nullptr);
  Scorer exact(words[1]);
  Scorer other(words[2]);
  std::ifstream file(words[3]);
  std::vector<llama_token> tokens = exact.tokens_of({std::istreambuf_iterator<char>(file), {}});
  tokens.resize(std::min(tokens.size(), static_cast<std::size_t>(std::stoll(words[4]))));
  if (tokens.empty()) throw std::runtime_error(std::string("no tokens in ") + words[3]);
  Sums sums;
  for (std::size_t first = 0; first < tokens.size(); first += kWindow) {
    const auto window = std::span(tokens).subspan(first, std::min(kWindow, tokens.size() - first));
    exact.read(window);
    other.read(window);
    compare(exact, other, window, sums);
  }
  std::printf(R"({"tokens": %d, "divergence": %.9f, "agreement": %.6f, "perplexity": %.6f})"
              "\n",
              sums.places, sums.divergence / sums.places, static_cast<double>(sums.same) / sums.places,
              std::exp(sums.surprise / std::max(1, sums.predicted)));
}

}  // namespace

int main(int argc, char** argv) {
  try {
    answer({argv, static_cast<std::size_t>(argc)});
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "llama_divergence: %s\n", error.what());
    return 1;
  }
}
