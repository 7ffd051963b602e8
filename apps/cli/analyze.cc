// qkv analyze: what the heads of a model do, over many texts.
#include <fmt/format.h>

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
#include "terminal.h"

namespace qkv::cli {
namespace {

constexpr std::size_t kMostFlow = 32;  // tokens: a flow for each pair of them takes too long beyond

struct AnalyzeArguments : AnalyzeRequest {
  std::string text_file;
  std::string csv, svg, png;
  std::optional<int> threads;
  bool json = false;
};

void require_places(const AnalyzeArguments& arguments) {
  check_files({{"MODEL", arguments.model}, {"--text", arguments.text_file}, {"--syntax", arguments.syntax}},
              {{"--csv", arguments.csv}});
  for (const std::string& folder : {arguments.svg, arguments.png}) {
    if (folder.empty()) continue;
    std::error_code error;
    std::filesystem::create_directories(folder, error);
    if (error) throw Error(folder + ": " + error.message());
  }
}

HeadTexts texts_for(const AnalyzeArguments& arguments, const TextModel& trained) {
  if (arguments.text_file.empty()) return analyzed_texts(arguments, trained);
  return texts_of_lines(trained, "--text", arguments.text_file);
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

void run_syntax(const AnalyzeArguments& arguments, const TextModel& trained) {
  constexpr std::int64_t kFewestPairs = 10;
  const std::vector<ParsedSentence> sentences = analyzed_trees(arguments);
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
  if (!arguments.syntax.empty()) return run_syntax(arguments, trained);
  const HeadTexts texts = texts_for(arguments, trained);
  const ReadTexts whose = arguments.text_file.empty() ? ReadTexts::of_task : ReadTexts::own;
  const HeadAnalysis analysis = [&] {
    Progress line;
    const auto doing = [&](const std::string& what, std::int64_t, std::int64_t) { line.show(what); };
    try {
      return analyzed(arguments, trained, texts, whose, doing);
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

Fields<AnalyzeArguments> fields_of_analyze() {
  Fields<AnalyzeArguments> fields;
  fields.add(analyze_fields());
  fields.info("count").excludes = {"text"};
  fields.info("syntax").excludes.emplace_back("text");
  fields.add(&AnalyzeArguments::text_file, {.name = "text",
                                            .form = "FILE",
                                            .meaning = "Instead of examples: read each line of a file",
                                            .excludes = {"count", "syntax"}});
  fields.add(&AnalyzeArguments::csv, {.name = "csv", .form = "FILE", .meaning = "Write a line for each head"});
  fields.add(&AnalyzeArguments::svg, {.name = "svg", .form = "DIR", .meaning = "Write pictures into a folder"});
  fields.add(&AnalyzeArguments::png, {.name = "png", .form = "DIR", .meaning = "Likewise as PNG"});
  fields.add(&AnalyzeArguments::json, json_field());
  fields.add(&AnalyzeArguments::threads, threads_field());
  fields.give_examples({{"text", "texts.txt"}, {"csv", "heads.csv"}, {"svg", "pictures"}, {"png", "pictures"}});
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
