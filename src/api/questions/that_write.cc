// What writes files or uses the network, which nobody does for whoever has the address of a studio.
#include <fmt/format.h>

#include "api/learn/train_for_readers.h"
#include "api/questions/of_command.h"
#include "qkv/api/convert.h"
#include "qkv/api/fetch.h"
#include "qkv/api/study.h"
#include "qkv/api/train.h"

namespace qkv {
namespace {

using api_detail::Answerer;
using api_detail::printed;

Answerer refused(Answerer one, const char* what) {
  one.question.refusal =
      fmt::format("{}, which a studio does not do for its readers; `qkv {}` does", what, one.question.command);
  return one;
}

// The pages are the program's.
Answerer page_question() {
  Answerer one = api_detail::described_command(
      "view",
      "The studio: attention in the browser, under your hand. The question is for one file of it, which works without "
      "qkv and without network.",
      page_fields().infos(), {printed<PageReply>("qkv view --export")},
      {R"({"model": "induction", "text": "abcxyzab"})"});
  one.answer = [](api_detail::StudioState& state, const FieldValues& values, const StudioWatch& /*watch*/) {
    const auto& write = state.options().writes_page;
    if (!write) throw Error("a file of the studio is written by the program: `qkv view --export`");
    return any_reply(write(page_fields().from_values(values)));
  };
  return one;
}

}  // namespace

std::vector<Answerer> api_detail::questions_that_write() {
  return {
      asked_by_pages(of_command(
          "train",
          "Train a model on a task, your text or your pictures. A studio's readers train on built-in tasks alone, in "
          "the directory qkv-TASK.",
          train_run_fields(),
          {printed<TrainReply>("qkv train --json"), printed<TrainTokenizerReply>("qkv train tokenizer --json")}, {},
          api_detail::require_run_for_readers)),
      refused(of_command("bench bottleneck",
                         "Repeat random letters: through one vector, and with attention over all states.",
                         bottleneck_bench_fields(), {printed<BottleneckFigures>("qkv bench bottleneck --json")},
                         {R"({"to": 3, "texts": 8})"}),
              "it may train models and write them"),
      refused(of_command("convert", "A model's folder as GGUF, GGUF as a folder, weights in another type.",
                         convert_fields(), {printed<ConvertFigures>("qkv convert --json")}, {}),
              "it writes a model"),
      refused(of_command("fetch", "A model from a hub, a folder or a GGUF file: resumed, checked.", fetch_fields(),
                         {printed<FetchFigures>("qkv fetch --json")}, {}),
              "it uses the network and writes a model"),
      refused(page_question(), "it writes a page"),
  };
}

Members<PageReply> describe(const PageReply* /*reply*/) {
  return [] {
    Members<PageReply> members("PageReply");
    members.add_if_there(&PageReply::page, "page", "The file's text, where no file was named");
    members.add_if_there(&PageReply::file, "export", "The file that was written");
    return members;
  }();
}

}  // namespace qkv
