#include "api/roles/analyzed_texts.h"

#include <fmt/format.h>

#include <utility>

#include "api/fields/refuse.h"
#include "api/models/pass_bounds.h"
#include "api/models/seen_and_heard.h"
#include "api/models/shown.h"
#include "qkv/model/sound_encoder.h"

namespace qkv::api_detail {
namespace {

constexpr auto kKept = PassKeeps::layers_and_scores;

// Of a model that reads no texts errors name the field for what it reads.
void require_reader(std::string_view field, const char* kind, bool reads, const TextModel& trained) {
  if (!reads) refuse(field, fmt::format("{} beside it", kind), fmt::format("one of kind {}", name_of(trained.kind())));
}

HeadTexts of_pictures(const AnalyzeRequest& request, const TextModel& trained) {
  require_reader("pictures", "a model that reads images alone", trained.traits().sees, trained);
  std::vector<Shown> shown;
  for (const std::string& picture : request.pictures) {
    shown.push_back({.picture = picture_in("pictures", picture)});
  }
  return of_field("pictures", [&] { return head_texts(trained, shown, "pictures"); });
}

HeadTexts of_sounds(const AnalyzeRequest& request, const TextModel& trained) {
  require_reader("sounds", "a model that reads sound", trained.traits().reads_sound, trained);
  const LogMelOptions form = trained.log_mel_options();
  require_pass_of("sounds", trained, form.frames() / kFramesOfAPlace, kKept);
  std::vector<Shown> shown;
  for (const std::string& sound : request.sounds) shown.push_back({.sound = sound_in("sounds", sound, form.rate)});
  return of_field("sounds", [&] { return head_texts(trained, shown, "sounds"); });
}

Texts texts_given(const AnalyzeRequest& request, std::int64_t count) {
  if (!request.file.path.empty()) return texts_of(request.file, EmptyLines::left_out);
  if (!request.texts.empty()) return given_texts({}, request.texts, {});
  Texts sentences{.texts = {}, .file = {}, .field = "texts"};
  for (ParsedSentence& one : trees_to_look_at(count)) sentences.texts.push_back(std::move(one.text));
  return sentences;
}

HeadTexts of_messages(const AnalyzeRequest& request, const TextModel& trained, std::int64_t count) {
  const Texts texts = texts_given(request, count);
  require_passes(texts, trained, kKept);
  std::vector<Shown> shown;
  for (const std::string& text : texts.texts) shown.push_back({.messages = conversation_in(request.talk, text)});
  return of_places(texts.places(), [&] { return head_texts(trained, shown, "texts"); });
}

}  // namespace

HeadTexts analyzed_texts(const AnalyzeRequest& request, const TextModel& trained, std::int64_t usual,
                         const Saying& saying) {
  const std::int64_t count = request.count.value_or(usual);
  if (!request.pictures.empty()) return of_pictures(request, trained);
  if (!request.sounds.empty()) return of_sounds(request, trained);
  if (request.talk.chat) return of_messages(request, trained, count);
  if (!request.texts.empty()) return texts_to_look_at(trained, request.texts, saying);
  if (!request.file.path.empty()) return texts_of_lines(trained, request.file, saying);
  return texts_to_look_at(trained, count);
}

}  // namespace qkv::api_detail
