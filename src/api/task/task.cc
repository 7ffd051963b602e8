#include "qkv/api/task.h"

#include "api/fields/refuse.h"
#include "api/fields/shared_fields.h"

namespace qkv {

const Fields<TaskRequest>& task_fields() {
  static const Fields<TaskRequest> kFields = [] {
    using R = TaskRequest;
    constexpr std::int64_t kMostExamples = std::int64_t{1} << 20;
    Fields<R> fields;
    fields.add(&R::task, {.name = "task", .form = "NAME", .meaning = "The task", .otherwise = "all are listed"});
    fields.add(&R::examples,
               {.name = "examples", .form = "N", .meaning = "How many to show", .least = 0, .most = kMostExamples});
    fields.add(&R::from,
               {.name = "from", .form = "N", .meaning = "The number of the first one", .least = 0, .most = kAnyCount});
    fields.add(&R::split, {.name = "split", .form = "SPLIT", .meaning = "train or test", .words = {"train", "test"}});
    fields.add(&R::seed, {.name = "seed", .form = "N", .meaning = "Another seed, other examples"});
    fields.add(&R::length, api_detail::shared_field("length"));
    fields.info("from").python = "first";
    fields.give_bounds({{"length", 1, 1048576}});
    for (const char* const of_one : {"examples", "from", "split", "seed", "length"})
      fields.info(of_one).needs = {"task"};
    fields.give_examples({{"task", "copy"}});
    return fields;
  }();
  return kFields;
}

std::unique_ptr<const Task> task_of(const TaskRequest& request) {
  return make_task(request.task, {.seed = request.seed, .length = request.length});
}

ExampleRange examples_of(const TaskRequest& request) {
  return {
      .split = request.split == "test" ? Split::test : Split::train, .first = request.from, .count = request.examples};
}

AnyReply answer(const TaskRequest& request) {
  if (request.task.empty()) return any_reply(task_list());
  return any_reply(task_figures(*task_of(request), examples_of(request), request.seed));
}

}  // namespace qkv
