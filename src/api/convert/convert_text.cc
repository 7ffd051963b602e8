#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "api/replies/lines.h"
#include "qkv/api/convert.h"
#include "qkv/picture/terminal.h"

namespace qkv {
namespace {

std::string bytes_as_text(std::int64_t bytes) {
  const auto number = static_cast<double>(bytes);
  if (bytes >= 1'000'000'000) return fmt::format("{:.2f} GB", number / 1e9);
  if (bytes >= 1'000'000) return fmt::format("{:.1f} MB", number / 1e6);
  return fmt::format("{:.1f} kB", number / 1e3);
}

std::int64_t count_of(const ConvertFiguresTensor& tensor) {
  std::int64_t count = 1;
  for (const std::int64_t extent : tensor.shape) count *= extent;
  return count;
}

struct TypeTotal {
  std::int64_t tensors = 0, numbers = 0, bytes = 0;
  const ConvertFiguresTensor* worst = nullptr;
};

}  // namespace

std::string convert_as_text(const ConvertFigures& figures, int width) {
  std::map<std::string, TypeTotal> types;
  std::map<std::string, std::int64_t> kept;
  for (const ConvertFiguresTensor& tensor : figures.tensors) {
    TypeTotal& total = types[tensor.type];
    total.tensors += 1;
    total.numbers += count_of(tensor);
    total.bytes += tensor.bytes;
    if (total.worst == nullptr || tensor.error > total.worst->error) total.worst = &tensor;
    if (!tensor.kept.empty()) kept[tensor.type + ": " + tensor.kept] += 1;
  }
  std::string text =
      api_detail::prose(fmt::format("{}: {}, {}, {} tensors, read back and compared", one_line(figures.out),
                                    figures.form, bytes_as_text(figures.bytes), figures.tensors.size()),
                        width);
  text += fmt::format("  {:<6} {:>8} {:>14} {:>10}  largest relative error\n", "type", "tensors", "numbers", "size");
  for (const auto& [type, total] : types) {
    const std::string worst =
        total.worst->error == 0 ? "0" : fmt::format("{:.3g}  {}", total.worst->error, one_line(total.worst->name));
    text += fmt::format("  {:<6} {:>8} {:>14} {:>10}  {}\n", type, total.tensors, total.numbers,
                        bytes_as_text(total.bytes), worst);
  }
  for (const auto& [why, count] : kept) {
    text += api_detail::prose(fmt::format("{} tensor{} in {}", count, count == 1 ? "" : "s", why), width, 2);
  }
  return text;
}

}  // namespace qkv
