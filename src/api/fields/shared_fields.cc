#include "api/fields/shared_fields.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <stdexcept>
#include <vector>

#include "api/fields/bounds.h"
#include "core/found.h"
#include "qkv/model/attention_site.h"
#include "qkv/model/token_input.h"

namespace qkv::api_detail {
namespace {

constexpr double kNone = std::numeric_limits<double>::infinity();

struct Shared {
  const char* name;
  const char* form;
  const char* meaning;
  const char* otherwise = "";
  const char* example = "";
  Bound least = -kNone;
  Bound most = kNone;
};

constexpr Shared kShared[] = {
    // Inputs of a call, and what acts on its scores.
    {"q", "FILE", "Queries", "", "[[1,0],[0,1]]"},
    {"k", "FILE", "Keys", "", "[[1,0],[1,1]]"},
    {"v", "FILE", "Values", "", "[[1],[2]]"},
    {"d_out", "FILE", "The loss's gradient with respect to out, in its layout", "", "[[1],[2]]"},
    {"mask", "EXPR", "A mask, e.g. \"causal & window(512) | global(4)\"", "", "causal"},
    {"causal", "", "No query sees a later key; the last query meets the last key"},
    {"bias", "EXPR", "A bias, added to the scores, e.g. \"alibi\"", "", "alibi"},
    {"scale", "X", "Factor of q.k", "1/sqrt(a query's width)", "", -kAnyNumber, kAnyNumber},
    {"softcap", "C", "Bend the scores into ±C: C * tanh(x / C)", "", "", above(0), kAnyNumber},
    {"dropout", "P", "Drop weights with probability P", "", "", 0, below(1)},
    // The shape of a model.
    {"heads", "N", "Query heads", "", "", 1, kAnyCount},
    {"kv_heads", "N", "Heads of keys and values", "`heads`", "1", 1, kAnyCount},
    {"d_model", "N", "Width of a token's vector", "", "", 1, kWidest},
    {"d_k", "N", "Width of a head's queries and keys", "`d_model` / `heads`", "", 1, kWidest},
    {"d_v", "N", "Width of a head's values", "`d_k`", "", 1, kWidest},
    {"d_ff", "N", "Width inside the feed-forward layer", "4 `d_model`"},
    {"layers", "N", "Blocks of each stack"},
    {"steps", "N", "Steps of training"},
    {"length", "N", "How long examples get, in the task's unit", "the task's"},
    // A model that reads something, and a place in it.
    {"model", "MODEL", "A model of the box, a file of qkv's or GGUF, or a folder of others", "", "induction"},
    {"dtype", "TYPE",
     "What the model computes in: f32 or f64, quantised weights too; file: in f32, with quantised weights as the file "
     "has them and activations in 8 bits",
     "f32", "f64"},
    {"text", "TEXT", "What it reads", "", "abcxyzab"},
    {"second", "TEXT", "A second text beside it, for an encoder that reads pairs", "", "The dog ran"},
    {"file", "FILE", "What it reads, from a file", "", "text.txt"},
    {"picture", "FILE", "A PNG, for a model that reads images, or data:image/png;base64,…", "", "shapes.png"},
    {"sound", "FILE", "A WAV file, for a model that reads sound, or data:audio/wav;base64,…", "", "speech.wav"},
    {"example", "N", "Or held-out example N of its task", "", "", 0, kMostExamples},
    {"layer", "N", "Which layer", "", "", 0, kMostLayers},
    {"head", "N", "Which head", "", "", 0, kMostHeads},
    {"site", "SITE", "Which attention", "cross, else tokens", "source"},
    {"positions", "NAME", "How a token's place is told", "", "rotary"},
    {"query", "N", "Which query, from 0", "", "", 0, kMostPlaces},
    {"key", "N", "Which key, from 0", "", "", 0, kMostPlaces},
    {"numbers", "", "Also all tensors whole, and every value of maps that are shown as block means", "", "false"},
    {"from_text", "TEXT", "The other text, of as many tokens, from which a patch or a pattern comes", "", "xyzabcxy"},
};

template <class Word>
std::vector<std::string> words_to(Word last) {
  std::vector<std::string> words;
  for (int n = 0; n <= static_cast<int>(last); ++n) words.emplace_back(name_of(static_cast<Word>(n)));
  return words;
}

std::string media_of(std::string_view name) {
  return name == "picture" ? "image/png" : name == "sound" ? "audio/wav" : "";
}

std::vector<std::string> words_of(std::string_view name) {
  if (name == "site") return words_to(AttentionSite::cross);
  if (name == "positions") return words_to(Positions::t5);
  return {};
}

}  // namespace

FieldInfo shared_field(std::string_view name, const std::string& group) {
  const auto* const one = core::found_in(kShared, name, &Shared::name);
  if (one == nullptr) throw std::logic_error("no field of several questions: " + std::string(name));
  return {.name = one->name,
          .form = one->form,
          .meaning = one->meaning,
          .group = group,
          .least = one->least,
          .most = one->most,
          .words = words_of(name),
          .otherwise = one->otherwise,
          .media = media_of(name),
          .is_text = name == "file",
          .example = one->example};
}

}  // namespace qkv::api_detail
