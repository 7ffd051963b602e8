#include "train_data.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <span>

#include "misuse.h"
#include "qkv/files.h"
#include "qkv/train/picture_task.h"
#include "qkv/train/text_task.h"

namespace qkv::cli {
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
  [[nodiscard]] std::uint64_t value() const noexcept { return value_; }

 private:
  std::uint64_t value_ = 0xCBF29CE484222325U;
};

void add(Hash& hash, const Tokenizer& vocabulary) {
  for (std::int32_t token = 0; token < vocabulary.size(); ++token) hash.add(vocabulary.piece(token) + '\0');
}

// Of one tensor of a block.
void require_batch(const TrainSettings& settings, const Task& task) {
  constexpr std::int64_t kMostNumbers = std::int64_t{1} << 30;
  const TaskLengths& lengths = task.lengths();
  const std::int64_t places = lengths.source + lengths.tokens + lengths.patches();
  const std::int64_t width = std::max(settings.d_model, settings.d_ff.value_or(4 * settings.d_model));
  const std::int64_t most = std::max<std::int64_t>(1, kMostNumbers / (places * width));
  if (settings.batch <= most) return;
  misuse("--batch", fmt::format("at most {} examples of {} places with {} numbers each", most, places, width),
         std::to_string(settings.batch));
}

}  // namespace

bool takes_data(std::string_view task) { return task == "text" || task == "pictures"; }

std::string target_of(const TrainSettings& settings) {
  return takes_data(settings.task) ? settings.task + " " + settings.data : settings.task;
}

std::unique_ptr<const Task> task_of(const TrainSettings& settings) {
  if (settings.task == "text") {
    const std::vector<std::byte> bytes = read_file(settings.data);
    return make_text_task({reinterpret_cast<const char*>(bytes.data()), bytes.size()}, settings.data,
                          {.seed = settings.seed, .length = settings.length.value_or(kTextLength)});
  }
  if (settings.task == "pictures") {
    PictureTaskOptions options{.seed = settings.seed};
    options.image_side = settings.image_side.value_or(options.image_side);
    options.patch_side = settings.patch_side.value_or(options.patch_side);
    return std::make_unique<PictureTask>(settings.data, options);
  }
  static_cast<void>(of_option("TASK", [&] { return make_task(settings.task); }));
  return make_task(settings.task, {.seed = settings.seed, .length = settings.length});
}

Model model_of(const TrainSettings& settings, const Task& task) {
  require_batch(settings, task);
  Generator generator(settings.seed);
  try {
    return make_task_model({.kind = model_kind_named(settings.model),
                            .layers = settings.layers,
                            .d_model = settings.d_model,
                            .heads = settings.heads,
                            .d_ff = settings.d_ff,
                            .positions = positions_named(settings.positions)},
                           task, generator);
  } catch (const InvalidArgument& error) {
    if (error.argument() != "task") throw;
    return of_option("--model", []() -> Model { throw; });
  }
}

std::string fingerprint(const Task& task) {
  constexpr std::int64_t kExamples = 64;
  Hash hash;
  add(hash, task.vocabulary());
  add(hash, task.source_vocabulary());
  for (std::int64_t n = 0; n < kExamples; ++n) {
    const TaskExample example = task.example(Split::train, n);
    hash.add(std::span<const std::int32_t>(example.source));
    hash.add(std::span<const std::int32_t>(example.tokens));
    if (!example.image.empty()) hash.add(example.image.values<float>());
  }
  if (const auto data = task.data_hash()) hash.add(std::span(&*data, 1));
  return fmt::format("{:016x}", hash.value());
}

void require_same_examples(const std::map<std::string, std::string>& saved,
                           const std::map<std::string, std::string>& now, const TrainSettings& settings) {
  const auto before = saved.find("examples");
  if (before != saved.end() && before->second == now.at("examples")) return;
  throw Error(fmt::format(
      "{} gives other examples than those that the checkpoint was trained on (expected the hash {}, got {})",
      target_of(settings), before == saved.end() ? "none" : before->second, now.at("examples")));
}

}  // namespace qkv::cli
