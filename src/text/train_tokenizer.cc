#include "qkv/text/train_tokenizer.h"

#include <algorithm>
#include <map>
#include <queue>
#include <unordered_map>
#include <unordered_set>

#include "qkv/error.h"
#include "text/byte_level.h"
#include "text/pieces.h"
#include "text/regex.h"
#include "text/trained_json.h"

namespace qkv {
namespace text {
namespace {

constexpr std::int32_t kBytesOfVocabulary = 256;

// A different word of the text, in pieces so far.
struct TrainedWord {
  std::vector<std::int32_t> pieces;
  std::int64_t count = 0;
};

struct PiecePair {
  std::int32_t first = 0;
  std::int32_t second = 0;
  friend auto operator<=>(const PiecePair&, const PiecePair&) = default;
};

struct PairHash {
  std::size_t operator()(const PiecePair& pair) const noexcept {
    constexpr unsigned kHalf = 32;
    const auto both = static_cast<std::uint64_t>(static_cast<std::uint32_t>(pair.first)) << kHalf |
                      static_cast<std::uint32_t>(pair.second);
    return std::hash<std::uint64_t>{}(both * 0x9E3779B97F4A7C15U);
  }
};

// How often a pair stood in the text when it was put in the queue.
struct Candidate {
  std::int64_t count = 0;
  PiecePair pair;
  // The top of a queue: the most frequent, of equals the lowest pair.
  bool operator<(const Candidate& other) const noexcept {
    return count != other.count ? count < other.count : pair > other.pair;
  }
};

// Every different word of a text once, sorted, so that nothing depends on the order of a hash table.
std::vector<TrainedWord> words_of(std::string_view text) {
  std::unordered_map<std::string_view, std::int64_t> counts;
  const Regex pattern(kGpt2Pattern, "train_tokenizer");
  const std::string valid = with_replacements(text);
  // A line at a time: no match but white space goes past the end of a line, and the parts of a whole text are large.
  std::vector<Part> parts;
  for (std::size_t begin = 0; begin < valid.size();) {
    const std::size_t end = std::min(valid.find('\n', begin), valid.size() - 1) + 1;
    const std::string_view line = std::string_view(valid).substr(begin, end - begin);
    parts.clear();
    pattern.find_all(line, parts);
    for (const Part& part : parts) ++counts[line.substr(part.begin, part.end - part.begin)];
    begin = end;
  }
  const std::map<std::string_view, std::int64_t> sorted(counts.begin(), counts.end());
  std::vector<TrainedWord> words;
  for (const auto& [word, count] : sorted) {
    TrainedWord& next = words.emplace_back();
    next.count = count;
    for (const char byte : word) next.pieces.push_back(static_cast<unsigned char>(byte));
  }
  return words;
}

class BpeTraining {
 public:
  explicit BpeTraining(std::vector<TrainedWord> words) : words_(std::move(words)) {
    for (std::uint32_t n = 0; n < words_.size(); ++n) {
      const std::vector<std::int32_t>& pieces = words_[n].pieces;
      for (std::size_t at = 0; at + 1 < pieces.size(); ++at) add({pieces[at], pieces[at + 1]}, n, words_[n].count);
    }
    for (const auto& [pair, place] : places_) queue_.push({.count = place.count, .pair = pair});
  }

  /// The pair to merge next; nullopt where none stands in the text `least` times.
  std::optional<PiecePair> next(std::int64_t least) {
    while (!queue_.empty()) {
      const Candidate top = queue_.top();
      queue_.pop();
      const std::int64_t now = places_.at(top.pair).count;
      if (now == top.count) return now < least ? std::nullopt : std::optional(top.pair);
      if (now > 0) queue_.push({.count = now, .pair = top.pair});
    }
    return std::nullopt;
  }

  void merge(PiecePair pair, std::int32_t id) {
    const std::unordered_set<std::uint32_t> words = std::exchange(places_.at(pair).words, {});
    changed_.clear();
    for (const std::uint32_t n : words) merge_in(n, pair, id);
    places_.at(pair).count = 0;
    for (const PiecePair& next : changed_) {
      if (const std::int64_t count = places_.at(next).count; count > 0) queue_.push({.count = count, .pair = next});
    }
  }

 private:
  struct Place {
    std::int64_t count = 0;                   // in the whole text
    std::unordered_set<std::uint32_t> words;  // that have or had the pair
  };

  void add(PiecePair pair, std::uint32_t word, std::int64_t count) {
    Place& place = places_[pair];
    place.count += count;
    place.words.insert(word);
  }

  void merge_in(std::uint32_t n, PiecePair pair, std::int32_t id) {
    TrainedWord& word = words_[n];
    std::vector<std::int32_t>& old = word.pieces;
    std::vector<std::int32_t> merged;
    for (std::size_t at = 0; at < old.size(); ++at) {
      const bool is_pair = at + 1 < old.size() && old[at] == pair.first && old[at + 1] == pair.second;
      merged.push_back(is_pair ? id : old[at]);
      at += is_pair ? 1 : 0;
    }
    for (std::size_t at = 0; at + 1 < old.size(); ++at) places_.at({old[at], old[at + 1]}).count -= word.count;
    for (std::size_t at = 0; at + 1 < merged.size(); ++at) {
      add({merged[at], merged[at + 1]}, n, word.count);
      if (merged[at] == id || merged[at + 1] == id) changed_.insert({merged[at], merged[at + 1]});
    }
    old = std::move(merged);
  }

  std::vector<TrainedWord> words_;
  std::unordered_map<PiecePair, Place, PairHash> places_;
  std::priority_queue<Candidate> queue_;
  std::unordered_set<PiecePair, PairHash> changed_;  // pairs with the new piece
};

// A byte has its own value as number.
std::vector<std::string> byte_pieces() {
  std::vector<std::string> pieces;
  for (int byte = 0; byte < kBytesOfVocabulary; ++byte) {
    pieces.emplace_back(byte_character(static_cast<unsigned char>(byte)));
  }
  return pieces;
}

}  // namespace
}  // namespace text

std::string train_tokenizer(std::string_view text, const TrainTokenizerOptions& options) {
  constexpr const char* kFunction = "train_tokenizer";
  constexpr std::int64_t kMost = std::int64_t{1} << 24;
  constexpr std::int64_t kLeast = text::kBytesOfVocabulary + 1;
  if (options.size < kLeast || options.size > kMost) {
    throw InvalidArgument(kFunction, "size", "from 257 to 16777216", std::to_string(options.size));
  }
  if (options.least_count < 1) {
    throw InvalidArgument(kFunction, "least_count", "1 or more", std::to_string(options.least_count));
  }
  constexpr std::int64_t kOften = 100;
  std::vector<std::string> pieces = text::byte_pieces();
  std::vector<std::pair<std::string, std::string>> merges;
  text::BpeTraining training(text::words_of(text));
  while (static_cast<std::int64_t>(pieces.size()) + 1 < options.size) {
    const auto pair = training.next(options.least_count);
    if (!pair) break;
    const std::string& first = pieces[static_cast<std::size_t>(pair->first)];
    const std::string& second = pieces[static_cast<std::size_t>(pair->second)];
    const auto id = static_cast<std::int32_t>(pieces.size());
    merges.emplace_back(first, second);
    pieces.push_back(first + second);
    training.merge(*pair, id);
    if (options.progress && id % kOften == 0) options.progress(id);
  }
  return text::json_of_training(pieces, merges);
}

}  // namespace qkv
