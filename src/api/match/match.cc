#include "qkv/api/match.h"

#include "api/fields/refuse.h"
#include "qkv/files.h"
#include "qkv/png.h"

namespace qkv {

const Fields<MatchRequest>& match_fields() {
  static const Fields<MatchRequest> kFields = [] {
    using R = MatchRequest;
    Fields<R> fields;
    fields.add(&R::images, {.name = "images", .form = "FILE", .meaning = "Pictures: PNG files"});
    fields.add(
        &R::model,
        {.name = "model", .form = "NAME", .meaning = "Two towers: of the box, a file, or a folder of CLIP or SigLIP"});
    FieldInfo captions{.name = "captions", .form = "TEXT", .meaning = "A caption, whatever it looks like"};
    captions.option = "caption";
    fields.add(&R::captions, std::move(captions));
    fields.add(&R::maps, {.name = "maps", .meaning = "Show what each cosine rests on, over the picture"});
    fields.give_examples({{"images", "shapes.png"}, {"model", "clip"}, {"captions", "a red circle"}});
    return fields;
  }();
  return kFields;
}

MatchQuestion match_question(const MatchRequest& request) {
  MatchQuestion question{.title = "match: " + request.model,
                         .pictures = {},
                         .names = request.images,
                         .captions = request.captions,
                         .maps = request.maps};
  for (const std::string& image : request.images) question.pictures.push_back(decode_png(read_file(image), image));
  return question;
}

MatchFigures answer(const MatchRequest& request) {
  if (request.images.empty()) api_detail::refuse("images", "a PNG file or more", "none");
  if (request.captions.empty()) api_detail::refuse("captions", "a text or more", "none");
  const MatchQuestion question = match_question(request);
  const OpenedModel model = open_model(request.model);
  const auto field_for = [](const std::string& argument) -> std::string {
    if (argument.starts_with("pictures")) return "images";
    return argument.starts_with("texts") ? "captions" : argument;
  };
  const PairMatch match =
      api_detail::of_fields([&] { return match_pairs(*model, question.pictures, question.captions); }, field_for);
  const auto& towers = std::get<TwoTower>(model->model().network());
  MatchFigures figures = match_figures(question, match, towers, request.model);
  if (request.maps) figures.explanation = explained(explain_match(*model, question, match), Explained::in_numbers);
  return figures;
}

}  // namespace qkv
