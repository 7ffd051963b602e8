// Explanations come with charts and diagrams in SVG, which a page cannot draw: without them the whole room `explain`
// stays out.
#include "qkv/error.h"
#include "view/studio_questions.h"

namespace qkv {
namespace {

void refuse(view_detail::StudioState& /*state*/, std::string_view /*request*/, const StudioWatch& /*watch*/,
            ReplyWriter& /*writer*/) {
  throw Error("the engine in a page draws no SVG; `qkv explain` in a terminal does");
}

}  // namespace

view_detail::Answerer view_detail::explain_question() {
  return {.question = {.name = "explain", .meaning = {}, .fields = {}, .reply = {}, .examples = {}}, .answer = refuse};
}

}  // namespace qkv
