// The options of qkv explain.
#include <array>
#include <string_view>

#include "explain_arguments.h"

namespace qkv::cli {
namespace {

// What the question has for pages alone, or in another form.
constexpr std::array<std::string_view, 4> kOfPages = {"numbers", "match", "head", "why"};

void add_parts(Fields<ExplainFlags>& fields) {
  fields.add(&ExplainFlags::head_name, {.name = "head",
                                        .form = "1.5",
                                        .meaning = "Whose steps to show: layer 1, head 5 [what the text calls for]",
                                        .group = "A trained model"});
  fields.add(&ExplainFlags::all,
             {.name = "all",
              .form = "full",
              .meaning = "The heads that show a pattern, too; --all=full every head and step. Beside --query or --why "
                         "every step",
              .words = {"full"},
              .alone = "known"});
  fields.add(
      &ExplainFlags::steps,
      {.name = "step", .form = "STEPS", .meaning = "Only these: 7, 5-8, softmax, 3,softmax", .excludes = {"all"}});
  FieldInfo whys{.name = "why",
                 .form = "KIND",
                 .meaning = "Answer why, and nothing else; or only some: variance,order",
                 .words = {"all"},
                 .alone = "all"};
  whys.words.insert(whys.words.end(), kWhyIds.begin(), kWhyIds.end());
  fields.add(&ExplainFlags::whys, std::move(whys));
  fields.give_examples({{"head", "1.0"}, {"step", "softmax"}});
}

void add_outputs(Fields<ExplainFlags>& fields) {
  fields.add(&ExplainFlags::look, terminal_fields());
  fields.add(&ExplainFlags::json, json_field("Print it as JSON, every cell with all its digits"));
  fields.add(&ExplainFlags::files, explain_file_fields("Write one self-contained page; `-` prints it"));
  fields.add(&ExplainFlags::prints, {.name = "print", .meaning = "Print the explanation beside these files, too"});
  fields.add(&ExplainFlags::quiet, {.name = "quiet", .meaning = "Print nothing, not even what was written"});
}

}  // namespace

Fields<ExplainFlags> fields_of_explain() {
  Fields<ExplainFlags> fields;
  fields.add(explain_fields());
  fields.remove(kOfPages);
  fields.info("captions").option = "caption";
  add_parts(fields);
  add_outputs(fields);
  return fields;
}

}  // namespace qkv::cli
