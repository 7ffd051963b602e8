#include <algorithm>

#include "core/nearest_word.h"
#include "train/tasks/generated_task.h"

namespace qkv {
namespace {

constexpr const char* kMakeTask = "make_task";

const std::vector<training::TaskMaker>& makers() {
  static const std::vector<training::TaskMaker> kMakers = {
      training::copy_task(),        training::reverse_task(),  training::sort_task(),     training::previous_task(),
      training::induction_task(),   training::brackets_task(), training::addition_task(), training::english_task(),
      training::translation_task(), training::shapes_task(),
  };
  return kMakers;
}

const training::TaskMaker& maker_of(std::string_view name) {
  const auto found =
      std::ranges::find(makers(), name, [](const training::TaskMaker& maker) { return maker.info.name; });
  if (found != makers().end()) return *found;
  std::vector<std::string_view> known;
  for (const training::TaskMaker& maker : makers()) known.push_back(maker.info.name);
  core::refuse_word(kMakeTask, "task", name, known);
}

void require_length(const TaskInfo& info, const TaskOptions& options) {
  if (!options.length) return;
  const std::string got = std::to_string(*options.length);
  if (!info.length) throw InvalidArgument(kMakeTask, "length", "none for " + info.name, got);
  if (*options.length >= info.length->least && *options.length <= info.length->most) return;
  throw InvalidArgument(kMakeTask, "length",
                        "from " + std::to_string(info.length->least) + " to " + std::to_string(info.length->most) +
                            " " + info.length->unit + " for " + info.name,
                        got);
}

}  // namespace

std::string_view name_of(TaskKind kind) noexcept {
  switch (kind) {
    case TaskKind::decoder:
      return "decoder";
    case TaskKind::encoder:
      return "encoder";
    case TaskKind::encoder_decoder:
      return "encoder-decoder";
    case TaskKind::image_text:
      break;
  }
  return "image-text";
}

std::span<const TaskInfo> tasks() {
  static const std::vector<TaskInfo> kInfos = [] {
    std::vector<TaskInfo> infos;
    for (const training::TaskMaker& maker : makers()) infos.push_back(maker.info);
    return infos;
  }();
  return kInfos;
}

std::unique_ptr<const Task> make_task(std::string_view name, const TaskOptions& options) {
  const training::TaskMaker& maker = maker_of(name);
  require_length(maker.info, options);
  return maker.make(maker.info, options);
}

}  // namespace qkv
