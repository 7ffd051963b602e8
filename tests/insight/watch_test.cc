// A watch of the thread stops whatever is found out about a model, at any of its questions, and leaves no trace.
#include <gmock/gmock.h>

#include <functional>
#include <string>
#include <vector>

#include "qkv/insight/change.h"
#include "qkv/insight/lens.h"
#include "qkv/insight/rollout.h"
#include "qkv/insight/texts.h"
#include "qkv/threads.h"
#include "qkv/watched.h"
#include "train/boxed.h"

namespace qkv::watch_test {
namespace {

struct Analysis {
  std::string name;
  std::function<std::vector<double>(const TrainedModel&)> run;
};

HeadText text_of(const TrainedModel& trained) { return head_texts(trained, 1).texts.front(); }

const ChangeQuestion& question() {
  static const ChangeQuestion kQuestion{.of = {.text = "abcxyzb"}, .interventions = {RemovedHead{{.layer = 1}}}};
  return kQuestion;
}

std::vector<Analysis> analyses() {
  return {
      {"change_text", [](const TrainedModel& trained) { return change_text(trained, question()).divergence; }},
      {"change_texts",
       [](const TrainedModel& trained) {
         return std::vector{change_texts(trained, head_texts(trained, 3).texts, question()).loss_after};
       }},
      {"sweep_heads",
       [](const TrainedModel& trained) { return sweep_heads(trained, question()).maps.front().changes.to_vector(); }},
      {"lens_report",
       [](const TrainedModel& trained) { return lens_report(trained, {.text = "abcxyzb"}).parts->keys.to_vector(); }},
      {"attention_rollout",
       [](const TrainedModel& trained) {
         return attention_rollout(trained.model(), text_of(trained)).back().to_vector();
       }},
      {"attention_flow",
       [](const TrainedModel& trained) { return attention_flow(trained.model(), text_of(trained)).to_vector(); }},
  };
}

TEST(WatchedThread, StopsEachAnalysisAtAnyQuestion) {
  set_threads(1);  // with more, the number of questions depends on who takes which task
  const TrainedModel& trained = tests::boxed("induction");
  for (const Analysis& analysis : analyses()) {
    const std::vector<double> expected = analysis.run(trained);
    int asked = 0;
    {
      const WatchedThread watched([&] {
        ++asked;
        return Proceed::go_on;
      });
      EXPECT_EQ(analysis.run(trained), expected) << analysis.name;
    }
    ASSERT_GT(asked, 10) << analysis.name;
    for (const int last : {1, asked / 2, asked}) {
      int left = last;
      const WatchedThread watched([&] { return --left > 0 ? Proceed::go_on : Proceed::stop; });
      EXPECT_THROW(static_cast<void>(analysis.run(trained)), Cancelled) << analysis.name << ", question " << last;
    }
    EXPECT_EQ(analysis.run(trained), expected) << analysis.name;
  }
}

}  // namespace
}  // namespace qkv::watch_test
