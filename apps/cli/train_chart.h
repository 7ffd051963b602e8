// The picture of a run's losses.
#pragma once

#include "qkv/train/run.h"

namespace qkv::cli {

/// loss.svg and loss.png beside the log; nothing while the log has no line. Throws Error.
void draw_losses(const TrainSettings& settings, const TrainPlace& place);

}  // namespace qkv::cli
