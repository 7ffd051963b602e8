// What the files of this module share: a model that was opened, and what each file adds.
#pragma once

#include <nanobind/stl/shared_ptr.h>

#include <memory>
#include <string>
#include <string_view>

#include "../python.h"
#include "../signals.h"
#include "qkv/error.h"
#include "qkv/train/trained_model.h"
#include "qkv/watched.h"

namespace qkv::python {

/// A model, and the name or path by which it was opened.
struct LoadedModel {
  std::string name;
  std::string path;
  TrainedModel trained;
  std::optional<TrainedModel> stored =
      std::nullopt;  // with its weights as they lie in the file, where those are quantised
};
using SharedModel = std::shared_ptr<const LoadedModel>;

/// This module has an engine of its own: it computes on as many threads as qkv.set_threads() says.
void follow_threads();

/// Calls without the GIL, on qkv.threads() threads.
template <class Call>
auto freely(const Call& call) {
  follow_threads();
  const nb::gil_scoped_release free;
  return call();
}

/// The same, and what signals raise ends the call.
template <class Call>
auto stoppably(const Call& call) {
  const WatchedThread watched(signal_watch());
  return freely(call);
}

/// Throws InvalidArgument unless least <= value <= most: bounds that the command has, too.
inline void require_between(std::string_view function, std::string_view argument, std::int64_t value,
                            std::int64_t least, std::int64_t most) {
  if (value >= least && value <= most) return;
  throw InvalidArgument(function, argument, "from " + std::to_string(least) + " to " + std::to_string(most),
                        std::to_string(value));
}

void add_ask(nb::module_& module);
void add_heatmaps(nb::module_& module);
void add_insight(nb::module_& module);
void add_report(nb::module_& module);
void add_studio(nb::module_& module);
void add_train(nb::module_& module);
void add_texts(nb::module_& module);
void add_tokenizer(nb::module_& module);
void add_model(nb::module_& module);
void add_trace(nb::module_& module);

}  // namespace qkv::python
