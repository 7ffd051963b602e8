// Settings as words of a checkpoint, and back.
#pragma once

#include "model/words.h"
#include "qkv/train/settings.h"

namespace qkv::training {

/// each(name, member) for every one: what is written, read and held to its bounds comes from this list.
template <class Settings, class Each>
void for_each_member(Settings& s, const Each& each) {
  each("task", s.task);
  each("data", s.data);
  each("tokenizer", s.tokenizer);
  each("from", s.from);
  each("length", s.length);
  each("image_side", s.image_side);
  each("patch_side", s.patch_side);
  each("seed", s.seed);
  each("steps", s.steps);
  each("batch", s.batch);
  each("accumulation", s.accumulation);
  each("optimizer", s.optimizer);
  each("momentum", s.momentum);
  each("learning_rate", s.learning_rate);
  each("schedule", s.schedule);
  each("warm_up", s.warm_up);
  each("weight_decay", s.weight_decay);
  each("clip", s.clip);
  each("dropout", s.dropout);
  each("dtype", s.dtype);
  each("stored", s.stored);
  each("model", s.model);
  each("layers", s.layers);
  each("d_model", s.d_model);
  each("heads", s.heads);
  each("d_ff", s.d_ff);
  each("positions", s.positions);
}

/// The same by the words of a checkpoint.
template <class Reporting, class Each>
void for_each_word(Reporting& r, const Each& each) {
  each("report.examine_every", r.examine_every);
  each("report.save_every", r.save_every);
  each("report.keep_every", r.keep_every);
  each("report.examples", r.examples);
}

[[nodiscard]] Words words_of(const TrainSettings& settings);
/// Throws Error naming the word that is missing or has no meaning.
[[nodiscard]] TrainSettings settings_of(const Words& words);
[[nodiscard]] Words words_of(const TrainReporting& reporting);
/// Words that are missing leave what is usual.
[[nodiscard]] TrainReporting reporting_of(const Words& words);

}  // namespace qkv::training
