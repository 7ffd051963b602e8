#include <algorithm>

#include "qkv/nearest_word.h"
#include "train/tasks/generated_task.h"

namespace qkv {
namespace {

constexpr const char* kFunction = "make_task";

const std::vector<train::TaskMaker>& makers() {
  static const std::vector<train::TaskMaker> kMakers = {
      train::copy_task(),        train::reverse_task(),  train::sort_task(),     train::previous_task(),
      train::induction_task(),   train::brackets_task(), train::addition_task(), train::english_task(),
      train::translation_task(), train::shapes_task(),
  };
  return kMakers;
}

const train::TaskMaker& maker_of(std::string_view name) {
  const auto found = std::ranges::find(makers(), name, [](const train::TaskMaker& maker) { return maker.info.name; });
  if (found != makers().end()) return *found;
  std::vector<std::string_view> known;
  std::string names;
  for (const train::TaskMaker& maker : makers()) {
    known.push_back(maker.info.name);
    names += (names.empty() ? "" : ", ") + maker.info.name;
  }
  const auto near = nearest_word(name, known);
  throw InvalidArgument(kFunction, "name", "one of " + names,
                        "\"" + std::string(name) + "\"" + (near ? "; " + std::string(*near) + " is near" : ""));
}

void require_length(const TaskInfo& info, const TaskOptions& options) {
  if (!options.length) return;
  const std::string got = std::to_string(*options.length);
  if (!info.length) throw InvalidArgument(kFunction, "length", "none for " + info.name, got);
  if (*options.length >= info.length->least && *options.length <= info.length->most) return;
  throw InvalidArgument(kFunction, "length",
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

std::string_view name_of(AttentionSite site) noexcept {
  switch (site) {
    case AttentionSite::tokens:
      return "tokens";
    case AttentionSite::source:
      return "source";
    case AttentionSite::cross:
      break;
  }
  return "cross";
}

std::int64_t TaskLengths::patches() const noexcept {
  if (patch_side == 0) return 0;
  const std::int64_t across = image_side / patch_side;
  return across * across;
}

std::span<const TaskInfo> tasks() {
  static const std::vector<TaskInfo> kInfos = [] {
    std::vector<TaskInfo> infos;
    for (const train::TaskMaker& maker : makers()) infos.push_back(maker.info);
    return infos;
  }();
  return kInfos;
}

std::unique_ptr<const Task> make_task(std::string_view name, const TaskOptions& options) {
  const train::TaskMaker& maker = maker_of(name);
  require_length(maker.info, options);
  return maker.make(maker.info, options);
}

}  // namespace qkv
