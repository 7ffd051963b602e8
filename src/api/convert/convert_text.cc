#include <fmt/format.h>

#include <map>

#include "api/replies/lines.h"
#include "core/counted.h"
#include "qkv/api/convert.h"
#include "qkv/picture/terminal.h"

namespace qkv {
namespace {

std::int64_t count_of(const ConvertedTensor& tensor) {
  std::int64_t count = 1;
  for (const std::int64_t extent : tensor.shape) count *= extent;
  return count;
}

struct TypeTotal {
  std::int64_t tensors = 0, numbers = 0, bytes = 0;
  const ConvertedTensor* worst = nullptr;
};

}  // namespace

std::string convert_as_text(const ConvertFigures& figures, int width) {
  std::map<std::string, TypeTotal> types;
  std::map<std::string, std::int64_t> kept;
  for (const ConvertedTensor& tensor : figures.tensors) {
    TypeTotal& total = types[tensor.type];
    total.tensors += 1;
    total.numbers += count_of(tensor);
    total.bytes += tensor.bytes;
    if (total.worst == nullptr || tensor.error > total.worst->error) total.worst = &tensor;
    if (!tensor.kept.empty()) kept[tensor.type + ": " + tensor.kept] += 1;
  }
  std::string text =
      api_detail::prose(fmt::format("{}: {}, {}, {} tensors, read back and compared", one_line(figures.out),
                                    figures.form, api_detail::size_text(figures.bytes), figures.tensors.size()),
                        width);
  text += fmt::format("  {:<6} {:>8} {:>14} {:>10}  largest relative error\n", "type", "tensors", "numbers", "size");
  for (const auto& [type, total] : types) {
    const std::string worst =
        total.worst->error == 0 ? "0" : fmt::format("{:.3g}  {}", total.worst->error, one_line(total.worst->name));
    text += fmt::format("  {:<6} {:>8} {:>14} {:>10}  {}\n", type, total.tensors, total.numbers,
                        api_detail::size_text(total.bytes), worst);
  }
  for (const auto& [why, count] : kept) {
    text += api_detail::prose(fmt::format("{} in {}", core::counted(count, "tensor"), why), width, 2);
  }
  return text;
}

}  // namespace qkv
