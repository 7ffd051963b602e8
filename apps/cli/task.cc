// qkv task: the built-in tasks, and examples of one with the patterns that a solved model must show.
#include "qkv/api/task.h"

#include "commands.h"
#include "common_options.h"
#include "output.h"
#include "terminal.h"

namespace qkv::cli {
namespace {

struct TaskFlags : TaskRequest {
  bool json = false;
};

Fields<TaskFlags> fields_of_task() {
  Fields<TaskFlags> fields;
  fields.add(task_fields());
  fields.add(&TaskFlags::json, json_field());
  return fields;
}

void run_task(TaskFlags& flags, const Given& /*all*/) {
  flags.json ? print(written_as_json(answer(flags))) : print_text(as_text(flags));
}

}  // namespace

void add_task(Commands& commands) {
  commands.add(
      {.name = "task", .group = "Train", .footer = "Example:\n  qkv task induction --examples 3", .places = {"task"}},
      fields_of_task(), run_task);
}

}  // namespace qkv::cli
