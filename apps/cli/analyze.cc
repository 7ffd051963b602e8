// qkv analyze: what the heads of a model do, over many texts.
#include <fmt/format.h>

#include <functional>
#include <span>

#include "commands.h"
#include "qkv/api/roles.h"
#include "qkv/api/syntax.h"
#include "qkv/insight/report.h"

namespace qkv::cli {
namespace {

struct AnalyzeFlags : AnalyzeRequest {
  std::string csv;
};

// The pictures, and the table where it was asked for: all files, or none.
void write_all(const Asked<AnalyzeFlags>& asked, std::span<const Drawing> drawings,
               const std::function<std::string()>& csv) {
  std::vector<FileContent> files = drawn(asked.how.pictures, drawings);
  if (!asked.csv.empty()) files.push_back(file_of(asked.csv, csv()));
  write_files(files);
  if (asked.how.json) return;
  for (const FileContent& file : files) print_text(fmt::format("written   {}\n", file.path));
}

void run_analyze(Asked<AnalyzeFlags>& asked, const Given& /*all*/) {
  make_folders(asked.how.pictures);
  if (!asked.syntax.empty()) {
    const SyntaxAnalysis analysis = found_syntax(asked, asked.how.saying());
    asked.how.tell(syntax_reply(analysis, asked.model),
                   [&] { return syntax_table(analysis, asked.model, kFewestPairs); });
    return write_all(asked, syntax_drawings(analysis), [&] { return syntax_csv(analysis); });
  }
  const HeadsFound found = found_heads(asked, asked.how.saying());
  const std::string& described = found.texts.described;
  asked.how.tell(roles_reply(*found.analysis, asked.model, described),
                 [&] { return heads_table(*found.analysis, asked.model, described); });
  write_all(asked, heads_drawings(found), [&] { return heads_csv(*found.analysis); });
}

Fields<AnalyzeFlags> fields_of_analyze() {
  Fields<AnalyzeFlags> fields;
  fields.add(analyze_fields());
  fields.add(&AnalyzeFlags::csv, {.name = "csv",
                                  .form = "FILE",
                                  .meaning = "Write a line for each head",
                                  .ending = ".csv",
                                  .file = FileUse::written,
                                  .example = "heads.csv"});
  return fields;
}

}  // namespace

void add_analyze(Commands& commands) {
  commands.add({.name = "analyze",
                .group = "Look inside",
                .footer = std::string(kModelIs) +
                          "Without --file it reads held-out examples of its task, or English\n"
                          "sentences. docs/insight.md says what each column means.\n"
                          "Examples:\n  qkv analyze induction\n  qkv analyze ./minilm --file mine.txt --csv heads.csv\n"
                          "  qkv analyze english --svg pictures",
                .places = {"model"}},
               asked(fields_of_analyze(), {"json", "folders", "threads"}), run_analyze);
}

}  // namespace qkv::cli
