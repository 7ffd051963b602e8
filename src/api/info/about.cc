#include "qkv/api/about.h"

#include <algorithm>

#include "api/models/models.h"
#include "api/studio/studio_questions.h"
#include "qkv/info.h"
#include "qkv/picture/colour.h"
#include "qkv/targets.h"
#include "qkv/threads.h"

namespace qkv {
namespace {

Tensor colours_of(ColourMap map, Ground ground) {
  Tensor colours(DType::u8, {kColourCount, 3});
  auto out = colours.values<std::uint8_t>().begin();
  for (int index = 0; index < kColourCount; ++index) {
    const Rgb colour = colour_at(map, index, ground);
    for (const std::uint8_t channel : {colour.red, colour.green, colour.blue}) *out++ = channel;
  }
  return colours;
}

AboutColours colours_on(Ground ground) {
  return {colours_of(ColourMap::sequential, ground), colours_of(ColourMap::diverging, ground)};
}

AboutReply about(api_detail::StudioState& state, const AboutRequest& /*asks for nothing*/,
                 const StudioWatch& /*quick*/) {
  const std::vector<CpuTarget> targets = cpu_targets();
  const StudioOptions& options = state.options();
  return {.version = std::string(build_info().version),
          .processor = cpu_model(),
          .target = std::ranges::find(targets, true, &CpuTarget::chosen)->name,
          .threads = threads(),
          .model = options.model,
          .text = options.text,
          .mask = options.mask,
          .file = options.file,
          .probe = options.probe ? options.probe->title : "",
          .models = api_detail::models_of_the_box(),
          .light = colours_on(Ground::light),
          .dark = colours_on(Ground::dark)};
}

}  // namespace

const Fields<AboutRequest>& about_fields() {
  static const Fields<AboutRequest> kFields;
  return kFields;
}

Members<AboutColours> describe(const AboutColours* /*type*/) {
  return Members<AboutColours>("AboutColours")
      .add(&AboutColours::sequential, "sequential", "u8 [256, 3]: of weights from 0 on")
      .add(&AboutColours::diverging, "diverging", "u8 [256, 3]: of numbers about 0");
}

Members<AboutExample> describe(const AboutExample* /*type*/) {
  return Members<AboutExample>("AboutExample")
      .add(&AboutExample::text, "text", "What it reads; empty for a held-out example")
      .add(&AboutExample::example, "example", "Or which held-out example")
      .add(&AboutExample::site, "site", "Of a head worth a look")
      .add(&AboutExample::layer, "layer", "Likewise")
      .add(&AboutExample::head, "head", "Likewise")
      .add(&AboutExample::query, "query", "A query where there is something to see")
      .add(&AboutExample::key, "key", "The key that it reads there")
      .add(&AboutExample::look, "look", "What is seen there");
}

Members<AboutModel> describe(const AboutModel* /*type*/) {
  return Members<AboutModel>("AboutModel")
      .add(&AboutModel::name, "name", "What the field `model` takes")
      .add(&AboutModel::task, "task", "What it has learnt, in a line")
      .add(&AboutModel::examples, "examples", "What to try with it");
}

Members<AboutReply> describe(const AboutReply* /*type*/) {
  return Members<AboutReply>("AboutReply")
      .add(&AboutReply::version, "version", "Of qkv")
      .add(&AboutReply::processor, "processor", "Its model")
      .add(&AboutReply::target, "target", "The kernels that run on it")
      .add(&AboutReply::threads, "threads", "How many of them at once")
      .add(&AboutReply::model, "model", "The model that the command named")
      .add(&AboutReply::text, "text", "The text that it named")
      .add(&AboutReply::mask, "mask", "The mask that it named")
      .add(&AboutReply::file, "file", "The long text that it named")
      .add(&AboutReply::probe, "probe", "The title of the probe that it shows")
      .add(&AboutReply::models, "models", "Those in the box")
      .add(&AboutReply::light, "light", "Colours for a light ground")
      .add(&AboutReply::dark, "dark", "Colours for a dark ground");
}

api_detail::Answerer api_detail::about_question() {
  return answerer<AboutRequest, AboutReply>("about", "What the studio opens with, and what there is to choose from.",
                                            about_fields(), about, {"{}"});
}

}  // namespace qkv
