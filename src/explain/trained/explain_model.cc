#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>

#include "core/number_text.h"
#include "explain/trained/asked.h"
#include "explain/trained/chosen_head.h"
#include "explain/trained/long_text.h"
#include "explain/trained/model_run.h"
#include "explain/trained/path.h"
#include "explain/trained/rests_on.h"
#include "explain/trained/sites.h"
#include "explain/words.h"
#include "insight/asked_text.h"
#include "insight/find_token.h"
#include "insight/removed_heads.h"
#include "insight/text_batch.h"
#include "nn/trace_record.h"
#include "qkv/explain/model.h"
#include "qkv/softmax.h"

namespace qkv {
namespace {

using namespace explain_detail;

// Multiplications that removing each head in turn may take where nobody asks for it: about a second.
constexpr double kMostRemovalWork = 1e11;
constexpr std::int64_t kLeastTokensOfPass = 8;  // fewer take as long: the weights are read
constexpr double kSlowerInF64 = 16;             // as products in f64 are plain loops

// The tokens of a long text that are shown in full.
Example rows_of(const Example& whole, std::int64_t first) {
  const auto part = [&](const auto& all) {
    using List = std::decay_t<decltype(all)>;
    return all.empty() ? List() : List(all.begin() + first, all.begin() + first + kRowsInFull);
  };
  Example rows = whole;
  rows.tokens = part(whole.tokens);
  rows.labels = part(whole.labels);
  rows.scored = part(whole.scored);
  rows.patterns.clear();
  return rows;
}

class ModelReader {
 public:
  ModelReader(const TextModel& trained, const ModelQuestion& question)
      : trained_(trained),
        question_(question),
        asked_(asked_of(trained, question)),
        batch_(trained.batch_of(asked_.shown)),
        read_(asked_.shown) {
    require_length(std::max(batch_.ids.dim(1), batch_.patches));
    run_.query = question.query;
    run_.sources = asked_.sources;
    if (!run_.sources.empty()) run_.sources.resize(shown().tokens.size(), "answer");
    if (is_long()) {
      run_long();
    } else {
      trained_.model().run(input_of(batch_), trace_);
    }
    run_.tokens = texts_of(trained_.tokenizer(), shown().tokens);
  }

  Explanation explained() {
    describe();
    if (!asked_.pairs.empty()) {
      add_captions();
    } else if (is_pair(trained_)) {
      run_.notes.emplace_back(shown().image.empty()
                                  ? "the tower of texts alone: give a picture, with captions, for both"
                                  : "the tower of images alone: give captions beside the picture for both");
    } else if (says_tokens()) {
      add_answers();
    } else if (trained_.traits().sees) {
      add_classes();
    } else {
      run_.notes.emplace_back("a model of states alone: it says no tokens");
    }
    if (!question_.example) add_warnings();
    if (!shown().image.empty()) run_.image = covered_colours(trained_, shown());
    run_.whys = question_.whys;
    add_attention();
    if ((says_tokens() || !asked_.pairs.empty()) && !shows_removal()) {
      run_.notes.push_back(fmt::format(
          "left out: what each head's removal does, which {}",
          is_long()
              ? fmt::format("is shown for texts of up to {} tokens", kWholeTokens)
              : fmt::format("takes {} passes; ask for the step \"removal\", or sweep the heads", heads_in_all())));
    }
    add_maps();
    Explanation explanation = explain(run_, path());
    if (!is_long()) explanation.pass = pass_left();
    return explanation;
  }

 private:
  [[nodiscard]] const Example& shown() const { return asked_.shown; }

  // For whoever asks more of this text. Values of the trace, of which there are many, are let go.
  std::shared_ptr<const ModelPass> pass_left() {
    auto left = std::make_shared<ModelPass>(ModelPass{.example = shown(), .trace = trace_, .said = {}});
    if (says_tokens()) {
      const Tensor scores = trace_[stack_of(trained_) + "logits"];
      left->said =
          Tensor(scores.view().select(0, 0).select(0, insight::asked_row(trained_, shown(), batch_)), DType::f64);
    }
    trace_.record()->kept = {};
    return left;
  }

  [[nodiscard]] bool is_long() const { return is_long_text(trained_, read_); }

  // From here on the text is that of the rows that are shown in full.
  void run_long() {
    const std::vector<std::string> all = texts_of(trained_.tokenizer(), read_.tokens);
    const std::int64_t T = std::ssize(all);
    std::int64_t first = T - kRowsInFull;
    if (question_.query) {
      const insight::TokenChoice asked = insight::find_token("explain", "query", *question_.query, all);
      const std::string& token = all[static_cast<std::size_t>(asked.index)];
      first = std::clamp<std::int64_t>(asked.index + 1 - kRowsInFull, 0, first);
      run_.query = fmt::format("{}@{}", token, asked.index - first);
      if (asked.is_ambiguous) {
        run_.notes.push_back(fmt::format("“{0}” occurs {1} times in the text; this is {0}@{2}.", token,
                                         std::ranges::count(all, token), asked.index));
      }
    }
    chosen_ = choose_head(trained_, tokens_heads(), question_);
    const LongQuestion rows{.first = first, .layer = chosen_.layer};
    sites_.push_back(run_long_text(trained_, batch_, read_, rows, trace_));
    asked_.shown = rows_of(read_, first);
    if (!run_.sources.empty())
      run_.sources = {run_.sources.begin() + first, run_.sources.begin() + first + kRowsInFull};
    batch_ = trained_.batch_of(asked_.shown);
    run_.first = static_cast<std::size_t>(first);
    run_.notes.push_back(
        fmt::format("a long text, of {} tokens: steps show {} of its queries, {} to {}, over all keys; maps of whole "
                    "heads are means",
                    T, kRowsInFull, first, first + kRowsInFull - 1));
  }

  [[nodiscard]] HeadsOfSite tokens_heads() const {
    const Model& model = trained_.model();
    const auto layers = static_cast<std::size_t>(model.scope_of(AttentionSite::tokens)->layers);
    const auto heads = core::number_from<std::int64_t>(model.config().at("heads"));
    return {.name = std::string(name_of(AttentionSite::tokens)), .heads = std::vector(layers, heads.value())};
  }

  // An encoder may have no output map.
  [[nodiscard]] bool says_tokens() const { return trace_.contains(stack_of(trained_) + "logits"); }

  void require_length(std::int64_t length) const {
    const std::int64_t most = is_long() ? kLongestText : kExplainTokens;
    if (length <= most) return;
    refuse("text",
           fmt::format(
               "at most {} tokens: {}", most,
               is_long() ? "the time of all heads grows with their square" : "every T × T matrix is kept to be shown"),
           fmt::format("{}", length));
  }

  void describe() {
    const ModelConfig config = trained_.model().config();
    const std::string& task = trained_.task_name();
    const bool is_named = task == question_.title || task.empty();
    run_.title = is_named ? question_.title : fmt::format("{}: {}", task, question_.title);
    for (const char* setting : {"kind", "layers", "d_model", "positions"}) {
      const auto found = config.find(setting);
      if (found != config.end()) run_.settings.push_back({fmt::format("model {}", setting), found->second});
    }
    run_.settings.push_back({"model parameters", fmt::format("{}", trained_.model().parameter_count())});
  }

  void add_answers() {
    run_.probabilities = trained_.probabilities(shown(), trace_[stack_of(trained_) + "logits"]);
    const Tokenizer& vocabulary = trained_.tokenizer();
    add_tokens(vocabulary);
    // A joined text counts its source's tokens after those of its answers.
    if (trained_.joined_source_offset() > 0) {
      add_tokens(trained_.source_tokenizer());
    }
    run_.trained = asked_places();
    const bool has_labels = std::ranges::any_of(shown().labels, [](const auto& label) { return label.has_value(); });
    for (std::size_t p = 0; has_labels && p < shown().tokens.size(); ++p) {
      run_.expected.push_back(shown().scored[p] ? shown_token(vocabulary, *shown().labels[p]) : "");
    }
    if (question_.example) {
      note_expected();
    } else if (trained_.labels_tokens()) {
      note_labels();
    } else {
      note_written();
    }
  }

  // Where the task asks for something; empty where it asks everywhere.
  [[nodiscard]] std::vector<bool> asked_places() const {
    if (!question_.example) return trained_.asked(shown());
    std::vector<bool> places;
    for (const auto& label : shown().labels) places.push_back(label.has_value());
    return places;
  }

  void add_warnings() {
    for (const std::string& what : trained_.model().cautions()) run_.notes.push_back("careful: " + what);
    const std::string blocks = trained_.model().quantised_words();
    if (!blocks.empty()) run_.notes.push_back("careful: " + blocks);
    const std::int64_t side = trained_.lengths().image_side;
    const TensorView picture = question_.picture;
    const bool is_drawn = trained_.has_task() && picture.data() != nullptr;  // others say how theirs are resized
    if (is_drawn && (picture.dim(0) != side || picture.dim(1) != side)) {
      run_.notes.push_back(
          fmt::format("careful: it learned from pictures of {0} × {0} pixels; this one, of {1} × {2}, was resized",
                      side, picture.dim(1), picture.dim(0)));
    }
    if (is_pair(trained_) && asked_.pairs.empty()) return;
    for (const std::string& what : trained_.outside(read_)) run_.notes.push_back("careful: " + what);
    warn_of_unknown();
    warn_of_wrong_answer();
  }

  void warn_of_unknown() {
    const auto unknown = trained_.tokenizer().find("<unknown>");
    if (!unknown) return;
    const auto count = std::ranges::count(read_.tokens.begin(),
                                          read_.tokens.begin() + static_cast<std::ptrdiff_t>(asked_.prompt), *unknown);
    if (count > 0) {
      run_.notes.push_back(fmt::format(
          "careful: {} of these {} tokens are not in the text that it learned from, and are read as <unknown>", count,
          asked_.prompt));
    }
  }

  // Where the task knows what should have been said.
  void warn_of_wrong_answer() {
    std::vector<std::int32_t> expected;
    bool is_wrong = false;
    for (std::size_t p = 0; p < shown().tokens.size(); ++p) {
      if (!shown().labels[p] || !shown().scored[p]) continue;
      expected.push_back(*shown().labels[p]);
      is_wrong = is_wrong || likeliest_at(p) != expected.back();
    }
    if (is_wrong) run_.notes.push_back("careful: the task expects " + line_of(std::move(expected)));
  }

  void add_tokens(const Tokenizer& vocabulary) {
    for (std::int32_t token = 0; token < vocabulary.size(); ++token) {
      run_.vocabulary.push_back(shown_token(vocabulary, token));
    }
  }

  [[nodiscard]] std::int32_t likeliest_at(std::size_t place) const {
    return likeliest_in(run_.probabilities.view().select(0, static_cast<std::int64_t>(place)));
  }

  // Of the whole text, where that is a long one.
  [[nodiscard]] std::int32_t likeliest_next() const {
    const std::string last = kLastScores;
    return trace_.contains(last) ? likeliest_in(trace_[last].view().select(0, 0).select(0, 0))
                                 : likeliest_at(shown().tokens.size() - 1);
  }

  [[nodiscard]] std::int32_t likeliest_in(const TensorView& shares) const {
    const std::vector<double> row = shares.to_vector();
    const auto own = static_cast<std::ptrdiff_t>(trained_.tokenizer().size());
    return static_cast<std::int32_t>(std::max_element(row.begin(), row.begin() + own) - row.begin());
  }

  [[nodiscard]] std::string line_of(std::vector<std::int32_t> tokens) const {
    const std::string line = trained_.answer_text(std::move(tokens));
    return line.empty() ? "nothing" : line;
  }

  void note_expected() {
    std::vector<std::int32_t> predicted;
    std::vector<std::int32_t> expected;
    for (std::size_t p = 0; p < shown().tokens.size(); ++p) {
      if (!shown().labels[p]) continue;
      predicted.push_back(likeliest_at(p));
      expected.push_back(*shown().labels[p]);
    }
    run_.notes.push_back(fmt::format("predicted{}: {}",
                                     insight::is_writer(trained_) ? ", given the correct preceding tokens" : "",
                                     line_of(predicted)));
    run_.notes.push_back("expected: " + line_of(expected));
  }

  // Of a text of the reader's own.
  void note_labels() {
    std::vector<std::int32_t> said;
    for (std::size_t p = 0; p < shown().tokens.size(); ++p) {
      if (run_.trained.empty() || run_.trained[p]) said.push_back(likeliest_at(p));
    }
    run_.notes.push_back(said.empty() ? "says nothing: the task asks at none of these tokens"
                                      : "says: " + line_of(std::move(said)));
  }

  void note_written() {
    const auto begin = read_.tokens.begin() + static_cast<std::ptrdiff_t>(asked_.prompt);
    std::vector<std::int32_t> said(begin, read_.tokens.end());
    const std::int32_t last = likeliest_next();
    if (asked_.is_open) said.push_back(last);
    if (said.empty() && (!trained_.has_task() || !trained_.tokenizer().find("</s>"))) {
      const std::vector<bool> places = trained_.asked(read_);
      const bool is_asked = places.empty() || places.back();
      run_.notes.push_back(fmt::format("says next: {}{}", shown_token(trained_.tokenizer(), last),
                                       is_asked ? "" : ", where the task asks for nothing"));
      return;
    }
    run_.notes.push_back("says: " + line_of(said));
  }

  // Of an image alone.
  void add_classes() {
    const ImageEncoder& encoder = *trained_.model().parts().image_encoder;
    const std::int64_t patch = encoder.options().patches.patch_side;
    const std::int64_t learned = encoder.options().patches.image_side / patch;
    const std::int64_t down = shown().image.dim(1) / patch;
    const std::int64_t right = shown().image.dim(2) / patch;
    if (down != learned || right != learned) {
      run_.notes.push_back(
          fmt::format("the positions of {0} × {0} patches were resized to {1} × {2}", learned, down, right));
    }
    if (encoder.options().classes == 0) {
      run_.notes.emplace_back("a model of states alone: it tells no classes apart");
      return;
    }
    const Tensor scores(trace_["classes"].view().select(0, 0), DType::f64);
    const std::vector<double> shares = softmax(scores, -1).to_vector();
    const std::vector<std::string>& names = trained_.model().tokenizers().classes;
    for (std::size_t n = 0; n < shares.size(); ++n) {
      run_.classes.push_back({.name = n < names.size() ? names[n] : "",
                              .score = scores.at({static_cast<std::int64_t>(n)}),
                              .probability = shares[n]});
    }
    const auto likeliest = std::ranges::max_element(run_.classes, {}, &ClassShare::score);
    run_.notes.push_back(fmt::format("says: {} (probability {:.3f})", likeliest->name, likeliest->probability));
  }

  void add_captions() {
    const std::vector<double> cosines = trained_.cosines(asked_.pairs).to_vector();
    for (std::size_t n = 0; n < cosines.size(); ++n) {
      std::vector<std::int32_t> tokens = asked_.pairs[n].tokens;
      if (const auto begin = trained_.tokenizer().find("<s>")) std::erase(tokens, *begin);
      // The tokens of others are marked as their tokenizer marks them.
      run_.captions.push_back({trained_.has_task() ? line_of(tokens) : question_.captions[n], cosines[n]});
    }
    const auto nearest = std::ranges::max_element(run_.captions, {}, &CaptionCosine::cosine);
    run_.notes.push_back(fmt::format("nearest: {} (cosine {:.3f})", nearest->text, nearest->cosine));
  }

  [[nodiscard]] Ran ran() const {
    return {.trained = trained_, .example = shown(), .batch = batch_, .trace = trace_, .first = run_.first};
  }

  void add_attention() {
    if (!is_long()) {
      sites_ = sites_of(ran());
      chosen_ = choose_head(ran(), sites_, question_);
    }
    if (!chosen_.why.empty()) run_.notes.push_back(chosen_.why);
    run_.site = chosen_.site;
    run_.layer = chosen_.layer;
    run_.head = chosen_.head;
    run_.call = call_of(trace_, sites_[chosen_.site], chosen_.layer);
    for (const TracedSite& site : sites_) run_.sites.push_back(site.shown);
    describe_bias(run_.call.options.bias);
  }

  // Over the image: of each caption, or of each token that is said.
  void add_maps() {
    if (!asked_.pairs.empty()) {
      std::vector<ShownPair> pairs;
      for (std::size_t n = 0; n < asked_.pairs.size(); ++n) pairs.push_back({asked_.pairs[n], run_.captions[n].text});
      run_.maps = pair_maps_steps(trained_, pairs, 0);
    } else if (trained_.traits().reads_images && trained_.traits().writes) {
      const auto cross = std::ranges::find(run_.sites, name_of(AttentionSite::cross), &SiteWeights::name);
      SaidTokens tokens{.example = shown(), .said = {}, .marked = {}};
      for (std::size_t p = 0; p < shown().tokens.size(); ++p) {
        tokens.said.push_back(shown().labels[p] ? *shown().labels[p] : likeliest_at(p));
        tokens.marked.push_back(marks_of(*cross, p));
      }
      run_.maps = caption_maps_steps(trained_, tokens);
    }
  }

  // A learned bias is as many numbers as there are pairs.
  void describe_bias(const Bias& bias) {
    constexpr std::size_t kLongText = 60;
    if (bias.is_zero()) return;
    std::string text = bias.to_string();
    const ModelConfig config = trained_.model().config();
    const auto positions = config.find("positions");
    const bool is_t5 = config.contains("t5_beside") || (positions != config.end() && positions->second == "t5");
    if (is_t5) {
      text = "T5, learned";
    } else if (config.contains("relative_span")) {
      text = "scores of distances, learned";
    } else if (text.size() > kLongText) {
      text = "relative bias, learned";
    }
    run_.settings.push_back({"bias", std::move(text)});
  }

  // The token of the example that the question asks about.
  [[nodiscard]] std::optional<std::size_t> asked_place() const {
    if (!run_.query) return std::nullopt;
    const TracedSite& site = sites_[chosen_.site];
    auto place =
        static_cast<std::size_t>(insight::find_token("explain", "query", *run_.query, site.shown.queries).index);
    if (site.shown.name == name_of(AttentionSite::source)) return std::nullopt;
    const std::size_t before = site.is_whole ? shown().source.size() : 0;
    return place < before ? std::nullopt : std::optional(place - before);
  }

  // Of the sites that ran: one of two towers may stand alone.
  [[nodiscard]] std::int64_t heads_in_all() const {
    std::int64_t all = 0;
    for (const insight::OwnSite& site : insight::sites_of(trained_.model())) {
      const std::string heads = site.scope.name(0, "heads");
      if (trace_.contains(heads)) all += site.scope.layers * trace_[heads].dim(1);
    }
    return all;
  }

  [[nodiscard]] bool shows_removal() const {
    if (is_long()) return false;
    const auto passes = static_cast<double>(heads_in_all());
    const auto tokens =
        static_cast<double>(std::max({insight::tokens_of(input_of(batch_)), batch_.patches, kLeastTokensOfPass}));
    const double slower = trained_.model().dtype() == DType::f64 ? kSlowerInF64 : 1;
    const double of_a_token = slower * static_cast<double>(trained_.model().parameter_count());
    return question_.removal || passes * tokens * of_a_token <= kMostRemovalWork;
  }

  [[nodiscard]] std::vector<Section> path() const {
    const SiteScope& scope = sites_[chosen_.site].scope;
    const std::string block = fmt::format("{}blocks.{}", scope.stack, chosen_.layer);
    std::vector<Section> steps = block_sections(ran(), sites_, question_.blocks ? "" : block);
    for (Section& step : steps) step.is_detail = !question_.blocks;
    if (std::optional<Section> norm = final_norm_step(ran(), sites_)) steps.push_back(std::move(*norm));
    if (!asked_.pairs.empty()) {
      if (shows_removal()) steps.push_back(pair_removal_step(ran(), sites_));
      return steps;
    }
    if (run_.probabilities.empty()) return steps;
    const Answer answer = answer_of(ran(), chosen_, asked_place(), run_.probabilities);
    steps.push_back(answer_step(ran(), answer));
    if (std::optional<Section> parts = parts_step(ran(), answer)) steps.push_back(std::move(*parts));
    if (shows_removal()) steps.push_back(removal_step(ran(), sites_, answer));
    return steps;
  }

  const TextModel& trained_;
  const ModelQuestion& question_;
  Asked asked_;
  Batch batch_;
  const Example read_;                          // the whole text, of which asked_.shown may be a part
  Trace trace_{"*", "*blocks.*_norm.divisor"};  // the divisors for parts_step()
  ModelRun run_;
  std::vector<TracedSite> sites_;
  ChosenHead chosen_;
};

}  // namespace

Explanation explain_model(const TextModel& model, const ModelQuestion& question) {
  return ModelReader(model, question).explained();
}

}  // namespace qkv
