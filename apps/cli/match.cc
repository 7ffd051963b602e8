// qkv match: which caption belongs to which picture, by two towers.
#include "qkv/api/match.h"

#include <fmt/format.h>

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "commands.h"
#include "common_options.h"
#include "explain_files.h"
#include "file/explain_page.h"
#include "file_places.h"
#include "lines.h"
#include "misuse.h"
#include "output.h"
#include "qkv/api/pictures.h"
#include "qkv/files.h"
#include "saying.h"
#include "terminal.h"

namespace qkv::cli {
namespace {

constexpr const char* kWords = "image caption";  // shown as IMAGE CAPTION

struct MatchFlags : MatchRequest, ThreadsFlag {
  std::vector<std::string> words;  // pictures and captions
  std::string out;
  bool json = false;
  TerminalLook look;
  ExplainFiles files;
};

// The words first, then what --caption says.
void sort_words(MatchFlags& flags) {
  std::vector<std::string> captions;
  for (const std::string& word : flags.words) (is_picture(word) ? flags.images : captions).push_back(word);
  flags.captions.insert(flags.captions.begin(), captions.begin(), captions.end());
  if (flags.images.empty()) misuse("images", "a PNG file or more", "none");
  if (flags.captions.empty() && flags.file.path.empty()) {
    misuse("images", "a caption or more, here, as --caption or in --file", "none");
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

void require_places(const MatchFlags& flags) {
  std::vector<FilePlace> read = {{"--model", flags.model}, {"--file", flags.file.path}};
  for (const std::string& image : flags.images) read.push_back({"IMAGE CAPTION", image});
  check_files(read, {{"--out", file_of_tensor("--out", flags.out)}, {"--html", flags.files.html}});
}

void run_match(MatchFlags& flags, const Given& /*all*/) {
  if (flags.json && flags.files.prints_page()) {
    misuse("--html", "a file beside --json, for standard output holds one of them", "-");
  }
  flags.maps = flags.maps || flags.files.wants_any();
  flags.files.require_writable();
  sort_words(flags);
  require_places(flags);
  read_input(flags.file);
  const MatchFound found = found_match(flags, saying_of("qkv match"));
  const std::string page = flags.files.html.empty() ? "" : studio::match_page(flags, found);
  flags.files.write(found.explanation, page);
  if (!flags.out.empty()) write_vectors(flags.out, found.match);
  if (flags.json) {
    print(reply_as_json(match_figures(flags, found)));
  } else if (flags.files.prints_page()) {
    print(page);
  } else {
    print(to_text(found.explanation, {.terminal = terminal_options(flags.look.color, flags.look.width)}));
    if (flags.files.wants_any()) print("\n" + flags.files.report());
    if (!flags.out.empty()) print(fmt::format("vectors   {}\n", flags.out));
  }
}

Fields<MatchFlags> fields_of_match() {
  Fields<MatchFlags> fields;
  fields.add(&MatchFlags::words,
             {.name = kWords,
              .meaning = "Pictures and what they may show, in any order; in JSON `images` and `captions`",
              .required = true});
  fields.add(match_fields());
  fields.remove(std::array<std::string_view, 1>{"images"});
  fields.info("numbers").needs.emplace_back("json");
  fields.add(&MatchFlags::files, explain_file_fields("Write one self-contained page with the maps; `-` prints it"));
  fields.add(&MatchFlags::out,
             {.name = "out", .form = "FILE", .meaning = "Write the vectors, pictures first, as .npy"});
  fields.add(&MatchFlags::json, json_field());
  fields.add(&MatchFlags::look, terminal_fields());
  fields.add(threads_flag());
  fields.tell_arguments({{kWords, {"images"}}});
  fields.give_examples({{kWords, "shapes.png"}, {"out", "vectors.npy"}});
  return fields;
}

}  // namespace

void add_match(Commands& commands) {
  commands.add({.name = "match",
                .group = "Models",
                .footer = "IMAGE is a PNG file, CAPTION any other word. Pictures are brought to the size\n"
                          "that the model reads; those of a folder of CLIP or SigLIP as it says itself.\n"
                          "Examples:\n  qkv match scene.png \"top left a red circle above a blue square\"\n"
                          "  qkv match a.png b.png \"a cat\" \"a dog\" --model clip-vit-base --html maps.html",
                .places = {kWords}},
               fields_of_match(), run_match);
}

}  // namespace qkv::cli
