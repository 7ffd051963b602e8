// A page has no directory in which a run could write.
#include "api/studio/studio_questions.h"
#include "qkv/error.h"

namespace qkv {
namespace {

AnyReply refuse_training(api_detail::StudioState& /*state*/, const FieldValues& /*request*/,
                         const StudioWatch& /*watch*/) {
  throw Error("the engine in a page has no directory for a run; `qkv train` or the page of `qkv view` does");
}

}  // namespace

api_detail::Answerer api_detail::train_question() {
  return {.question = {.name = "train", .meaning = {}, .fields = {}, .reply = {}, .examples = {}},
          .answer = refuse_training};
}

}  // namespace qkv
