#include "qkv/api/studio.h"

#if defined(__GLIBC__)
#include <malloc.h>
#endif

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <filesystem>
#include <utility>

#include "api/fields/refuse.h"
#include "api/fields/shared_fields.h"
#include "api/heads/head_words.h"
#include "api/models/models.h"
#include "api/models/pass_bounds.h"
#include "api/models/seen_and_heard.h"
#include "api/replies/reply_json.h"
#include "api/studio/question_watch.h"
#include "api/studio/studio_questions.h"
#include "core/shortened.h"
#include "files/reading.h"
#include "model/box_directories.h"
#include "qkv/api/models.h"
#include "qkv/api/refusal.h"
#include "qkv/files.h"
#include "qkv/model/box.h"

namespace qkv {
namespace {

using api_detail::Answerer;
using api_detail::Json;
using api_detail::StudioState;

constexpr double kLongAnswer = 0.5;  // seconds, after which an answer may have left much behind
constexpr std::size_t kMostFile = std::size_t{1} << 30U;
constexpr std::size_t kKeptModels = 8;
constexpr std::size_t kKeptRuns = 6;

// What was freed goes back to the system, which otherwise sees it grow with the largest question so far.
void give_memory_back() {
#if defined(__GLIBC__)
  ::malloc_trim(0);
#endif
}

// What a studio may read for whoever asks.
files::ReadPlaces places_for(const StudioOptions& options) {
  if (options.asker == Asker::owner) return {};
  files::ReadPlaces places{.roots = {}, .only_regular = true, .most_bytes = kMostFile};
  if (options.root.empty()) return places;
  places.roots = {options.root};
  for (const std::string& one : box_directories()) places.roots.push_back(one);
  if (!options.file.empty()) places.roots.push_back(options.file);
  if (!options.model.empty()) places.roots.push_back(trained_model_path(options.model));
  return places;
}

std::size_t bytes_of_model(const TextModel& trained) {
  std::size_t bytes = 0;
  for (const auto& [name, parameter] : trained.model().parameters()) {
    const QuantisedTensor* blocks = parameter.quantised();
    bytes += blocks != nullptr ? blocks->blocks().size()
                               : static_cast<std::size_t>(parameter.size()) * size_of(parameter.dtype());
  }
  return bytes;
}

// The path without turns, and when what is there was written: a name for the file as it is now.
std::string key_of_path(const std::string& path) {
  std::error_code none;
  const std::filesystem::path whole = std::filesystem::weakly_canonical(path, none);
  const auto written = std::filesystem::last_write_time(whole, none);
  return whole.string() + '\n' + std::to_string(static_cast<std::int64_t>(written.time_since_epoch().count()));
}

StudioReply reply_of(api_detail::WireWriter& writer) {
  return {.json = writer.json().dump(-1, ' ', false, Json::error_handler_t::replace),
          .blocks = std::move(writer.blocks())};
}

}  // namespace

StudioState::StudioState(StudioOptions options)
    : options_(std::move(options)),
      places_(places_for(options_)),
      models_({.count = kKeptModels, .bytes = options_.limits.model_bytes}, bytes_of_model),
      runs_({.count = kKeptRuns, .bytes = options_.limits.run_bytes},
            [](const api_detail::ModelRun& run) { return run.bytes(); }),
      bottleneck_({.count = 1, .bytes = options_.limits.model_bytes},
                  [](const BottleneckModels& /*small*/) { return std::size_t{0}; }) {}

ModelNumbers StudioState::numbers() const { return model_numbers_named(options_.dtype).value_or(ModelNumbers::f32); }

std::string StudioState::model_key(const std::string& name) const { return key_of_path(trained_model_path(name)); }

std::shared_ptr<const TextModel> StudioState::model(const std::string& name) {
  return models_.get(model_key(name), [&] { return api_detail::read_model(name, numbers()); });
}

void StudioState::keep(const std::string& name, OpenedModel model) {
  static_cast<void>(models_.get(model_key(name), [&] { return std::move(model); }));
}

void StudioState::keep(const HeadsRequest& shown, const ModelPass& pass) {
  api_detail::ShownText key = api_detail::shown_text_of(shown);
  key.model = model_key(shown.model);
  static_cast<void>(
      runs_.get(key, [&] { return std::make_shared<const api_detail::ModelRun>(model(shown.model), pass); }));
}

std::shared_ptr<const api_detail::ModelRun> StudioState::run(const api_detail::ShownText& shown,
                                                             std::int64_t most_tokens) {
  const auto trained = model(shown.model);
  api_detail::ShownText key = shown;
  key.model = model_key(shown.model);
  for (std::string* const file : {&key.picture, &key.sound, &key.talk.messages}) {
    if (api_detail::names_file(*file)) *file = key_of_path(*file);
  }
  const api_detail::PassBounds bounds{.tokens = most_tokens, .bytes = options_.limits.pass_bytes};
  return runs_.get(key, [&] { return std::make_shared<const api_detail::ModelRun>(trained, shown, bounds); });
}

std::shared_ptr<const BottleneckModels> StudioState::bottleneck() {
  return bottleneck_.get(0, [] { return std::make_shared<const BottleneckModels>(bottleneck_models_of_the_box()); });
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

namespace {

// The owner's answers may cost what they like.
api_detail::AnswerBounds bounds_for(const StudioOptions& options) {
  constexpr double kMostNumbers = 67'108'864;
  if (options.asker == Asker::owner) return {};
  return {.pass_bytes = options.limits.pass_bytes,
          .numbers = kMostNumbers,
          .media_bytes = options.limits.media_bytes,
          .picture_pixels = options.limits.picture_pixels,
          .sound_seconds = options.limits.sound_seconds};
}

// One question of this thread: what it reads and opens is bounded while this lives.
class Answering {
 public:
  Answering(StudioState& state, std::string_view name, const StudioWatch& watch)
      : state_(state),
        answerer_(answerer_for(state, name)),
        watched_(watch, state.options().limits.seconds),
        within_(state.places()),
        bounded_(bounds_for(state.options())),
        opens_([&state](const std::string& model, std::optional<ModelNumbers> numbers) {
          const bool is_kept = numbers.value_or(state.numbers()) == state.numbers();
          return is_kept ? state.model(model) : api_detail::read_model(model, *numbers);
        }) {}

  [[nodiscard]] std::span<const FieldInfo> fields() const { return answerer_.question.fields; }
  [[nodiscard]] AnyReply answer(const FieldValues& values) const {
    return answerer_.answer(state_, values, watched_.told());
  }
  [[nodiscard]] double seconds_so_far() const { return watched_.seconds_so_far(); }

 private:
  static const Answerer& answerer_for(const StudioState& state, std::string_view name) {
    const Answerer& one = api_detail::answerer_named(name);
    const bool is_refused = state.options().asker == Asker::reader && !one.question.refusal.empty();
    if (is_refused) throw Error(one.question.name + ": " + one.question.refusal);
    return one;
  }

  StudioState& state_;
  const Answerer& answerer_;
  api_detail::QuestionWatch watched_;
  files::ReadWithin within_;
  api_detail::BoundedAnswers bounded_;
  OpensModels opens_;
};

}  // namespace

const Fields<StudioOptions>& studio_fields() {
  static const Fields<StudioOptions> kFields = [] {
    Fields<StudioOptions> fields;
    const auto add = [&](std::string StudioOptions::* place, const char* name, const char* form, const char* meaning) {
      fields.add(place, {.name = name, .form = form, .meaning = meaning});
    };
    fields.add(&StudioOptions::model, api_detail::shared_field("model"));
    fields.add(&StudioOptions::dtype, api_detail::numbers_field());
    fields.info("dtype").needs = {"model"};
    add(&StudioOptions::text, "text", "TEXT", "What it reads first");
    add(&StudioOptions::file, "file", "FILE", "A long text, for the page Far");
    add(&StudioOptions::mask, "mask", "EXPR", "A mask to look at first");
    add(&StudioOptions::root, "root", "DIR", "Read files below this folder alone, for whoever has the address");
    fields.give_otherwise({{"root", "all that you can read"}});
    fields.give_examples({{"text", "abcxyzab"}, {"file", "book.txt"}, {"mask", "causal & window(512)"}, {"root", "."}});
    return fields;
  }();
  return kFields;
}

OpenedModel require_sound(const StudioOptions& options, ModelNumbers numbers) {
  namespace fs = std::filesystem;
  OpenedModel model = options.model.empty() ? nullptr : open_model(options.model, {}, numbers);
  std::error_code none;
  const fs::file_status file = fs::status(options.file, none);
  // The studio reads plain files alone, and a pipe that nobody writes to would hold it up.
  if (fs::exists(file) && !fs::is_regular_file(file) && !fs::is_directory(file)) {
    throw Error("cannot read " + options.file + ": expected a file, got a pipe or a device");
  }
  if (!options.file.empty()) require_readable(options.file);
  if (!options.root.empty() && !fs::is_directory(options.root, none)) {
    api_detail::refuse("root", "a folder", "\"" + options.root + "\"");
  }
  if (!options.mask.empty()) static_cast<void>(parse_mask(options.mask));
  return model;
}

const Fields<PageRequest>& page_fields() {
  static const Fields<PageRequest> kFields = [] {
    constexpr std::string_view kOfServers[] = {"file", "root"};
    Fields<StudioOptions> of_studio = studio_fields();
    of_studio.remove(kOfServers);
    Fields<PageRequest> fields;
    fields.add(&PageRequest::studio, of_studio);
    fields.add(&PageRequest::file, {.name = "export",
                                    .form = "FILE.html",
                                    .meaning = "Write one file that works without qkv and without network",
                                    .ending = ".html"});
    fields.give_examples({{"export", "studio.html"}});
    return fields;
  }();
  return kFields;
}

Studio::Studio(StudioOptions options) : state_(std::make_unique<State>(std::move(options))) {}
Studio::~Studio() = default;

void Studio::keep(const std::string& name, std::shared_ptr<const TextModel> model) {
  state_->keep(name, std::move(model));
}

std::shared_ptr<const TextModel> Studio::model(const std::string& name) { return state_->model(name); }

void Studio::keep(const HeadsRequest& shown, const ModelPass& pass) { state_->keep(shown, pass); }

StudioReply Studio::ask(std::string_view name, std::string_view request, const StudioWatch& watch) {
  const Answering answering(*state_, name, watch);
  api_detail::WireWriter writer;
  answering.answer(field_values(answering.fields(), request))(writer);
  if (answering.seconds_so_far() > kLongAnswer) give_memory_back();
  return reply_of(writer);
}

AnyReply Studio::answer(std::string_view name, const FieldValues& request, const StudioWatch& watch) {
  return Answering(*state_, name, watch).answer(request);
}

AnyReply Studio::answer(std::string_view name, const NamedValues& request, const StudioWatch& watch) {
  const Answering answering(*state_, name, watch);
  return answering.answer(field_values(answering.fields(), request));
}

StudioReply studio_reply(const std::function<void(ReplyWriter&)>& write) {
  api_detail::WireWriter writer;
  write(writer);
  return reply_of(writer);
}

namespace {

std::vector<std::string> single_fields(std::string_view joined) {
  std::vector<std::string> fields;
  while (!joined.empty()) {
    const std::size_t comma = joined.find(", ");
    fields.emplace_back(joined.substr(0, comma));
    joined = comma == std::string_view::npos ? "" : joined.substr(comma + 2);
  }
  return fields;
}

// Whoever shows it beside the first of several fields names them all.
std::string said_beside_one(std::string message, const std::vector<std::string>& fields) {
  constexpr std::string_view kThem = "expected one of them";
  if (fields.size() > 1 && message.starts_with(kThem)) {
    message.replace(0, kThem.size(), fmt::format("expected one of `{}`", fmt::join(fields, "`, `")));
  }
  return message;
}

}  // namespace

std::string error_as_json(const std::exception& error) {
  const Refusal refusal = refusal_of(error);
  const std::vector<std::string> fields = single_fields(core::shortened(refusal.field));
  constexpr std::size_t kLongest = 4096;  // a request may have megabytes, of which a message may name a part
  Json json{{"message", core::shortened_between(said_beside_one(refusal.message, fields), kLongest)},
            {"field", fields.empty() ? "" : fields.front()},
            {"fields", fields},
            {"column", nullptr}};
  if (refusal.column > 0) json["column"] = refusal.column;
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
