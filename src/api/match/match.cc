#include "qkv/api/match.h"

#include <fmt/format.h>

#include <utility>

#include "api/fields/refuse.h"
#include "api/fields/shared_fields.h"
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
    fields.add(&R::captions, captions_field());
    fields.add(&R::file, line_file_field());
    fields.add(&R::maps, {.name = "maps", .meaning = "Show what each cosine rests on, over the picture"});
    fields.add(&R::numbers, api_detail::shared_field("numbers"));
    fields.info("numbers").fallback = "true";
    fields.info("numbers").needs = {"maps"};
    fields.give_examples({{"images", "shapes.png"}, {"model", "clip"}, {"file", "captions.txt"}});
    return fields;
  }();
  return kFields;
}

namespace {

// A question, and what errors call its pictures and captions.
struct PlacedMatch {
  MatchQuestion question;
  std::vector<std::string> images, captions;
};

PlacedMatch placed_match(const MatchRequest& request, std::size_t among_images) {
  PlacedMatch placed{.question = {.title = "match: " + request.model,
                                  .pictures = {},
                                  .names = request.images,
                                  .captions = request.captions,
                                  .maps = request.maps},
                     .images = {},
                     .captions = {}};
  for (const std::string& caption : request.captions) {
    const char* const field = placed.captions.size() < among_images ? "images" : "captions";
    placed.captions.push_back(fmt::format("{}: \"{}\"", field, caption));
  }
  if (request.file.path.empty()) return placed;
  const Texts lines = texts_of(request.file, EmptyLines::left_out);
  for (std::size_t n = 0; n < lines.texts.size(); ++n) {
    placed.question.captions.push_back(lines.texts[n]);
    placed.captions.push_back(lines.place_of(fmt::format("texts[{}]", n)).value_or("file"));
  }
  return placed;
}

MatchFound found(PlacedMatch placed, const OpenedModel& model) {
  const MatchQuestion& question = placed.question;
  const auto place_of = [&](const std::string& argument) -> std::optional<std::string> {
    for (std::size_t n = 0; n < placed.images.size(); ++n) {
      if (argument == fmt::format("pictures[{}]", n)) return placed.images[n];
    }
    for (std::size_t n = 0; n < placed.captions.size(); ++n) {
      if (argument == fmt::format("texts[{}]", n)) return placed.captions[n];
    }
    return std::nullopt;
  };
  MatchFound found;
  found.model = model;
  found.match =
      api_detail::of_places(place_of, [&] { return match_pairs(*model, question.pictures, question.captions); });
  found.explanation = explain_match(*model, question, found.match);
  found.loss = model->model().parts().towers->options().loss;
  found.question = std::move(placed.question);
  return found;
}

}  // namespace

MatchFound found_match(const MatchRequest& request, const Saying& saying, std::size_t among_images) {
  match_fields().require_company(request);
  PlacedMatch placed = placed_match(request, among_images);
  for (const std::string& image : request.images) {
    placed.question.pictures.push_back(decode_png(read_file(image), image));
    placed.images.push_back("images: " + image);
  }
  return found(std::move(placed), open_model(request.model, saying));
}

MatchFound found_match(const MatchRequest& request, std::vector<Tensor> pictures, const Saying& saying) {
  match_fields().require_company(request);
  PlacedMatch placed = placed_match(request, 0);
  for (std::size_t n = 0; n < pictures.size(); ++n) placed.images.push_back(fmt::format("images[{}]", n));
  placed.question.pictures = std::move(pictures);
  return found(std::move(placed), open_model(request.model, saying));
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
