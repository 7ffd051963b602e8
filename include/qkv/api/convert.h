// A model in another file or type: `qkv convert`.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "qkv/api/field.h"
#include "qkv/api/member.h"
#include "qkv/model/convert.h"

namespace qkv {

struct ConvertRequest {
  std::string model, out;
  std::optional<std::string> type;
  bool overwrite = false;
};

[[nodiscard]] const Fields<ConvertRequest>& convert_fields();

/// What `qkv convert --json` prints.
struct ConvertFigures {
  std::string model, out, form;
  std::int64_t bytes = 0;
  std::string worst;
  double worst_error = 0;
  std::vector<ConvertedTensor> tensors;
  std::vector<std::string> cautions;
};

/// Writes the file or folder. Throws InvalidArgument naming the field, otherwise as convert_model().
[[nodiscard]] ConvertFigures convert(
    const ConvertRequest& request,
    const std::function<void(std::string_view stage, std::int64_t done, std::int64_t all)>& progress);
[[nodiscard]] ConvertFigures answer(const ConvertRequest& request);

/// For people, in lines of at most `width` columns.
[[nodiscard]] std::string convert_as_text(const ConvertFigures& figures, int width);

[[nodiscard]] Members<ConvertedTensor> describe(const ConvertedTensor* tensor);
[[nodiscard]] Members<ConvertFigures> describe(const ConvertFigures* figures);

}  // namespace qkv
