// The kinds of models, each made for a task or from the facts of a checkpoint.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>

#include "qkv/train/task_model.h"

namespace qkv::train {

using Facts = std::map<std::string, std::string>;
using MadeModel = std::unique_ptr<const TaskModel>;

struct ModelMaker {
  MadeModel (*for_task)(const TaskModelOptions& options, const Task& task, const Init& init);
  MadeModel (*from_facts)(const Facts& facts, const Init& init);
};

[[nodiscard]] ModelMaker decoder_maker();
[[nodiscard]] ModelMaker encoder_maker();
[[nodiscard]] ModelMaker encoder_decoder_maker();
[[nodiscard]] ModelMaker captioner_maker();
[[nodiscard]] ModelMaker two_tower_maker();

struct StackLayers {
  std::int64_t encoder = 0;
  std::int64_t decoder = 0;
};

/// Where a site stands in a model whose trace has "encoder" and "decoder".
[[nodiscard]] SiteScope scope_in_stacks(AttentionSite site, const StackLayers& layers);

/// Throws InvalidArgument unless `holds`.
void require_fit(bool holds, const TaskModelOptions& options, const Task& task, const char* expected);

}  // namespace qkv::train
