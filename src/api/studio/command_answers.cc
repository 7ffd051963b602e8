// Questions that pages ask as commands do, with the same fields and the same answer.
#include "api/studio/studio_questions.h"
#include "qkv/api/cost.h"

namespace qkv::api_detail {

Answerer cost_question() {
  return answerer<CostReply>("cost", "What a transformer costs, figure by figure.", cost_fields(),
                             {R"({"preset": "gpt3"})", R"({"preset": "bert-base", "of": "flops"})"});
}

}  // namespace qkv::api_detail
