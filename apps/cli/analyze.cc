// qkv analyze: what the heads of a model do, over many texts.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "commands.h"
#include "common_options.h"
#include "file_places.h"
#include "line_texts.h"
#include "misuse.h"
#include "opened_model.h"
#include "output.h"
#include "progress.h"
#include "qkv/api/models.h"
#include "qkv/api/roles.h"
#include "qkv/api/syntax.h"
#include "qkv/files.h"
#include "qkv/insight/report.h"
#include "qkv/insight/rollout.h"
#include "qkv/insight/syntax.h"
#include "qkv/threads.h"
#include "qkv/train/english_trees.h"
#include "terminal.h"

namespace qkv::cli {
namespace {

constexpr std::int64_t kTexts = 64;
constexpr std::int64_t kMostTexts = 100000;
constexpr std::size_t kMostFlow = 32;  // tokens: a flow for each pair of them takes too long beyond

struct AnalyzeArguments {
  std::string model;
  std::string text_file;
  std::string trees;  // "english", or a CoNLL-U file; empty: no syntax
  std::optional<std::string> site;
  std::optional<std::int64_t> count;  // kTexts by default
  std::int64_t importance = HeadOptions().importance_texts;
  std::uint64_t seed = 0;
  std::string csv, svg, png;
  std::optional<int> threads;
  bool json = false;
};

void require_places(const AnalyzeArguments& arguments) {
  check_files({{"MODEL", arguments.model}, {"--text", arguments.text_file}, {"--syntax", arguments.trees}},
              {{"--csv", arguments.csv}});
  for (const std::string& folder : {arguments.svg, arguments.png}) {
    if (folder.empty()) continue;
    std::error_code error;
    std::filesystem::create_directories(folder, error);
    if (error) throw Error(folder + ": " + error.message());
  }
}

HeadTexts texts_for(const AnalyzeArguments& arguments, const TextModel& trained) {
  if (arguments.text_file.empty()) {
    return of_option("MODEL", [&] { return texts_to_look_at(trained, arguments.count.value_or(kTexts)); });
  }
  return texts_of_lines(trained, "--text", arguments.text_file);
}

HeadOptions options_of(const AnalyzeArguments& arguments, const HeadTexts& texts) {
  HeadOptions options;
  options.importance_texts = arguments.importance;
  options.repeats = texts.repeats;
  options.masks = texts.masks;
  options.repeats.seed = options.masks.seed = arguments.seed;
  if (arguments.site) {
    std::erase_if(options.sites, [&](AttentionSite site) { return name_of(site) != *arguments.site; });
  }
  return options;
}

std::vector<PatternHead> patterns_of(const TextModel& trained, std::int64_t count,
                                     const std::vector<AttentionSite>& sites) {
  std::vector<PatternHead> patterns = pattern_heads(trained, count);
  std::erase_if(patterns, [&](const PatternHead& one) { return std::ranges::find(sites, one.site) == sites.end(); });
  return patterns;
}

FileContent file_of(const std::string& path, const std::string& text) {
  const auto bytes = std::as_bytes(std::span(text));
  return {path, {bytes.begin(), bytes.end()}};
}

// Of each site, in each format that has a folder; of the first text its rollout over tokens.
std::vector<FileContent> pictures_of(const AnalyzeArguments& arguments, const Model& model, const HeadTexts& texts,
                                     const HeadAnalysis& analysis) {
  std::vector<FileContent> files;
  if (arguments.svg.empty() && arguments.png.empty()) return files;
  const auto add = [&](AttentionSite site, std::string_view what, const auto& drawn) {
    const std::string name = fmt::format("/{}-{}", name_of(site), what);
    if (!arguments.svg.empty()) files.push_back(file_of(arguments.svg + name + ".svg", to_svg(drawn)));
    if (!arguments.png.empty()) files.push_back(file_of(arguments.png + name + ".png", to_png(drawn)));
  };
  for (const SiteHeads& site : analysis.sites) {
    add(site.site, "grid", heads_grid(site));
    add(site.site, "classes", classes_by_layer(site));
    add(site.site, "distances", head_distances(site));
    add(site.site, "entropy", entropy_by_depth(site));
    if (site.site != AttentionSite::tokens || model.traits().is_pair) continue;
    const HeadText& first = texts.texts.front();
    add(site.site, "rollout", rollout_maps(attention_rollout(model, first), texts.shown));
    if (first.ids.size() <= kMostFlow) add(site.site, "flow", flow_map(attention_flow(model, first), texts.shown));
  }
  return files;
}

void say_written(const AnalyzeArguments& arguments, const std::vector<FileContent>& files) {
  if (arguments.json) return;
  for (const FileContent& file : files) print_text(fmt::format("written   {}\n", file.path));
}

void write_all(const AnalyzeArguments& arguments, const Model& model, const HeadTexts& texts,
               const HeadAnalysis& analysis) {
  std::vector<FileContent> files = pictures_of(arguments, model, texts, analysis);
  if (!arguments.csv.empty()) files.push_back(file_of(arguments.csv, heads_csv(analysis)));
  write_files(files);
  say_written(arguments, files);
}

std::vector<ParsedSentence> trees_of(const AnalyzeArguments& arguments) {
  if (arguments.trees == "english") return english_trees(arguments.count.value_or(kTexts));
  if (arguments.count) misuse("--count", "--syntax english beside it: a file is read whole", arguments.trees);
  const std::vector<std::byte> bytes = read_file(arguments.trees);
  try {
    return parse_conllu({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
  } catch (const Error& error) {
    throw Error(arguments.trees + ": " + error.what());
  }
}

void run_syntax(const AnalyzeArguments& arguments, const TextModel& trained) {
  constexpr std::int64_t kFewestPairs = 10;
  const std::vector<ParsedSentence> sentences = trees_of(arguments);
  const SyntaxAnalysis analysis = of_option("--syntax", [&] { return analyze_syntax(trained, sentences); });
  std::vector<FileContent> files;
  if (!arguments.csv.empty()) files.push_back(file_of(arguments.csv, syntax_csv(analysis)));
  const Panel maps = relations_by_head(analysis, kFewestPairs);
  const bool has_maps = !maps.heatmaps.empty();  // not of a few pairs
  if (has_maps && !arguments.svg.empty()) files.push_back(file_of(arguments.svg + "/relations.svg", to_svg(maps)));
  if (has_maps && !arguments.png.empty()) files.push_back(file_of(arguments.png + "/relations.png", to_png(maps)));
  write_files(files);
  if (arguments.json) {
    print(reply_as_json(syntax_reply(analysis, arguments.model)));
  } else {
    print_text(syntax_table(analysis, arguments.model, kFewestPairs));
  }
  say_written(arguments, files);
}

void run_analyze(AnalyzeArguments& arguments, const Given& /*all*/) {
  if (arguments.threads) set_threads(*arguments.threads);
  require_places(arguments);
  const TrainedModel trained = opened_model("qkv analyze", arguments.model);
  if (!arguments.trees.empty()) return run_syntax(arguments, trained);
  const HeadTexts texts = texts_for(arguments, trained);
  HeadOptions options = options_of(arguments, texts);
  const HeadAnalysis analysis = [&] {
    Progress line;
    options.doing = [&](const std::string& what, std::int64_t, std::int64_t) { line.show(what); };
    try {
      HeadAnalysis all = analyze_heads(trained.model(), texts.texts, options);
      if (arguments.text_file.empty()) {
        all.patterns = patterns_of(trained, arguments.count.value_or(kTexts), options.sites);
      }
      return all;
    } catch (const InvalidArgument& error) {
      if (error.argument() == "sites") misuse("--site", error.expected(), error.got());
      if (error.function() == "threads") throw;
      misuse(arguments.text_file.empty() ? "MODEL" : "--text", error.expected(), error.got());
    }
  }();
  if (arguments.json) {
    print(reply_as_json(roles_reply(analysis, arguments.model, texts.described)));
  } else {
    print_text(heads_table(analysis, arguments.model, texts.described));
  }
  write_all(arguments, trained.model(), texts, analysis);
}

void add_texts(Fields<AnalyzeArguments>& fields) {
  fields.add(&AnalyzeArguments::model, {.name = "model", .meaning = "Whose heads", .required = true});
  fields.add(&AnalyzeArguments::text_file,
             {.name = "text", .form = "FILE", .meaning = "Read each line of a file", .excludes = {"count", "syntax"}});
  fields.add(&AnalyzeArguments::count, {.name = "count",
                                        .form = "N",
                                        .meaning = fmt::format("Examples or sentences, without --text [{}]", kTexts),
                                        .least = 1,
                                        .most = kMostTexts,
                                        .excludes = {"text"}});
  fields.add(&AnalyzeArguments::trees, {.name = "syntax",
                                        .form = "TREES",
                                        .meaning = "Instead: hold heads against trees, a CoNLL-U file's or english",
                                        .excludes = {"text", "site", "importance"}});
}

void add_heads(Fields<AnalyzeArguments>& fields) {
  fields.add(&AnalyzeArguments::site, {.name = "site",
                                       .form = "SITE",
                                       .meaning = "One site: tokens, source or cross",
                                       .words = {"tokens", "source", "cross"},
                                       .excludes = {"syntax"}});
  fields.add(&AnalyzeArguments::importance, {.name = "importance",
                                             .form = "N",
                                             .meaning = "Measure the loss without each head on N texts; 0: not",
                                             .least = 0,
                                             .most = kMostTexts,
                                             .excludes = {"syntax"}});
  fields.add(&AnalyzeArguments::seed, seed_field("Of the random tokens that come twice, and of those masked"));
}

Fields<AnalyzeArguments> fields_of_analyze() {
  Fields<AnalyzeArguments> fields;
  add_texts(fields);
  add_heads(fields);
  fields.add(&AnalyzeArguments::csv, {.name = "csv", .form = "FILE", .meaning = "Write a line for each head"});
  fields.add(&AnalyzeArguments::svg, {.name = "svg", .form = "DIR", .meaning = "Write pictures into a folder"});
  fields.add(&AnalyzeArguments::png, {.name = "png", .form = "DIR", .meaning = "Likewise as PNG"});
  fields.add(&AnalyzeArguments::json, json_field());
  fields.add(&AnalyzeArguments::threads, threads_field());
  fields.give_examples({{"model", "induction"},
                        {"text", "texts.txt"},
                        {"syntax", "english"},
                        {"csv", "heads.csv"},
                        {"svg", "pictures"},
                        {"png", "pictures"}});
  return fields;
}

}  // namespace

void add_analyze(Commands& commands) {
  commands.add({.name = "analyze",
                .summary = "What the heads of a model do, over many texts",
                .group = "Look inside",
                .footer = "MODEL is one of the box, a model file of your own, or a folder as models are\n"
                          "published. Without --text it reads held-out examples of its task, or English\n"
                          "sentences. docs/insight.md says what each column means.\n"
                          "Examples:\n  qkv analyze induction\n  qkv analyze ./minilm --text mine.txt --csv heads.csv\n"
                          "  qkv analyze english --svg pictures",
                .places = {"model"}},
               fields_of_analyze(), run_analyze);
}

}  // namespace qkv::cli
