#include "qkv/kv.h"

#include <cstddef>
#include <cstring>
#include <string>

#include "core/element.h"

namespace qkv {
namespace {

void check_fit(const TensorView& past, const TensorView& present) {
  if (past.rank() != 4) {
    throw InvalidArgument("concat_time", "past", "a shape [B, Hk, Tp, D]", past.shape().to_string());
  }
  if (present.dtype() != past.dtype()) {
    throw InvalidArgument("concat_time", "present", std::string(name_of(past.dtype())) + " as past",
                          name_of(present.dtype()));
  }
  if (present.rank() != 4 || present.shape().without(2) != past.shape().without(2)) {
    throw InvalidArgument("concat_time", "present", "the B, Hk and D of past " + past.shape().to_string(),
                          present.shape().to_string());
  }
}

void require_scatter(bool holds, std::string_view argument, const std::string& expected, const std::string& got) {
  if (!holds) throw InvalidArgument("scatter_time", argument, expected, got);
}

void check_scatter(const TensorView& buffer, const TensorView& update, const std::vector<std::int64_t>& starts,
                   BeyondEnd beyond_end) {
  require_scatter(buffer.rank() == 4, "buffer", "a shape [B, Hk, C, D]", buffer.shape().to_string());
  require_scatter(update.dtype() == buffer.dtype(), "update", std::string(name_of(buffer.dtype())) + " as buffer",
                  std::string(name_of(update.dtype())));
  require_scatter(update.rank() == 4 && update.shape().without(2) == buffer.shape().without(2), "update",
                  "the B, Hk and D of buffer " + buffer.shape().to_string(), update.shape().to_string());
  const auto entries = static_cast<std::int64_t>(starts.size());
  require_scatter(entries == buffer.dim(0), "starts",
                  "one for each of " + std::to_string(buffer.dim(0)) + " batch entries", std::to_string(entries));
  const std::int64_t last = buffer.dim(2) - (beyond_end == BeyondEnd::refuse ? update.dim(2) : 1);
  for (const std::int64_t start : starts) {
    require_scatter(start >= 0 && (start <= last || update.dim(2) == 0), "starts",
                    "0 to " + std::to_string(last) + " for " + std::to_string(update.dim(2)) +
                        " tokens in a buffer of " + std::to_string(buffer.dim(2)),
                    std::to_string(start));
  }
}

// Row [b, h, t].
std::int64_t offset_of(const TensorView& x, std::int64_t b, std::int64_t h, std::int64_t t) {
  return b * x.strides()[0] + h * x.strides()[1] + t * x.strides()[2];
}

}  // namespace

Tensor concat_time(const TensorView& past, const TensorView& present) {
  check_fit(past, present);
  const Tensor first(past);
  const Tensor second(present);
  Tensor joined(past.dtype(), {past.dim(0), past.dim(1), past.dim(2) + present.dim(2), past.dim(3)});
  const auto row_bytes = [](const Tensor& tensor) {
    return static_cast<std::size_t>(tensor.dim(2) * tensor.dim(3)) * size_of(tensor.dtype());
  };
  auto* target = static_cast<std::byte*>(joined.data());
  for (std::int64_t row = 0; row < past.dim(0) * past.dim(1); ++row) {
    for (const Tensor* part : {&first, &second}) {
      const std::size_t bytes = row_bytes(*part);
      if (bytes > 0) {
        std::memcpy(target, static_cast<const std::byte*>(part->data()) + static_cast<std::size_t>(row) * bytes, bytes);
      }
      target += bytes;
    }
  }
  return joined;
}

void scatter_time(const MutableTensorView& buffer, const TensorView& update, const std::vector<std::int64_t>& starts,
                  BeyondEnd beyond_end) {
  check_scatter(buffer, update, starts, beyond_end);
  core::with_type(buffer.dtype(), [&]<class T>(T) {
    for (std::int64_t row = 0; row < update.dim(0) * update.dim(1) * update.dim(2); ++row) {
      const std::int64_t t = row % update.dim(2);
      const std::int64_t h = row / update.dim(2) % update.dim(1);
      const std::int64_t b = row / update.dim(2) / update.dim(1);
      const std::int64_t place = (starts[static_cast<std::size_t>(b)] + t) % buffer.dim(2);
      T* to = static_cast<T*>(buffer.data()) + offset_of(buffer.view(), b, h, place);
      const T* from = static_cast<const T*>(update.data()) + offset_of(update, b, h, t);
      for (std::int64_t d = 0; d < update.dim(3); ++d) to[d * buffer.strides()[3]] = from[d * update.strides()[3]];
    }
  });
}

}  // namespace qkv
