#include "qkv/api/match.h"

#include <fmt/format.h>

#include <utility>

#include "api/fields/refuse.h"
#include "qkv/files.h"
#include "qkv/png.h"

namespace qkv {

const Fields<MatchRequest>& match_fields() {
  static const Fields<MatchRequest> kFields = [] {
    using R = MatchRequest;
    Fields<R> fields;
    fields.add(&R::images, {.name = "images",
                            .form = "FILE",
                            .meaning = "Pictures: PNG files",
                            .needs_one = {"captions", "file"},
                            .required = true});
    fields.add(
        &R::model,
        {.name = "model", .form = "NAME", .meaning = "Two towers: of the box, a file, or a folder of CLIP or SigLIP"});
    FieldInfo captions{.name = "captions", .form = "TEXT", .meaning = "A caption, whatever it looks like"};
    captions.option = "caption";
    fields.add(&R::captions, std::move(captions));
    fields.add(&R::file,
               line_file_field({.name = "file", .form = "FILE", .meaning = "A caption on each line of a file"}));
    fields.add(&R::maps, {.name = "maps", .meaning = "Show what each cosine rests on, over the picture"});
    fields.add(&R::numbers, {.name = "numbers",
                             .meaning = "Also all tensors whole, and every value of these maps",
                             .needs = {"maps"},
                             .fallback = "true",
                             .example = "false"});
    fields.give_examples(
        {{"images", "shapes.png"}, {"model", "clip"}, {"captions", "a red circle"}, {"file", "captions.txt"}});
    return fields;
  }();
  return kFields;
}

namespace {

MatchQuestion match_question(const MatchRequest& request) {
  match_fields().require_company(request);
  MatchQuestion question{.title = "match: " + request.model,
                         .pictures = {},
                         .names = request.images,
                         .captions = request.captions,
                         .maps = request.maps};
  if (!request.file.path.empty()) {
    const std::vector<std::string> lines = texts_of(request.file, EmptyLines::left_out).texts;
    question.captions.insert(question.captions.end(), lines.begin(), lines.end());
  }
  for (const std::string& image : question.names) {
    question.pictures.push_back(api_detail::of_path("images", [&] { return decode_png(read_file(image), image); }));
  }
  return question;
}

}  // namespace

MatchFound found_match(const MatchRequest& request, const Saying& saying) {
  MatchFound found{.question = match_question(request), .match = {}, .explanation = {}, .loss = {}};
  const MatchQuestion& question = found.question;
  const OpenedModel model = open_model(request.model, saying);
  const auto place_of = [&](const std::string& argument) -> std::optional<std::string> {
    for (std::size_t n = 0; n < question.names.size(); ++n) {
      if (argument == fmt::format("pictures[{}]", n)) return "images: " + question.names[n];
    }
    for (std::size_t n = 0; n < question.captions.size(); ++n) {
      if (argument == fmt::format("texts[{}]", n)) return "captions: \"" + question.captions[n] + "\"";
    }
    return std::nullopt;
  };
  found.match =
      api_detail::of_places(place_of, [&] { return match_pairs(*model, question.pictures, question.captions); });
  found.explanation = explain_match(*model, question, found.match);
  found.loss = model->model().parts().towers->options().loss;
  return found;
}

Tensor vectors_of(const PairMatch& match) {
  std::vector<double> all = match.images.view().to_vector();
  const std::vector<double> texts = match.texts.view().to_vector();
  all.insert(all.end(), texts.begin(), texts.end());
  const Tensor vectors(all, {match.images.dim(0) + match.texts.dim(0), match.images.dim(1)});
  return {vectors, DType::f32};
}

MatchFigures answer(const MatchRequest& request, const Saying& saying) {
  return match_figures(request, found_match(request, saying));
}

}  // namespace qkv
