// Models of the box, with what each has learnt; and models that are open already.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "qkv/api/about.h"
#include "qkv/api/models.h"

namespace qkv::api_detail {

[[nodiscard]] std::vector<AboutModel> models_of_the_box();

/// Reads its file. Throws as open_model().
[[nodiscard]] OpenedModel read_model(const std::string& name, QuantisedWeights quantised = QuantisedWeights::as_f32);

/// While it lives, open_model() on this thread takes what `open` gives, but for quantised weights.
class KeptModels {
 public:
  using Open = std::function<OpenedModel(const std::string& name)>;

  explicit KeptModels(Open open);
  KeptModels(const KeptModels&) = delete;
  KeptModels& operator=(const KeptModels&) = delete;
  ~KeptModels();

  [[nodiscard]] OpenedModel open(const std::string& name) const { return open_(name); }

 private:
  Open open_;
  const KeptModels* outer_;
};

}  // namespace qkv::api_detail
