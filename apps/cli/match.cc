// qkv match: which caption belongs to which picture, by two towers.
#include "qkv/api/match.h"

#include <fmt/format.h>

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "commands.h"
#include "common_options.h"
#include "explain_files.h"
#include "explain_page.h"
#include "file_places.h"
#include "lines.h"
#include "misuse.h"
#include "opened_model.h"
#include "output.h"
#include "qkv/api/explain.h"
#include "qkv/api/pictures.h"
#include "qkv/files.h"
#include "qkv/threads.h"
#include "terminal.h"

namespace qkv::cli {
namespace {

constexpr const char* kWords = "image caption";  // shown as IMAGE CAPTION

struct MatchArguments : MatchRequest {
  std::vector<std::string> words;  // pictures and captions
  std::string file;
  std::string out;
  bool json = false;
  TerminalLook look;
  std::optional<int> threads;
  ExplainFiles files;
};

// The words first, then what --caption and the file say.
MatchQuestion question_of(const MatchArguments& arguments) {
  MatchRequest request = arguments;
  request.captions.clear();
  for (const std::string& word : arguments.words)
    (is_picture(word) ? request.images : request.captions).push_back(word);
  request.captions.insert(request.captions.end(), arguments.captions.begin(), arguments.captions.end());
  if (!arguments.file.empty()) {
    const std::vector<std::string> lines = lines_of(arguments.file, EmptyLines::left_out).texts;
    request.captions.insert(request.captions.end(), lines.begin(), lines.end());
  }
  if (request.images.empty()) misuse("IMAGE", "a PNG file or more", "none");
  if (request.captions.empty()) misuse("CAPTION", "a text or more, here, as --caption or in --file", "none");
  return match_question(request);
}

// What the library says of a picture or a text is said of the reader's own.
void refuse_match(const MatchQuestion& question, const InvalidArgument& error) {
  const std::string& argument = error.argument();
  if (error.function() == "match_pairs") {
    for (std::size_t n = 0; n < question.names.size(); ++n) {
      if (argument == fmt::format("pictures[{}]", n)) misuse(question.names[n], error.expected(), error.got());
    }
    for (std::size_t n = 0; n < question.captions.size(); ++n) {
      if (argument == fmt::format("texts[{}]", n)) {
        misuse("CAPTION \"" + question.captions[n] + "\"", error.expected(), error.got());
      }
    }
    if (argument == "model") misuse("--model", error.expected(), error.got());
  }
}

// Pictures first, then captions: [I + T, d_embedding].
void write_vectors(const std::string& path, const PairMatch& match) {
  std::vector<double> all = match.images.view().to_vector();
  const std::vector<double> texts = match.texts.view().to_vector();
  all.insert(all.end(), texts.begin(), texts.end());
  const Tensor vectors(all, {match.images.dim(0) + match.texts.dim(0), match.images.dim(1)});
  write_tensor(path, Tensor(vectors, DType::f32));
}

void require_places(const MatchArguments& arguments) {
  std::vector<FilePlace> read = {{"--model", arguments.model}, {"--file", arguments.file}};
  for (const std::string& word : arguments.words) {
    if (is_picture(word)) read.push_back({"IMAGE", word});
  }
  const std::string out =
      arguments.out.empty() ? "" : of_option("--out", [&] { return parse_tensor_path(arguments.out).file; });
  check_files(read, {{"--out", out}, {"--html", arguments.files.html}});
}

void run_match(MatchArguments& arguments, const Given& /*all*/) {
  if (arguments.threads) set_threads(*arguments.threads);
  if (arguments.json && arguments.files.prints_page()) {
    misuse("--html", "a file beside --json, for standard output holds one of them", "-");
  }
  arguments.maps = arguments.maps || arguments.files.wants_any();
  arguments.files.require_writable();
  require_places(arguments);
  const MatchQuestion question = question_of(arguments);
  const TrainedModel model = opened_model("qkv match", arguments.model);
  const PairMatch match = [&] {
    try {
      return match_pairs(model, question.pictures, question.captions);
    } catch (const InvalidArgument& error) {
      refuse_match(question, error);
      throw;
    }
  }();
  const Explanation explanation = explain_match(model, question, match);
  const std::string page = arguments.files.html.empty() ? "" : match_page(arguments.model, question, explanation);
  arguments.files.write(explanation, page);
  if (!arguments.out.empty()) write_vectors(arguments.out, match);
  if (arguments.json) {
    const auto& towers = std::get<TwoTower>(model.model().network());
    MatchFigures figures = match_figures(question, match, towers, arguments.model);
    if (arguments.maps) figures.explanation = explained(explanation, Explained::in_numbers);
    print(reply_as_json(figures));
  } else if (arguments.files.prints_page()) {
    print(page);
  } else {
    print(to_text(explanation, {.terminal = terminal_options(arguments.look.color, arguments.look.width)}));
    if (arguments.files.wants_any()) print("\n" + arguments.files.report());
    if (!arguments.out.empty()) print(fmt::format("vectors   {}\n", arguments.out));
  }
}

Fields<ExplainFiles> files_of_match() {
  Fields<ExplainFiles> fields;
  fields.add(&ExplainFiles::html,
             {.name = "html", .form = "FILE", .meaning = "Write one self-contained page with the maps; `-` prints it"});
  fields.add(&ExplainFiles::svg,
             {.name = "svg", .form = "DIR", .meaning = "Write every picture as SVG into this directory"});
  fields.add(&ExplainFiles::png,
             {.name = "png", .form = "DIR", .meaning = "Write every picture as PNG into this directory"});
  fields.give_examples({{"html", "page.html"}, {"svg", "pictures"}, {"png", "pictures"}});
  return fields;
}

Fields<MatchArguments> fields_of_match() {
  Fields<MatchArguments> fields;
  fields.add(&MatchArguments::words,
             {.name = kWords, .meaning = "Pictures and what they may show, in any order", .required = true});
  fields.add(match_fields());
  fields.remove(std::array<std::string_view, 1>{"images"});
  fields.add(&MatchArguments::file, {.name = "file", .form = "FILE", .meaning = "A caption on each line of a file"});
  fields.add(&MatchArguments::files, files_of_match());
  fields.add(&MatchArguments::out,
             {.name = "out", .form = "FILE", .meaning = "Write the vectors, pictures first, as .npy"});
  fields.add(&MatchArguments::json, json_field());
  fields.add(&MatchArguments::look, terminal_fields());
  fields.add(&MatchArguments::threads, threads_field());
  fields.give_examples({{kWords, "shapes.png"}, {"file", "captions.txt"}, {"out", "vectors.npy"}});
  return fields;
}

}  // namespace

void add_match(Commands& commands) {
  commands.add({.name = "match",
                .summary = "Which caption belongs to which picture, by two towers",
                .group = "Models",
                .footer = "IMAGE is a PNG file, CAPTION any other word. Pictures are brought to the size\n"
                          "that the model reads; those of a folder of CLIP or SigLIP as it says itself.\n"
                          "Examples:\n  qkv match scene.png \"top left a red circle above a blue square\"\n"
                          "  qkv match a.png b.png \"a cat\" \"a dog\" --model clip-vit-base --html maps.html",
                .places = {kWords}},
               fields_of_match(), run_match);
}

}  // namespace qkv::cli
