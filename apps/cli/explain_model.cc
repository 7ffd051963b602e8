#include "explain_model.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <sstream>
#include <utility>
#include <vector>

#include "misuse.h"
#include "qkv/files.h"
#include "qkv/nn/trace.h"
#include "qkv/png.h"
#include "qkv/train/examine.h"
#include "qkv/train/picture_task.h"
#include "qkv/train/trained_model.h"

namespace qkv::cli {
namespace {

constexpr std::array<AttentionSite, 3> kSites = {AttentionSite::tokens, AttentionSite::source, AttentionSite::cross};

constexpr std::int64_t kHeldOut = 16;  // examples that show which head is worth a look

struct Asked {
  TaskExample shown;
  std::vector<TaskExample> pairs = {};  // of a two-tower model: the image beside each caption, `shown` first
  std::size_t prompt = 0;               // tokens that were given, not written
  bool is_open = false;                 // the answer's last token is what is said at the last place
};

bool is_pair(const TrainedModel& trained) { return trained.kind() == ModelKind::two_tower; }

TaskExample image_example(const TrainedModel& trained, const std::string& path) {
  std::error_code none;
  if (!std::filesystem::exists(path, none)) {
    const std::string where = is_pair(trained) ? "; what it may show goes to --caption" : "";
    misuse("TEXT", "a PNG file that is there, for this model reads images" + where, "\"" + path + "\"");
  }
  TaskExample example;
  example.image = image_of(decode_png(read_file(path), path), trained.task().lengths().image_side);
  example.tokens = {trained.task().vocabulary().id("<s>")};
  example.labels.resize(1);
  example.scored.resize(1);
  return example;
}

TaskExample given_example(const TrainedModel& trained, const ModelQuestion& question) {
  if (question.example) {
    if (!trained.has_examples()) misuse("--example", "a text, for this model's examples are not here", "a number");
    return trained.task().example(Split::test, *question.example);
  }
  const bool reads_images = trained.task().lengths().image_side > 0;
  if (!question.text) misuse("TEXT", reads_images ? "a PNG file, or --example N" : "a text, or --example N", "none");
  if (reads_images) return image_example(trained, *question.text);
  return of_option("TEXT", [&] { return trained.example_of(*question.text); });
}

// Lets the model write as many tokens as the question or the task wants. The last token of a sum is said, but the
// examples do not hold it, nor need a model have a vector for its place.
void write_answer(const TrainedModel& trained, const ModelQuestion& question, Asked& asked) {
  std::int64_t most = question.answer.value_or(0);
  if (!question.answer && trained.task().vocabulary().find("</s>")) {
    most = trained.task().lengths().tokens - static_cast<std::int64_t>(asked.shown.tokens.size());
  } else if (!question.answer) {
    const std::int64_t length = trained.answer_length(asked.shown.tokens.back());
    asked.is_open = length > 0;
    most = length - 1;
  }
  trained.answer(asked.shown, {.most = std::max<std::int64_t>(most, 0)});
}

std::vector<TaskExample> pairs_of(const TrainedModel& trained, const ModelQuestion& question,
                                  const TaskExample& example) {
  std::vector<TaskExample> pairs;
  if (question.example) pairs.push_back(example);
  std::istringstream captions(question.captions.value_or(""));
  for (std::string caption; std::getline(captions, caption, '|');) {
    TaskExample& pair = pairs.emplace_back(of_option("--caption", [&] { return trained.example_of(caption); }));
    pair.image = example.image;
  }
  if (pairs.empty()) {
    misuse("--caption", "what the image may show, as in \"a red circle|a blue square\", for this model says how near",
           "none");
  }
  return pairs;
}

Asked asked_of(const TrainedModel& trained, const ModelQuestion& question) {
  const std::string kind(name_of(trained.kind()));
  if (question.captions && !is_pair(trained)) misuse("--caption", "a two-tower model", "one of kind " + kind);
  if (question.answer && (is_pair(trained) || trained.kind() == ModelKind::encoder)) {
    misuse("--answer", "a model that writes", "one of kind " + kind);
  }
  if (question.answer && question.example) misuse("--answer", "a text, for an example brings its answer", "--example");
  Asked asked{.shown = given_example(trained, question)};
  asked.prompt = asked.shown.tokens.size();
  if (is_pair(trained)) {
    asked.pairs = pairs_of(trained, question, asked.shown);
    asked.shown = asked.pairs.front();
  } else if (!question.example && trained.kind() != ModelKind::encoder) {
    of_option("TEXT", [&] { write_answer(trained, question, asked); });
  }
  return asked;
}

std::vector<std::string> texts_of(const Tokenizer& vocabulary, const std::vector<std::int32_t>& tokens) {
  std::vector<std::string> texts;
  for (const std::int32_t token : tokens) {
    const std::string& text = vocabulary.piece(token);
    texts.push_back(text == " " ? "␣" : text == "\n" ? "⏎" : text);
  }
  return texts;
}

std::vector<std::string> keys_of(const TrainedModel& trained, const TaskExample& example, AttentionSite site) {
  if (site == AttentionSite::tokens) return texts_of(trained.task().vocabulary(), example.tokens);
  if (example.image.empty()) return texts_of(trained.task().source_vocabulary(), example.source);
  std::vector<std::string> names;
  names.reserve(static_cast<std::size_t>(trained.task().lengths().patches()));
  const std::int64_t across = trained.task().lengths().image_side / trained.task().lengths().patch_side;
  for (std::int64_t patch = 0; patch < trained.task().lengths().patches(); ++patch) {
    names.push_back(fmt::format("{},{}", patch / across, patch % across));
  }
  return names;
}

// How far each head shows each relation of the site in this example.
std::vector<ReadingRelation> relations_at(const TrainedModel& trained, const TaskExample& example, AttentionSite site,
                                          const std::vector<Tensor>& weights) {
  std::vector<ReadingRelation> all;
  const auto& relations = trained.task().relations();
  for (std::size_t n = 0; n < relations.size(); ++n) {
    const bool is_asked = n < example.patterns.size() && !example.patterns[n].empty();
    if (relations[n].site != site || !is_asked) continue;
    ReadingRelation relation{.name = relations[n].name, .description = relations[n].description, .layers = {}};
    for (const PatternRow& row : example.patterns[n]) {
      relation.rows.push_back({static_cast<std::size_t>(row.query), {row.keys.begin(), row.keys.end()}});
    }
    for (const Tensor& layer : weights) {
      std::vector<double>& heads = relation.layers.emplace_back();
      for (const PatternScore& score : score_pattern(trained.task(), example, relations[n].name, layer)) {
        heads.push_back(score.mean_weight());
      }
    }
    all.push_back(std::move(relation));
  }
  return all;
}

class ModelReader {
 public:
  ModelReader(const ModelQuestion& question, TrainedModel trained)
      : question_(question),
        trained_(std::move(trained)),
        asked_(asked_of(trained_, question)),
        batch_(trained_.batch_of(asked_.shown)) {
    // A text may be longer than the model learnt vectors for.
    of_option(question.text ? "TEXT" : "--example", [&] { trained_.model().run(batch_, trace_); });
    reading_.tokens = texts_of(trained_.task().vocabulary(), shown().tokens);
    reading_.query = question.query;
  }

  Reading read() {
    describe();
    if (is_pair(trained_)) {
      add_captions();
    } else {
      add_answers();
    }
    reading_.image = shown().image;
    for (const AttentionSite site : kSites) add_site(site);
    choose_place();
    add_heads();
    return std::move(reading_);
  }

 private:
  void describe() {
    const auto& facts = trained_.facts().model;
    reading_.title = fmt::format("{}: {}", trained_.task().info().name, question_.model);
    for (const char* word : {"kind", "layers", "d_model", "positions"}) {
      const auto fact = facts.find(word);
      if (fact != facts.end()) reading_.settings.push_back({fmt::format("model {}", word), fact->second});
    }
    reading_.settings.push_back({"model parameters", fmt::format("{}", trained_.model().parameter_count())});
  }

  void add_answers() {
    reading_.probabilities = trained_.probabilities(shown());
    const Tokenizer& vocabulary = trained_.task().vocabulary();
    add_tokens(vocabulary);
    // A joined text counts its source's tokens after those of its answers.
    if (batch_.layout == BatchLayout::joined && joined_source_offset(trained_.task()) > 0) {
      add_tokens(trained_.task().source_vocabulary());
    }
    const bool is_asked = std::ranges::any_of(shown().labels, [](const auto& label) { return label.has_value(); });
    for (std::size_t p = 0; is_asked && p < shown().tokens.size(); ++p) {
      reading_.right.push_back(shown().scored[p] ? vocabulary.piece(*shown().labels[p]) : "");
    }
    say_in_a_line(is_asked);
  }

  void add_tokens(const Tokenizer& vocabulary) {
    for (std::int32_t token = 0; token < vocabulary.size(); ++token) {
      reading_.vocabulary.push_back(vocabulary.piece(token));
    }
  }

  [[nodiscard]] std::int32_t likeliest_at(std::size_t place) const {
    const std::vector<double> row =
        reading_.probabilities.view().select(0, static_cast<std::int64_t>(place)).to_vector();
    const auto own = static_cast<std::ptrdiff_t>(trained_.task().vocabulary().size());
    return static_cast<std::int32_t>(std::max_element(row.begin(), row.begin() + own) - row.begin());
  }

  // Without "</s>", which is no part of what is said.
  [[nodiscard]] std::string line_of(std::vector<std::int32_t> tokens) const {
    const Tokenizer& vocabulary = trained_.task().vocabulary();
    if (const auto end = vocabulary.find("</s>")) std::erase(tokens, *end);
    const std::string line = vocabulary.decode(tokens);
    return line.empty() ? "nothing" : line;
  }

  void say_in_a_line(bool is_asked) {
    const TaskExample& example = shown();
    if (is_asked) {
      std::vector<std::int32_t> said;
      std::vector<std::int32_t> right;
      for (std::size_t p = 0; p < example.tokens.size(); ++p) {
        if (!example.labels[p]) continue;
        said.push_back(likeliest_at(p));
        right.push_back(*example.labels[p]);
      }
      reading_.notes.push_back("says, after the right tokens before each: " + line_of(said));
      reading_.notes.push_back("right: " + line_of(right));
      return;
    }
    if (trained_.kind() == ModelKind::encoder) return;
    const auto begin = example.tokens.begin() + static_cast<std::ptrdiff_t>(asked_.prompt);
    std::vector<std::int32_t> said(begin, example.tokens.end());
    const std::int32_t last = likeliest_at(example.tokens.size() - 1);
    if (asked_.is_open) said.push_back(last);
    if (said.empty() && !trained_.task().vocabulary().find("</s>")) {
      reading_.notes.push_back("says next: " + trained_.task().vocabulary().piece(last));
      return;
    }
    reading_.notes.push_back("says: " + line_of(said));
  }

  void add_captions() {
    const std::vector<double> cosines = trained_.cosines(asked_.pairs).to_vector();
    for (std::size_t n = 0; n < cosines.size(); ++n) {
      std::vector<std::int32_t> tokens = asked_.pairs[n].tokens;
      if (const auto begin = trained_.task().vocabulary().find("<s>")) std::erase(tokens, *begin);
      reading_.captions.push_back({line_of(tokens), cosines[n]});
    }
    const auto nearest = std::ranges::max_element(reading_.captions, {}, &ReadingCaption::cosine);
    reading_.notes.push_back(fmt::format("nearest: {} (cosine {:.3f})", nearest->text, nearest->cosine));
  }

  [[nodiscard]] const TaskExample& shown() const { return asked_.shown; }

  // The part of a whole layer's tensor that belongs to the site: of a joined text, some rows and columns.
  Tensor weights_at(AttentionSite site, const SiteScope& scope, std::size_t layer) const {
    return Tensor(weights_of_example(batch_, 0, site, trace_[scope.name(layer, "weights")]));
  }

  // Queries across a joined text see all of its source.
  Mask mask_of(const SiteScope& scope, const std::string& site) const {
    const bool is_causal = trained_.kind() == ModelKind::decoder || scope.stack == "decoder.";
    return is_causal && scope.part == "attn" && site != name_of(AttentionSite::cross) ? causal() : Mask();
  }

  void add_site(AttentionSite site) {
    const std::optional<SiteScope> scope = trained_.model().scope_of(site);
    const bool is_joined = batch_.layout == BatchLayout::joined;
    if (!scope || (is_joined && shown().source.empty() && site != AttentionSite::tokens)) return;
    ReadingSite made{
        .name = std::string(name_of(site)), .queries = {}, .keys = keys_of(trained_, shown(), site), .weights = {}};
    made.mask = mask_of(*scope, made.name);
    made.queries = site == AttentionSite::source ? made.keys : reading_.tokens;
    for (std::size_t layer = 0; layer < static_cast<std::size_t>(scope->layers); ++layer) {
      made.weights.push_back(weights_at(site, *scope, layer));
    }
    const TaskLengths& lengths = trained_.task().lengths();
    if (site == AttentionSite::cross && lengths.image_side > 0) {
      made.key_columns = lengths.image_side / lengths.patch_side;
    }
    made.relations = relations_at(trained_, shown(), site, made.weights);
    reading_.sites.push_back(std::move(made));
    places_.push_back(site);
  }

  [[nodiscard]] std::optional<std::size_t> site_named(std::string_view name) const {
    const auto found = std::ranges::find(reading_.sites, name, &ReadingSite::name);
    if (found == reading_.sites.end()) return std::nullopt;
    return static_cast<std::size_t>(found - reading_.sites.begin());
  }

  void choose_place() {
    if (question_.site && !site_named(*question_.site)) refuse_site();
    const std::size_t usual =
        site_named(question_.site.value_or(std::string(name_of(AttentionSite::cross)))).value_or(0);
    reading_.site = usual;
    const auto layers = static_cast<std::int64_t>(reading_.sites[reading_.site].weights.size());
    if (question_.layer && (*question_.layer < 0 || *question_.layer >= layers)) {
      misuse("--layer", fmt::format("0 to {}", layers - 1), fmt::format("{}", *question_.layer));
    }
    reading_.layer = static_cast<std::size_t>(question_.layer.value_or(layers - 1));
    if (!trained_.has_examples() || trained_.task().relations().empty()) return;
    double best = -1;
    std::string note;
    for (const RelationScores& scores : task_patterns(trained_.task(), trained_.model(), kHeldOut)) {
      const std::optional<std::size_t> site = site_named(name_of(scores.site));
      if (!site || (question_.site && *site != usual)) continue;
      if (consider(*site, scores, best)) {
        note = fmt::format("layer {}, head {} ({}) shows \"{}\" best: a mean weight of {:.2f} on {} held-out examples",
                           reading_.layer, reading_.head, reading_.sites[*site].name, scores.relation, best, kHeldOut);
      }
    }
    if (!note.empty()) reading_.notes.push_back(note);
  }

  // Whether a head shows the relation better than the best so far, which it then is.
  bool consider(std::size_t site, const RelationScores& scores, double& best) {
    bool is_better = false;
    for (std::size_t layer = 0; layer < scores.layers.size(); ++layer) {
      if (question_.layer && layer != static_cast<std::size_t>(*question_.layer)) continue;
      for (std::size_t head = 0; head < scores.layers[layer].size(); ++head) {
        const double weight = scores.layers[layer][head].mean_weight();
        if (weight <= best) continue;
        best = weight;
        reading_.site = site;
        reading_.layer = layer;
        reading_.head = head;
        is_better = true;
      }
    }
    return is_better;
  }

  [[noreturn]] void refuse_site() const {
    std::string names;
    for (const ReadingSite& site : reading_.sites) names += (names.empty() ? "" : ", ") + site.name;
    misuse("--site", "one of " + names, *question_.site);
  }

  // q, k and v of the layer, as its scores see them, with its mask and bias.
  void add_heads() {
    const SiteScope scope = *trained_.model().scope_of(places_[reading_.site]);
    const Trace::Attention& call = trace_.attention(scope.name(reading_.layer));
    reading_.turned = trace_.contains(scope.name(reading_.layer, "q_rotated"));
    reading_.heads.q = Tensor(call.q.value().select(0, 0));
    reading_.heads.k = Tensor(call.k.value().select(0, 0));
    reading_.heads.v = Tensor(call.v.value().select(0, 0));
    reading_.bias = call.options.bias;
    if (batch_.layout == BatchLayout::joined) show_whole_text();
  }

  // The steps of a joined text show source and tokens together, as its heads do.
  void show_whole_text() {
    if (shown().source.empty()) return;
    const SiteScope scope = *trained_.model().scope_of(AttentionSite::tokens);
    ReadingSite whole{
        .name = "whole text", .queries = keys_of(trained_, shown(), AttentionSite::source), .keys = {}, .weights = {}};
    whole.queries.insert(whole.queries.end(), reading_.tokens.begin(), reading_.tokens.end());
    whole.keys = whole.queries;
    whole.mask = causal();
    for (std::size_t layer = 0; layer < static_cast<std::size_t>(scope.layers); ++layer) {
      whole.weights.emplace_back(trace_[scope.name(layer, "weights")].view().select(0, 0));
    }
    reading_.site = reading_.sites.size();
    reading_.sites.push_back(std::move(whole));
  }

  const ModelQuestion& question_;
  TrainedModel trained_;
  Asked asked_;
  TaskBatch batch_;
  Trace trace_;
  Reading reading_;
  std::vector<AttentionSite> places_;  // of reading_.sites
};

}  // namespace

Reading read_with_model(const ModelQuestion& question) {
  if (question.text && question.example) misuse("--example", "no text beside it", "one");
  return ModelReader(question, TrainedModel::read(trained_model_path(question.model))).read();
}

}  // namespace qkv::cli
