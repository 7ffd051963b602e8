// Training for whoever has the address of a studio: small models, in the directory where it was started.
#pragma once

#include "qkv/api/train.h"

namespace qkv::api_detail {

/// Throws InvalidArgument naming the field for a run of another task than the built-in ones, in another directory than
/// qkv-TASK, of a large model or with many files.
void require_run_for_readers(const TrainRun& run, const Given& given);

}  // namespace qkv::api_detail
