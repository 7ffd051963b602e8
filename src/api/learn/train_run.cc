#include <algorithm>
#include <array>
#include <filesystem>

#include "api/fields/refuse.h"
#include "qkv/api/train.h"
#include "qkv/files.h"
#include "qkv/text/read_tokenizer.h"

namespace qkv {

using api_detail::refuse;

const Fields<TrainRun>& train_run_fields() {
  static const Fields<TrainRun> kFields = [] {
    Fields<TrainRun> fields;
    fields.add(&TrainRun::settings, train_settings_fields());
    fields.add(&TrainRun::size,
               {.name = "size", .form = "N", .meaning = "Pieces of a tokenizer (8000)", .group = "A tokenizer"});
    fields.add(&TrainRun::out, {.name = "out",
                                .form = "DIR",
                                .meaning = "Where checkpoint, model, log and pictures go (qkv-TASK)",
                                .group = "The run"});
    fields.add(&TrainRun::reporting, train_reporting_fields());
    fields.tell_bounds({{"size", 1, kAnyCount}});
    fields.give_examples({{"out", "copy"}});
    return fields;
  }();
  return kFields;
}

void require_data(const TrainSettings& settings) {
  const bool takes = takes_data(settings.task);
  if (takes && settings.data.empty()) {
    refuse("data", settings.task == "text" ? "a file for text" : "a directory for " + settings.task, "none");
  }
  if (settings.task != "pictures") {
    const char* const why = "none but for pictures";
    if (settings.image_side) refuse("image_side", why, std::to_string(*settings.image_side));
    if (settings.patch_side) refuse("patch_side", why, std::to_string(*settings.patch_side));
  } else if (settings.length) {
    refuse("length", "none for pictures", std::to_string(*settings.length));
  }
  if (settings.task != "text" && settings.from) refuse("from", "none but for text", *settings.from);
  if (settings.task != "text" && settings.tokenizer) refuse("tokenizer", "none but for text", *settings.tokenizer);
  if (!takes && !settings.data.empty()) {
    refuse("data", "none for the built-in task " + settings.task, settings.data);
  }
}

TokenizerRun tokenizer_run(const TrainRun& run, const Given& given) {
  constexpr std::array<std::string_view, 5> kOurs = {"task", "data", "size", "out", "json"};
  for (const std::string& name : given.names()) {
    if (std::ranges::find(kOurs, name) == kOurs.end()) refuse(name, "none beside a tokenizer", "`" + name + "`");
  }
  if (run.settings.data.empty()) refuse("data", "a file for tokenizer", "none");
  TokenizerRun tokenizer{.data = run.settings.data, .out = run.out.empty() ? "tokenizer.json" : run.out, .options = {}};
  tokenizer.options.size = run.size.value_or(tokenizer.options.size);
  return tokenizer;
}

TrainTokenizerReply trained_tokenizer(const TokenizerRun& run) {
  const std::vector<std::byte> bytes = read_file(run.data);
  const std::string_view text = require_utf8({reinterpret_cast<const char*>(bytes.data()), bytes.size()}, run.data);
  const std::string json = train_tokenizer(text, run.options);
  write_file(run.out, json);
  const auto tokenizer = parse_tokenizer_json(json, run.out);
  return {.pieces = static_cast<std::int64_t>(tokenizer->size()),
          .bytes = static_cast<std::int64_t>(bytes.size()),
          .tokens = static_cast<std::int64_t>(tokenizer->encode(text).ids.size()),
          .out = run.out};
}

AnyReply answer(const TrainRun& run, const Given& given) {
  if (run.settings.task == "tokenizer") return any_reply(trained_tokenizer(tokenizer_run(run, given)));
  if (run.size) refuse("size", "none but for a tokenizer", std::to_string(*run.size));
  require_data(run.settings);
  const TrainSettings settings = with_recipe(run.settings, given);
  require_sound(settings, run.reporting);
  const TrainPlace place{.directory = run.out.empty() ? "qkv-" + settings.task : run.out};
  if (std::filesystem::exists(place.checkpoint())) refuse("out", "one without a checkpoint", place.directory);
  return any_reply(train_reply(*run_training(settings, run.reporting, place, TrainStart::anew)));
}

}  // namespace qkv
