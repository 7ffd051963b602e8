#include "asking.h"

#include <algorithm>

namespace qkv::python {

void warn(std::string_view speaker, const std::vector<std::string>& cautions) {
  constexpr int kCaller = 2;
  for (const std::string& what : cautions) {
    const std::string text = std::string(speaker) + ": " + what;
    if (PyErr_WarnEx(PyExc_UserWarning, text.c_str(), kCaller) != 0) throw nb::python_error();
  }
}

void warn(std::string_view function, const SharedModel& model, std::vector<std::string> cautions) {
  if (!model) return warn(function, cautions);
  const std::vector<std::string> known = model->trained.model().cautions();
  std::erase_if(cautions, [&](const std::string& what) { return std::ranges::find(known, what) != known.end(); });
  warn(model->name, cautions);
}

Opened::Opened(const SharedModel& model) {
  if (!model) return;
  opens_.emplace([&model](const std::string& /*its own*/, std::optional<ModelNumbers> numbers) {
    const bool is_stored = numbers == ModelNumbers::file && model->stored;
    if (numbers == ModelNumbers::f64 && model->trained.model().dtype() != DType::f64) {
      return std::make_shared<const TextModel>(model->trained.to(DType::f64));
    }
    return OpenedModel(model, is_stored ? &*model->stored : &model->trained);
  });
}

}  // namespace qkv::python
