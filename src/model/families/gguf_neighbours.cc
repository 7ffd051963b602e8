#include "model/families/gguf_neighbours.h"

#include "core/found.h"

namespace qkv::families {
namespace {

// An architecture of llama.cpp, that which is most like it, what differs, and the model_type of its folders, where qkv
// reads those.
struct GgufNeighbour {
  std::string_view architecture;
  std::string_view nearest;
  std::string_view difference;
  std::string_view folder = {};
};

constexpr std::string_view kRecurrent = "layers keep a state in place of attention";
constexpr std::string_view kSomeRecurrent = "layers, most of them, keep a state in place of attention";
constexpr std::string_view kAlibi = "scores fall with the distance (ALiBi)";
constexpr std::string_view kSections =
    "heads turn by three positions, of time, height and width, also where all are text";
constexpr std::string_view kHalves = "heads turn in halves, where files of Llama turn neighbouring pairs";
constexpr std::string_view kShared = "layers have an expert that every token has";
constexpr std::string_view kWholeShared = "expert that every token has counts whole, without a gate";
constexpr std::string_view kAlike = "layers seem alike, but qkv has not been held against a model of it";
constexpr std::string_view kSigmoids = "experts are chosen by sigmoids";
constexpr std::string_view kDiffusion = "texts are written by filling masks, not from left to right";

constexpr GgufNeighbour kGgufNeighbours[] = {
    {"apertus", "llama", "feed-forward layers have an activation of learnt numbers (xIELU), and no gate"},
    {"arcee", "llama", "feed-forward layers are squared ReLU without a gate"},
    {"arctic", "llama", "layers have a feed-forward layer beside the experts"},
    {"arwkv7", "", kRecurrent},
    {"baichuan", "llama", "scores, in models of 13 B, fall with the distance (ALiBi)"},
    {"bailingmoe", "qwen2moe", kWholeShared},
    {"bailingmoe2", "qwen3moe", kSigmoids},
    {"bitnet", "llama", "weights have three values, and layers norms inside"},
    {"chameleon", "llama", "heads have LayerNorms of q and k"},
    {"chatglm", "llama", "q, k and v are one map, and heads turn in part", "glm"},
    {"clip", "", "file holds the tower of images or sounds beside a model, which has a file of its own"},
    {"codeshell", "starcoder", "heads turn, where StarCoder adds a table of positions"},
    {"cohere2moe", "cohere2", "feed-forward layers are experts"},
    {"dbrx", "llama", "q, k and v are one map, whose results are clipped"},
    {"deci", "llama", "layers differ in their widths, and some have no attention"},
    {"deepseek", "qwen2moe", "first layers have no experts, and the others one that every token has whole"},
    {"deepseek2", "llama", "keys and values are kept as one narrow vector (latent attention)", "deepseek_v2"},
    {"deepseek32", "llama", "queries choose the keys that they see"},
    {"dots1", "qwen3moe", kSigmoids},
    {"dream", "qwen2", kDiffusion},
    {"ernie4_5", "llama", kAlike},
    {"ernie4_5-moe", "qwen2moe", "experts are chosen with a correction of each"},
    {"eurobert", "llama", "tokens see those behind them, too"},
    {"exaone", "llama", kHalves},
    {"exaone4", "olmo2", "layers see windows, and those that see all do not turn"},
    {"falcon-h1", "llama", "layers have a state beside attention"},
    {"gemma-embedding", "gemma3", "tokens see those behind them, too"},
    {"gemma3n", "gemma3", "layers mix several streams, and share keys and values"},
    {"gemma4", "gemma3", "layers have inputs of their own for each token, and heads of two widths"},
    {"glm4", "llama", "layers have norms behind attention and feed-forward, and heads turn in part", "glm4"},
    {"glm4moe", "qwen3moe", "experts are chosen by sigmoids, and first layers have none", "glm4_moe"},
    {"gptj", "gptneox", "layers have one norm for attention and feed-forward", "gptj"},
    {"granitehybrid", "granitemoe", kSomeRecurrent},
    {"grok", "llama", "layers have norms before and behind experts, and scores are capped"},
    {"hunyuan-dense", "qwen3", "norms of q and k come after heads have turned"},
    {"hunyuan-moe", "qwen3moe", kShared},
    {"internlm2", "llama", kAlike},
    {"jais", "gpt2", "scores fall with the distance (ALiBi), and feed-forward layers are SwiGLU"},
    {"jamba", "llama", kSomeRecurrent},
    {"jina-bert-v2", "bert", "scores fall with the distance (ALiBi), on both sides"},
    {"jina-bert-v3", "nomic-bert", "feed-forward layers have no gate, and tasks have maps of their own"},
    {"kimi-linear", "", kSomeRecurrent},
    {"lfm2", "llama", "layers, most of them, are short convolutions in place of attention"},
    {"lfm2moe", "llama", "layers, most of them, are short convolutions in place of attention"},
    {"llada", "llama", kDiffusion},
    {"llada-moe", "olmoe", kDiffusion},
    {"llama-embed", "llama", "tokens see those behind them, too"},
    {"llama4", "llama", "shares of experts are sigmoids, and layers see chunks of a text"},
    {"mamba", "", kRecurrent},
    {"mamba2", "", kRecurrent},
    {"minicpm", "granite", "factors have other names"},
    {"minicpm3", "llama", "keys and values are kept as one narrow vector (latent attention)"},
    {"minimax-m2", "qwen3moe", kSigmoids},
    {"mistral3", "llama", "queries grow with their place in a long text"},
    {"mistral4", "llama", "keys and values are kept as one narrow vector (latent attention)"},
    {"nemotron", "llama", "norms are LayerNorms of gain 1 + w, and feed-forward layers squared ReLU"},
    {"nemotron_h", "llama", kSomeRecurrent},
    {"nemotron_h_moe", "llama", kSomeRecurrent},
    {"neo-bert", "modern-bert", "norms are RMS norms, and all layers see all"},
    {"nomic-bert-moe", "nomic-bert", "feed-forward layers of every other layer are experts"},
    {"olmo", "llama", "norms have no weights"},
    {"openelm", "llama", "layers differ in their widths and numbers of heads"},
    {"orion", "llama", "norms are LayerNorms"},
    {"phimoe", "phi3", "feed-forward layers are experts", "phimoe"},
    {"plamo", "llama", "layers have one norm for attention and feed-forward"},
    {"plamo2", "llama", kSomeRecurrent},
    {"qwen", "qwen2", "q, k and v are one map, and queries grow with their place in a long text"},
    {"qwen2vl", "qwen2", kSections},
    {"qwen35", "qwen3", kSomeRecurrent},
    {"qwen35moe", "qwen3moe", kSomeRecurrent},
    {"qwen3next", "qwen3moe", kSomeRecurrent},
    {"qwen3vl", "qwen3", kSections},
    {"qwen3vlmoe", "qwen3moe", kSections},
    {"refact", "llama", kAlibi},
    {"rwkv6", "", kRecurrent},
    {"rwkv6qwen2", "", kRecurrent},
    {"rwkv7", "", kRecurrent},
    {"seed_oss", "qwen2", "norm before a feed-forward layer has the name of one behind attention"},
    {"smallthinker", "qwen3moe", "experts are chosen before attention, and layers see windows"},
    {"t5encoder", "t5", "file has no decoder"},
    {"xverse", "llama", kAlike},
};

}  // namespace

std::string gguf_neighbour_text(std::string_view architecture) {
  const auto* const found = core::found_in(kGgufNeighbours, architecture, &GgufNeighbour::architecture);
  if (found == nullptr) return "";
  const std::string nearest = found->nearest.empty() ? "none is near" : std::string(found->nearest) + " is the nearest";
  std::string text = "; " + nearest + ": this one's " + std::string(found->difference);
  if (!found->folder.empty()) {
    text += "; the folder that it was made from, of model_type " + std::string(found->folder) + ", is read";
  }
  return text;
}

}  // namespace qkv::families
