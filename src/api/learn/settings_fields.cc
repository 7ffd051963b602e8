// The settings of a training run as fields: the command's options, and Python's arguments.
#include <span>
#include <string>
#include <vector>

#include "api/fields/shared_fields.h"
#include "qkv/api/train.h"
#include "qkv/model/model_kind.h"

namespace qkv {
namespace {

using api_detail::shared_field;

constexpr const char* kOfTask = "the task's";

void take_bounds(FieldTable& fields, std::span<const SettingBounds> all) {
  for (const SettingBounds& one : all) {
    const Bound least = one.is_open_below() ? above(one.least) : Bound(one.least);
    fields.give_bounds({{one.name, least, one.is_open_above() ? below(one.most) : Bound(one.most)}});
  }
}

void add_what(Fields<TrainSettings>& fields) {
  using S = TrainSettings;
  fields.add(&S::task, {.name = "task",
                        .form = "NAME",
                        .meaning = "One that `qkv task` lists, or text, pictures, tokenizer",
                        .required = true});
  fields.add(&S::data, {.name = "data",
                        .form = "PATH",
                        .meaning = "For text and tokenizer a file, UTF-8; for pictures a directory of PNG files with "
                                   "captions"});
  fields.info("data").needs_one = {"task=text", "task=pictures", "task=tokenizer"};
  fields.tell_arguments({{"data", {"text"}}});
  fields.give_examples({{"task", "previous"}, {"data", "book.txt"}});
}

void add_model(Fields<TrainSettings>& fields) {
  using S = TrainSettings;
  const auto add = [&](auto place, const char* name, const char* form, const char* meaning, const char* otherwise) {
    fields.add(place, {.name = name, .form = form, .meaning = meaning, .group = "The model", .otherwise = otherwise});
  };
  add(&S::tokenizer, "tokenizer", "PATH", "Tokens of this file or model folder", "characters");
  add(&S::from, "from", "MODEL",
      "Go on from this model of the box, file, GGUF file (its weights as f32) or folder, with its tokenizer", "");
  fields.add(
      &S::model,
      {.name = "model", .form = "NAME", .meaning = "Which kind", .group = "The model", .words = trained_kind_names()});
  fields.add(&S::layers, shared_field("layers", "The model"));
  fields.add(&S::d_model, shared_field("d_model", "The model"));
  fields.add(&S::heads, shared_field("heads", "The model"));
  fields.add(&S::d_ff, shared_field("d_ff", "The model"));
  fields.add(&S::positions, shared_field("positions", "The model"));
  fields.give_otherwise(
      {{"model", kOfTask}, {"layers", kOfTask}, {"d_model", kOfTask}, {"heads", kOfTask}, {"positions", kOfTask}});
  fields.info("from").python = "start";
  for (const char* const of_text : {"tokenizer", "from"}) fields.info(of_text).needs = {"task=text"};
  fields.exclude({"tokenizer", "model", "layers", "d_model", "heads", "d_ff", "positions"}, {"from"},
                 "that model has its own");
  fields.tell_arguments({{"from", {"tokenizer"}}});
  fields.give_examples(
      {{"tokenizer", "tokenizer.json"}, {"from", "gpt"}, {"model", "encoder"}, {"positions", "learned"}});
}

void add_training(Fields<TrainSettings>& fields) {
  using S = TrainSettings;
  const auto add = [&](auto place, const char* name, const char* form, const char* meaning,
                       const char* otherwise = "") {
    fields.add(place, {.name = name, .form = form, .meaning = meaning, .group = "Training", .otherwise = otherwise});
  };
  fields.add(&S::steps, shared_field("steps", "Training"));
  add(&S::batch, "batch", "N", "Examples of a batch", kOfTask);
  add(&S::accumulation, "accumulation", "N", "Batches of a step");
  add(&S::optimizer, "optimizer", "NAME", "adamw or sgd");
  add(&S::momentum, "momentum", "X", "Of sgd");
  add(&S::learning_rate, "learning_rate", "X", "The highest", kOfTask);
  add(&S::schedule, "schedule", "NAME", "cosine (down to 0) or constant");
  add(&S::warm_up, "warm_up", "N", "Steps up to the highest rate");
  add(&S::weight_decay, "weight_decay", "X", "Of matrices");
  add(&S::clip, "clip", "X", "Largest norm of the gradients");
  add(&S::dropout, "dropout", "X", "Share of numbers left out");
  add(&S::dtype, "dtype", "TYPE", "What is computed in: f32 or bf16; parameters are f32");
  add(&S::stored, "store", "TYPE", "What the model's file holds: f32, bf16 or f16");
  fields.add(&S::length, shared_field("length", "Training"));
  add(&S::image_side, "image_side", "N", "Pixels that pictures are brought to");
  add(&S::patch_side, "patch_side", "N", "Pixels of a patch of pictures");
  add(&S::seed, "seed", "N", "Of the model, the examples and dropout");
  fields.give_otherwise({{"steps", kOfTask}});
  fields.info("store").former = {"stored"};
  fields.info("momentum").needs = {"optimizer=sgd"};
  fields.exclude({"length"}, {"task=pictures"}, "a caption is as long as it is");
  for (const char* const of_picture : {"image_side", "patch_side"}) fields.info(of_picture).needs = {"task=pictures"};
  fields.info("optimizer").words = {"adamw", "sgd"};
  fields.info("schedule").words = {"cosine", "constant"};
  fields.info("dtype").words = {"f32", "bf16"};
  fields.info("store").words = {"f32", "bf16", "f16"};
  fields.give_fallbacks({{"store", "f32"}, {"image_side", "48"}, {"patch_side", "8"}});
  fields.give_examples({{"optimizer", "sgd"}, {"schedule", "constant"}, {"dtype", "bf16"}, {"store", "f16"}});
}

}  // namespace

const Fields<TrainSettings>& train_settings_fields() {
  static const Fields<TrainSettings> kFields = [] {
    Fields<TrainSettings> fields;
    add_what(fields);
    add_model(fields);
    add_training(fields);
    take_bounds(fields, kSettingBounds);
    return fields;
  }();
  return kFields;
}

const Fields<TrainReporting>& train_reporting_fields() {
  static const Fields<TrainReporting> kFields = [] {
    using R = TrainReporting;
    Fields<R> fields;
    const auto add = [&](std::int64_t R::* place, const char* name, const char* meaning) {
      fields.add(place, {.name = name, .form = "N", .meaning = meaning, .group = "The run"});
    };
    add(&R::save_every, "save_every", "Steps between checkpoints");
    add(&R::keep_every, "keep_every", "Steps between models that are kept, to watch heads form; 0: none");
    add(&R::examine_every, "examine_every", "Steps between examinations");
    add(&R::examples, "examples", "Held-out examples of an examination");
    take_bounds(fields, kReportingBounds);
    return fields;
  }();
  return kFields;
}

}  // namespace qkv
