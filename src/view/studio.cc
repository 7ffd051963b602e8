#include "qkv/view/studio.h"

#include <array>
#include <utility>

#include "qkv/mask.h"
#include "qkv/nearest_word.h"
#include "view/refuse.h"
#include "view/reply_json.h"
#include "view/studio_questions.h"

namespace qkv {
namespace {

using view_detail::Answerer;
using view_detail::Json;
using view_detail::StudioState;

const std::vector<Answerer>& answerers() {
  static const std::vector<Answerer> kAll = {
      view_detail::about_question(),       //
      view_detail::explain_question(),     //
      view_detail::bench_question(),       //
      view_detail::number_question(),      //
      view_detail::heads_question(),       //
      view_detail::head_question(),        //
      view_detail::head_parts_question(),  //
      view_detail::pair_question(),        //
      view_detail::mask_question(),        //
      view_detail::positions_question(),   //
      view_detail::cost_question(),
      view_detail::roles_question(),
      view_detail::change_question(),
      view_detail::far_open_question(),
      view_detail::far_tile_question(),
      view_detail::far_walk_question(),
      view_detail::far_row_question(),
      view_detail::far_largest_question(),
      view_detail::far_find_question(),
      view_detail::learn_question(),
      view_detail::train_question(),
      view_detail::pictures_question(),
      view_detail::operations_question(),
      view_detail::bottleneck_question(),
      view_detail::bottleneck_lengths_question(),
  };
  return kAll;
}

const Answerer& answerer_named(std::string_view name) {
  std::vector<std::string_view> names;
  std::string known;
  for (const Answerer& one : answerers()) {
    if (one.question.name == name) return one;
    names.emplace_back(one.question.name);
    known += (known.empty() ? "" : ", ") + one.question.name;
  }
  const auto nearest = nearest_word(name, names);
  throw InvalidArgument(
      "studio", "question", "one of " + known,
      "\"" + std::string(name) + "\"" + (nearest ? "; did you mean " + std::string(*nearest) + "?" : ""));
}

}  // namespace

std::shared_ptr<const TrainedModel> StudioState::model(const std::string& name) {
  const std::scoped_lock lock(mutex_);
  const auto found = models_.find(name);
  if (found != models_.end()) return found->second;
  const auto read = [&] { return TrainedModel::read(trained_model_path(name)); };
  try {
    return models_[name] = std::make_shared<const TrainedModel>(view_detail::of_field("model", read));
  } catch (const InvalidArgument&) {
    throw;
  } catch (const Error& error) {
    throw view_detail::NotThere("model", error.what());
  }
}

std::shared_ptr<const view_detail::ModelRun> StudioState::run(const view_detail::ShownText& shown) {
  constexpr std::size_t kKept = 6;
  const auto trained = model(shown.model);
  const std::scoped_lock lock(mutex_);
  for (const auto& [known, run] : runs_) {
    if (known == shown) return run;
  }
  auto run = std::make_shared<const view_detail::ModelRun>(trained, shown);
  runs_.emplace_front(shown, run);
  if (runs_.size() > kKept) runs_.pop_back();
  return run;
}

std::shared_ptr<const BottleneckModels> StudioState::bottleneck() {
  const std::scoped_lock lock(mutex_);
  if (!bottleneck_) bottleneck_ = std::make_shared<const BottleneckModels>(bottleneck_models_of_the_box());
  return bottleneck_;
}

std::shared_ptr<const Bench> StudioState::bench(const BenchRequest& request, const std::function<Bench()>& lay_out) {
  {
    const std::scoped_lock lock(mutex_);
    if (bench_.second && bench_.first == request) return bench_.second;
  }
  auto made = std::make_shared<const Bench>(lay_out());
  const std::scoped_lock lock(mutex_);
  bench_ = {request, made};
  return made;
}

struct Studio::State : StudioState {
  using StudioState::StudioState;
};

Studio::Studio(StudioOptions options) : state_(std::make_unique<State>(std::move(options))) {}
Studio::~Studio() = default;

std::span<const Question> Studio::questions() {
  static const std::vector<Question> kAll = [] {
    std::vector<Question> all;
    for (const Answerer& one : answerers()) all.push_back(one.question);
    return all;
  }();
  return kAll;
}

StudioReply Studio::ask(std::string_view name, std::string_view request, const StudioWatch& watch) {
  view_detail::WireWriter writer;
  answerer_named(name).answer(*state_, request, watch, writer);
  return {.json = writer.json().dump(-1, ' ', false, Json::error_handler_t::replace),
          .blocks = std::move(writer.blocks())};
}

std::string error_as_json(const std::exception& error) {
  Json json{{"message", error.what()}, {"field", ""}, {"column", nullptr}};
  if (const auto* invalid = dynamic_cast<const InvalidArgument*>(&error)) {
    json["field"] = invalid->argument();
    json["message"] = invalid->fault();
  }
  if (const auto* missing = dynamic_cast<const view_detail::NotThere*>(&error)) json["field"] = missing->field();
  if (const auto* syntax = dynamic_cast<const MaskSyntaxError*>(&error)) {
    const std::string field = syntax->function() == "parse_bias" ? "bias" : "mask";
    json["field"] = field;
    // The reader wrote a mask, and called no parse_mask.
    json["message"] = field + std::string(syntax->what()).substr(syntax->function().size());
    json["column"] = syntax->column();
  }
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::string framed(StudioFrame kind, std::string_view payload) {
  constexpr std::size_t kAlignment = 8;
  std::string frame;
  const auto put = [&](std::uint32_t number) {
    for (int byte = 0; byte < 4; ++byte) frame += static_cast<char>(number >> (8 * byte) & 0xFFU);
  };
  put(static_cast<std::uint32_t>(kind));
  put(static_cast<std::uint32_t>(payload.size()));
  frame += payload;
  frame.resize((frame.size() + kAlignment - 1) / kAlignment * kAlignment, '\0');
  return frame;
}

}  // namespace qkv
