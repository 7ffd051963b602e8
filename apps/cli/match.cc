// qkv match: which caption belongs to which picture, by two towers.
#include "qkv/api/match.h"

#include <fmt/format.h>

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "commands.h"
#include "explain_files.h"
#include "file/explain_page.h"
#include "file/page_file.h"
#include "qkv/api/pictures.h"
#include "qkv/files.h"

namespace qkv::cli {
namespace {

constexpr const char* kWords = "image caption";  // shown as IMAGE CAPTION

struct MatchFlags : MatchRequest {
  std::vector<std::string> words;  // pictures and captions
  std::string out;
};

// The words first, whose number is returned, then what --caption says.
std::size_t sort_words(MatchFlags& flags) {
  std::vector<std::string> captions;
  for (const std::string& word : flags.words) (is_picture(word) ? flags.images : captions).push_back(word);
  flags.captions.insert(flags.captions.begin(), captions.begin(), captions.end());
  if (flags.images.empty()) misuse("images", "a PNG file or more", "none");
  if (flags.captions.empty() && flags.file.path.empty()) {
    misuse("images", "a caption or more, here, as --caption or in --file", "none");
  }
  return captions.size();
}

void run_match(Asked<MatchFlags>& asked, const Given& /*all*/) {
  const Manner& how = asked.how;
  asked.maps = asked.maps || how.wants_files();
  if (!how.page.empty()) studio::require_pages();
  const std::size_t among_images = sort_words(asked);
  const MatchFound found = found_match(asked, how.saying(), among_images);
  const std::string page = how.page.empty() ? "" : studio::match_page(asked, found);
  if (!asked.out.empty()) write_tensor(asked.out, vectors_of(found.match));
  give(
      how, found.explanation, page, [&] { return reply_as_json(how.cautioned(match_figures(asked, found))); },
      [&] { return to_text(found.explanation, {.terminal = how.terminal()}); });
  if (!asked.out.empty() && !how.json && !how.prints_page()) print(fmt::format("vectors   {}\n", asked.out));
}

Fields<Asked<MatchFlags>> fields_of_match() {
  Fields<MatchFlags> own;
  own.add(&MatchFlags::words, {.name = kWords,
                               .form = "FILE|TEXT",
                               .meaning = "Pictures and what they may show, in any order",
                               .required = true,
                               .example = "shapes.png"});
  own.add(match_fields());
  own.info("numbers").needs.emplace_back("json");
  own.add(&MatchFlags::out, {.name = "out",
                             .form = "FILE",
                             .meaning = "Write the vectors, pictures first, as .npy",
                             .file = FileUse::tensor,
                             .example = "vectors.npy"});
  own.tell_arguments({{kWords, {"images"}}});
  auto fields = asked(own, {"json", "html", "folders", "color", "width", "threads"});
  fields.remove(std::array<std::string_view, 2>{"images", "pdf"});
  fields.info("html").meaning = "Write one self-contained page with the maps; `-` prints it";
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
