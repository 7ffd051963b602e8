#include "qkv/insight/syntax.h"

#include <algorithm>
#include <array>
#include <map>

#include "insight/text_batch.h"

namespace qkv {
namespace {

constexpr const char* kSyntax = "analyze_syntax";

using WordWeights = std::vector<std::vector<double>>;  // [words][words]

/// A sentence as the model reads it.
struct ReadSentence {
  const ParsedSentence* parsed = nullptr;
  std::vector<std::vector<std::size_t>> tokens;  // of each word
};

AttentionSite site_read(const TextModel& trained) {
  return trained.traits().reads_source ? AttentionSite::source : AttentionSite::tokens;
}

HeadText read_sentence(const TextModel& trained, const ParsedSentence& sentence, ReadSentence& read) {
  const bool is_source = site_read(trained) == AttentionSite::source;
  const Example example = trained.example_of(sentence.text, {kSyntax, "sentences"});
  const Encoding encoding = (is_source ? trained.source_tokenizer() : trained.tokenizer()).encode(sentence.text);
  // "<s>" of a task; after a source stands its "</s>".
  const std::size_t before = is_source ? 0 : example.tokens.size() - encoding.ids.size();
  read = {.parsed = &sentence, .tokens = std::vector<std::vector<std::size_t>>(sentence.words.size())};
  std::size_t word = 0;
  for (std::size_t n = 0; n < encoding.ids.size(); ++n) {
    if (encoding.sources[n] != TokenSource::text || encoding.offsets[n].end == 0) continue;
    // A token may begin with the space before its word, so that its last byte tells.
    while (word + 1 < sentence.words.size() && encoding.offsets[n].end > sentence.words[word].end) ++word;
    read.tokens[word].push_back(before + n);
  }
  HeadText text;
  text.ids.assign(example.tokens.begin(), example.tokens.end());
  text.source.assign(example.source.begin(), example.source.end());
  return text;
}

WordWeights between_words(const TensorView& weights, const ReadSentence& sentence) {
  const std::size_t words = sentence.tokens.size();
  WordWeights between(words, std::vector<double>(words));
  std::vector<double> row(static_cast<std::size_t>(weights.dim(1)));
  for (std::size_t a = 0; a < words; ++a) {
    for (const std::size_t token : sentence.tokens[a]) {
      weights.load_row(std::array{static_cast<std::int64_t>(token)}, row);
      for (std::size_t b = 0; b < words; ++b) {
        for (const std::size_t key : sentence.tokens[b]) {
          between[a][b] += row[key] / static_cast<double>(sentence.tokens[a].size());
        }
      }
    }
  }
  return between;
}

// The word that this one looks at most, itself left out; none where it looks at no other.
std::optional<std::int64_t> looked_at(const WordWeights& weights, std::int64_t from) {
  std::optional<std::int64_t> best;
  double most = 0;
  const std::vector<double>& row = weights[static_cast<std::size_t>(from)];
  for (std::int64_t to = 0; to < static_cast<std::int64_t>(row.size()); ++to) {
    if (to == from || row[static_cast<std::size_t>(to)] <= most) continue;
    best = to;
    most = row[static_cast<std::size_t>(to)];
  }
  return best;
}

struct Pair {
  std::int64_t from = 0;
  std::int64_t to = 0;
};

Pair pair_of(std::int64_t word, std::int64_t head, TreeDirection direction) {
  return direction == TreeDirection::to_head ? Pair{word, head} : Pair{head, word};
}

constexpr std::array kDirections = {TreeDirection::to_head, TreeDirection::to_dependent};

class Counts {
 public:
  // Calls visit(relation, pair) for both directions of each word that has a head, and of each pronoun.
  template <class Visit>
  void each(const ParsedSentence& sentence, const Visit& visit) {
    const auto both_ways = [&](const std::string& label, std::int64_t word, std::int64_t head) {
      for (const TreeDirection direction : kDirections) {
        visit(relations_[{label, direction}], pair_of(word, head, direction));
      }
    };
    for (std::size_t word = 0; word < sentence.dependencies.size(); ++word) {
      const Dependency& dependency = sentence.dependencies[word];
      if (dependency.head) both_ways(dependency.label, static_cast<std::int64_t>(word), *dependency.head);
    }
    for (const Coreference& pronoun : sentence.coreferences) {
      both_ways(std::string(kPronoun), pronoun.mention, pronoun.antecedent);
    }
  }

  void add_sentence(const ParsedSentence& sentence, bool looks_back) {
    each(sentence, [looks_back](Count& count, const Pair& pair) {
      ++count.accuracy.pairs;
      if (!looks_back || pair.to < pair.from) ++count.offsets[pair.to - pair.from];
    });
  }

  void add_head(const ParsedSentence& sentence, const WordWeights& weights, std::size_t head) {
    each(sentence, [&](Count& count, const Pair& pair) {
      if (count.accuracy.right.size() <= head) count.accuracy.right.resize(head + 1);
      if (looked_at(weights, pair.from) == pair.to) ++count.accuracy.right[head];
    });
  }

  [[nodiscard]] std::vector<RelationAccuracy> relations(std::size_t heads) const {
    std::vector<RelationAccuracy> all;
    for (const auto& [key, count] : relations_) {
      RelationAccuracy one = count.accuracy;
      one.label = key.first;
      one.direction = key.second;
      one.right.resize(heads);
      const auto most = std::ranges::max_element(one.right);
      if (most != one.right.end() && *most > 0) one.best = most - one.right.begin();
      for (const auto& [offset, pairs] : count.offsets) {
        if (pairs <= one.offset_right) continue;
        one.offset = offset;
        one.offset_right = pairs;
      }
      all.push_back(std::move(one));
    }
    // Not by stable_sort: Clang warns of libstdc++ 12's.
    std::ranges::sort(all, [](const RelationAccuracy& a, const RelationAccuracy& b) {
      if (a.pairs != b.pairs) return a.pairs > b.pairs;
      return a.label != b.label ? a.label < b.label : a.direction < b.direction;
    });
    return all;
  }

 private:
  struct Count {
    RelationAccuracy accuracy;
    std::map<std::int64_t, std::int64_t> offsets;  // pairs of each distance
  };

  std::map<std::pair<std::string, TreeDirection>, Count> relations_;
};

void require_reader_of_text(const TextModel& trained) {
  const bool has_source = trained.reads_source();
  if (trained.traits().fills || trained.traits().reads_source) return;
  if (trained.traits().goes_on && !has_source) return;
  throw InvalidArgument(kSyntax, "trained", "an encoder, or a decoder that reads a text alone",
                        "one of kind " + std::string(name_of(trained.kind())) + (has_source ? " with a source" : ""));
}

}  // namespace

std::string_view name_of(TreeDirection direction) noexcept {
  return direction == TreeDirection::to_head ? "to head" : "to dependent";
}

SyntaxAnalysis analyze_syntax(const TextModel& trained, std::span<const ParsedSentence> sentences) {
  if (sentences.empty()) throw InvalidArgument(kSyntax, "sentences", "one or more", "none");
  require_reader_of_text(trained);
  std::vector<HeadText> texts;
  std::vector<ReadSentence> read(sentences.size());
  SyntaxAnalysis analysis{.sentences = static_cast<std::int64_t>(sentences.size()),
                          .looks_back = trained.traits().goes_on,
                          .relations = {}};
  Counts counts;
  for (std::size_t n = 0; n < sentences.size(); ++n) {
    texts.push_back(read_sentence(trained, sentences[n], read[n]));
    counts.add_sentence(sentences[n], analysis.looks_back);
    analysis.words += static_cast<std::int64_t>(sentences[n].words.size());
  }
  const SiteScope scope = *trained.model().scope_of(site_read(trained));
  analysis.layers = scope.layers;
  constexpr std::int64_t kHeads = 16;
  for (const insight::TextBatch& batch : insight::batches_of(texts, kHeads)) {
    Trace trace({scope.stack + "*" + scope.part});
    trained.model().run(batch.input(), trace);
    for (std::int64_t layer = 0; layer < scope.layers; ++layer) {
      const Tensor weights = trace[scope.name(static_cast<std::size_t>(layer), "weights")];
      analysis.heads = weights.dim(1);
      for (std::size_t b = 0; b < batch.texts.size(); ++b) {
        const ReadSentence& sentence = read[static_cast<std::size_t>(batch.texts[b] - texts.data())];
        const TensorView own = weights.view().select(0, static_cast<std::int64_t>(b));
        for (std::int64_t h = 0; h < weights.dim(1); ++h) {
          counts.add_head(*sentence.parsed, between_words(own.select(0, h), sentence),
                          static_cast<std::size_t>(layer * weights.dim(1) + h));
        }
      }
    }
  }
  analysis.relations = counts.relations(static_cast<std::size_t>(analysis.layers * analysis.heads));
  return analysis;
}

}  // namespace qkv
