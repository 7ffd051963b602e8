// qkv analyze: what the heads of a model do, over many texts.
#include <fmt/format.h>

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "commands.h"
#include "common_options.h"
#include "file_places.h"
#include "lines.h"
#include "output.h"
#include "pictures.h"
#include "qkv/api/roles.h"
#include "qkv/api/syntax.h"
#include "qkv/files.h"
#include "qkv/insight/report.h"
#include "saying.h"
#include "terminal.h"

namespace qkv::cli {
namespace {

struct AnalyzeFlags : AnalyzeRequest, ThreadsFlag {
  std::string csv;
  PictureFolders folders;
  bool json = false;
};

// The pictures, and the table where it was asked for: all files, or none.
void write_all(const AnalyzeFlags& flags, std::span<const Drawing> drawings, const std::function<std::string()>& csv) {
  std::vector<FileContent> files = drawn(flags.folders, drawings);
  if (!flags.csv.empty()) files.push_back(file_of(flags.csv, csv()));
  write_files(files);
  if (flags.json) return;
  for (const FileContent& file : files) print_text(fmt::format("written   {}\n", file.path));
}

void run_syntax(const AnalyzeFlags& flags) {
  const SyntaxAnalysis analysis = found_syntax(flags, saying_of("qkv analyze"));
  if (flags.json) {
    print(reply_as_json(syntax_reply(analysis, flags.model)));
  } else {
    print_text(syntax_table(analysis, flags.model, kFewestPairs));
  }
  write_all(flags, syntax_drawings(analysis), [&] { return syntax_csv(analysis); });
}

void run_analyze(AnalyzeFlags& flags, const Given& /*all*/) {
  check_files({{"MODEL", flags.model}, {"--text", flags.file.path}, {"--syntax", flags.syntax}},
              {{"--csv", flags.csv}});
  prepare(flags.folders);
  if (!flags.syntax.empty()) return run_syntax(flags);
  read_input(flags.file);
  const HeadsFound found = [&] {
    Progress line;
    return found_heads(flags, saying_of("qkv analyze", line));
  }();
  const std::string& described = found.texts.described;
  if (flags.json) {
    print(reply_as_json(roles_reply(*found.analysis, flags.model, described)));
  } else {
    print_text(heads_table(*found.analysis, flags.model, described));
  }
  write_all(flags, heads_drawings(found), [&] { return heads_csv(*found.analysis); });
}

Fields<AnalyzeFlags> fields_of_analyze() {
  using F = AnalyzeFlags;
  Fields<F> fields;
  fields.add(analyze_fields());
  fields.add(&F::csv, {.name = "csv", .form = "FILE", .meaning = "Write a line for each head"});
  fields.add(&F::folders, picture_folder_fields("Write pictures into a folder", "Likewise as PNG"));
  fields.add(&F::json, json_field());
  fields.add(threads_flag());
  fields.give_examples({{"csv", "heads.csv"}});
  return fields;
}

}  // namespace

void add_analyze(Commands& commands) {
  commands.add({.name = "analyze",
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
