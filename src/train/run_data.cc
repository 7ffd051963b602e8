// What a run learns from, and the model that learns it.
#include "train/run_data.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "core/dtype_named.h"
#include "core/nearest_word.h"
#include "files/place.h"
#include "qkv/text/read_tokenizer.h"
#include "qkv/train/picture_task.h"
#include "qkv/train/task_model.h"
#include "qkv/train/text_task.h"
#include "train/starting_model.h"

namespace qkv {
namespace {

constexpr std::int64_t kTextLength = 128;

// FNV-1a, 64 bits.
class Hash {
 public:
  void add(std::string_view bytes) noexcept {
    for (const char byte : bytes) value_ = (value_ ^ static_cast<unsigned char>(byte)) * 0x100000001B3U;
  }
  template <class Number>
  void add(std::span<const Number> numbers) noexcept {
    add(std::string_view(reinterpret_cast<const char*>(numbers.data()), numbers.size_bytes()));
  }
  void add(const Tokenizer& tokenizer) {
    for (std::int32_t id = 0; id < tokenizer.size(); ++id) add(tokenizer.piece(id) + '\0');
  }
  [[nodiscard]] std::uint64_t value() const noexcept { return value_; }

 private:
  std::uint64_t value_ = 0xCBF29CE484222325U;
};

// Of one tensor of a block.
void require_batch(const TrainSettings& settings, const Task& task) {
  constexpr std::int64_t kMostNumbers = std::int64_t{1} << 30;
  const TextLengths& lengths = task.lengths();
  const std::int64_t places = lengths.source + lengths.tokens + lengths.patches();
  const std::int64_t width = std::max(settings.d_model, settings.d_ff.value_or(4 * settings.d_model));
  const std::int64_t most = std::max<std::int64_t>(1, kMostNumbers / (places * width));
  if (settings.batch <= most) return;
  throw InvalidArgument("train", "batch",
                        fmt::format("at most {} examples of {} places with {} numbers each", most, places, width),
                        std::to_string(settings.batch));
}

[[noreturn]] void refuse_task(const std::string& name) {
  std::vector<std::string_view> known;
  for (const TaskInfo& info : tasks()) known.push_back(info.name);
  known.insert(known.end(), {"text", "pictures"});
  core::refuse_word("train", "task", name, known);
}

}  // namespace

bool takes_data(std::string_view task) { return task == "text" || task == "pictures"; }

std::unique_ptr<const Task> task_of(const TrainSettings& settings) {
  if (settings.task == "text") {
    const std::string text = files::read_text(settings.data);
    if (settings.from) return training::text_task_for(training::starting_model(settings), text, settings);
    return make_text_task(text, settings.data,
                          {.seed = settings.seed,
                           .length = settings.length.value_or(kTextLength),
                           .tokenizer = settings.tokenizer ? read_tokenizer(*settings.tokenizer) : nullptr});
  }
  if (settings.task == "pictures") {
    PictureTaskOptions options{.seed = settings.seed};
    options.image_side = settings.image_side.value_or(options.image_side);
    options.patch_side = settings.patch_side.value_or(options.patch_side);
    return std::make_unique<PictureTask>(settings.data, options);
  }
  if (std::ranges::find(tasks(), settings.task, &TaskInfo::name) == tasks().end()) refuse_task(settings.task);
  return make_task(settings.task, {.seed = settings.seed, .length = settings.length});
}

Model model_of(const TrainSettings& settings, const Task& task) {
  require_batch(settings, task);
  if (settings.from) return training::starting_model(settings).to(DType::f32);
  Generator generator(settings.seed);
  return make_task_model({.kind = model_kind_named(settings.model),
                          .layers = settings.layers,
                          .d_model = settings.d_model,
                          .heads = settings.heads,
                          .d_ff = settings.d_ff,
                          .positions = positions_named(settings.positions)},
                         task, generator);
}

DType training::stored_dtype(const TrainSettings& settings) {
  const std::string name = settings.stored.value_or("f32");
  if (const auto dtype = core::dtype_named(name); dtype && is_floating(*dtype) && dtype != DType::f64) return *dtype;
  throw InvalidArgument("train", "store", "f32, bf16 or f16", "\"" + name + "\"");
}

std::string training::fingerprint(const Task& task) {
  constexpr std::int64_t kExamples = 64;
  Hash hash;
  hash.add(task.vocabulary());
  hash.add(task.source_vocabulary());
  for (std::int64_t n = 0; n < kExamples; ++n) {
    const Example example = task.example(Split::train, n);
    hash.add(std::span<const std::int32_t>(example.source));
    hash.add(std::span<const std::int32_t>(example.tokens));
    if (!example.image.empty()) hash.add(example.image.values<float>());
  }
  if (const auto data = task.data_hash()) hash.add(std::span(&*data, 1));
  return fmt::format("{:016x}", hash.value());
}

void training::require_same_examples(const Words& saved, const Words& now) {
  const auto before = saved.find("examples");
  if (before != saved.end() && before->second == now.at("examples")) return;
  const std::string data = now.at("data").empty() ? "" : " " + now.at("data");
  throw Error(fmt::format(
      "{}{} gives other examples than those that the checkpoint was trained on (expected the hash {}, got {})",
      now.at("task"), data, before == saved.end() ? "none" : before->second, now.at("examples")));
}

}  // namespace qkv
