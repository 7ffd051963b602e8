// What each command prints as JSON, for the document and for TypeScript.
#include "qkv/api/command_replies.h"

#include <algorithm>

#include "qkv/api/attend.h"
#include "qkv/api/change.h"
#include "qkv/api/check_models.h"
#include "qkv/api/contents.h"
#include "qkv/api/convert.h"
#include "qkv/api/cost.h"
#include "qkv/api/explain.h"
#include "qkv/api/fetch.h"
#include "qkv/api/info.h"
#include "qkv/api/lens.h"
#include "qkv/api/mask.h"
#include "qkv/api/match.h"
#include "qkv/api/probe.h"
#include "qkv/api/roles.h"
#include "qkv/api/studio.h"
#include "qkv/api/study.h"
#include "qkv/api/syntax.h"
#include "qkv/api/task.h"
#include "qkv/api/texts.h"
#include "qkv/api/tokens.h"
#include "qkv/api/train.h"

namespace qkv {
namespace {

template <class Reply>
CommandReply printed(const char* command) {
  return {.command = command, .reply = api_detail::reply_type<Reply>()};
}

template <class Reply>
CommandReply printed_in_lines(const char* command) {
  CommandReply reply = printed<Reply>(command);
  reply.is_line = true;
  return reply;
}

// The question of the studio that has the same reply; empty if there is none.
std::string question_with(const ReplyType& reply) {
  const auto questions = Studio::questions();
  const auto found =
      std::ranges::find_if(questions, [&](const Question& question) { return question.reply.name == reply.name; });
  return found == questions.end() ? "" : found->name;
}

std::string described(const CommandReply& one) {
  const ReplyType& reply = one.reply;
  const std::string question = question_with(reply);
  if (!question.empty()) return "The reply of the question [" + question + "](#" + question + ").\n";
  const std::string list = reply.kind == ReplyType::Kind::list ? "A list of " : "";
  const std::string line = one.is_line ? "For each text a line: " : "";
  return list + line + members_as_markdown(reply);
}

}  // namespace

std::span<const CommandReply> command_replies() {
  static const std::vector<CommandReply> kAll = {
      printed<AttendFigures>("qkv attend --json"),
      printed<CheckModelsFigures>("qkv check --text --json"),
      printed<ProbeFigures>("qkv probe --json"),
      printed<MaskFigures>("qkv mask EXPR --json"),
      printed<MaskWordList>("qkv mask --json"),
      printed<CostReply>("qkv cost --json"),
      printed<ExplainReply>("qkv explain --json"),
      printed<std::vector<WorkedExample>>("qkv explain --worked list --json"),
      printed<RolesReply>("qkv analyze --json"),
      printed<SyntaxReply>("qkv analyze --syntax --json"),
      printed<ChangeFigures>("qkv change --json"),
      printed<ChangeOfTexts>("qkv change --examples --json"),
      printed<SweepFigures>("qkv change --sweep --json"),
      printed<LensFigures>("qkv lens --json"),
      printed<VariantsFigures>("qkv bench variants --json"),
      printed<PositionsFigures>("qkv bench positions --json"),
      printed<BottleneckFigures>("qkv bench bottleneck --json"),
      printed_in_lines<EmbedFigures>("qkv embed"),
      printed<FillFigures>("qkv fill --json"),
      printed_in_lines<GenerateFigures>("qkv generate --json"),
      printed<MatchFigures>("qkv match --json"),
      printed<TokensFigures>("qkv tokens TEXT --json"),
      printed<TokensText>("qkv tokens --ids --json"),
      printed<VocabularyFigures>("qkv tokens --list --json"),
      printed<FetchFigures>("qkv fetch --json"),
      printed<ConvertFigures>("qkv convert --json"),
      printed<InfoReply>("qkv info --json"),
      printed<Contents>("qkv info FILE --json"),
      printed<TaskFigures>("qkv task TASK --json"),
      printed<TaskList>("qkv task --json"),
      printed<TrainReply>("qkv train --json"),
      printed<TrainTokenizerReply>("qkv train tokenizer --json"),
  };
  return kAll;
}

std::string command_replies_as_markdown() {
  std::string text = "\n## What commands print as JSON\n";
  for (const CommandReply& one : command_replies()) {
    text += "\n### `" + one.command + "`\n\n" + described(one);
  }
  return text;
}

}  // namespace qkv
