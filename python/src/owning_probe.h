// A probe together with what it reads.
#pragma once

#include <memory>

#include "qkv/mask.h"
#include "qkv/probe.h"

namespace qkv::python {

/// `viewed` keeps q, k and lse: the arrays of a call, or the trace of a model. Probes of some queries share it.
struct OwningProbe {
  std::shared_ptr<const void> viewed;
  Probe probe;
  Mask mask;
};

}  // namespace qkv::python
