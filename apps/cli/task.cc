// qkv task: the built-in tasks, and examples of one with the patterns that a solved model must show.
#include "qkv/api/task.h"

#include "commands.h"

namespace qkv::cli {

void add_task(Commands& commands) {
  commands.add(
      {.name = "task", .group = "Train", .footer = "Example:\n  qkv task induction --examples 3", .places = {"task"}},
      asked(task_fields(), {"json"}), [](const Asked<TaskRequest>& asked, const Given& /*all*/) {
        asked.how.json ? print(written_as_json(answer(asked))) : print_text(as_text(asked));
      });
}

}  // namespace qkv::cli
