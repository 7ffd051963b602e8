#include "asking.h"

#include <algorithm>

namespace qkv::python {

Hearing::Hearing(std::string speaker, std::vector<std::string> known)
    : speaker_(std::move(speaker)), known_(std::move(known)), hears_([this](const std::string& what) {
        if (std::ranges::find(known_, what) == known_.end()) said_.push_back(what);
      }) {}

void Hearing::warn() const {
  constexpr int kCaller = 2;
  for (const std::string& what : said_) {
    const std::string text = speaker_ + ": " + what;
    if (PyErr_WarnEx(PyExc_UserWarning, text.c_str(), kCaller) != 0) throw nb::python_error();
  }
}

Hearing hearing_of(std::string_view function, const SharedModel& model) {
  if (!model) return Hearing(std::string(function));
  return Hearing(model->name, model->trained.model().cautions());
}

Opened::Opened(const SharedModel& model) {
  if (!model) return;
  opens_.emplace([&model](const std::string& /*its own*/, QuantisedWeights quantised) {
    const bool is_stored = quantised == QuantisedWeights::as_stored && model->stored;
    return OpenedModel(model, is_stored ? &*model->stored : &model->trained);
  });
}

}  // namespace qkv::python
