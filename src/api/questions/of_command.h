// The question of a command, from its fields and from answer() of its request.
#pragma once

#include <span>
#include <string>
#include <utility>
#include <vector>

#include "api/replies/answered.h"
#include "api/studio/studio_questions.h"

namespace qkv::api_detail {

template <class Reply>
QuestionReply printed(const char* by) {
  return {.type = reply_type<Reply>(), .printed_by = by};
}

template <class Reply>
QuestionReply printed_in_lines(const char* by) {
  return {.type = reply_type<Reply>(), .printed_by = by, .is_line = true};
}

/// Without its answer.
[[nodiscard]] Answerer described_command(const char* command, const char* meaning, std::span<const FieldInfo> fields,
                                         std::vector<QuestionReply> replies, std::vector<std::string> examples);

/// Models are opened by open_model(), and who waits is asked by the thread's own watch. `require` refuses what is too
/// much for a reader of a studio.
template <class Request>
Answerer of_command(const char* command, const char* meaning, const Fields<Request>& fields,
                    std::vector<QuestionReply> replies, std::vector<std::string> examples,
                    Require<Request> require = nullptr) {
  Answerer one = described_command(command, meaning, fields.infos(), std::move(replies), std::move(examples));
  one.answer = [&fields, require](StudioState& state, const FieldValues& values, const StudioWatch& /*watch*/) {
    return answered(fields, values, state.options().asker == Asker::reader ? require : nullptr);
  };
  return one;
}

/// Pages ask it as the command does, and get its first form.
[[nodiscard]] inline Answerer asked_by_pages(Answerer one) {
  one.question.is_of_pages = true;
  return one;
}

}  // namespace qkv::api_detail
