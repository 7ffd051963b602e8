#include "model/config.h"
#include "qkv/model/encoder.h"

namespace qkv {
namespace {

constexpr const char* kEncoderKind = "encoder";

constexpr auto kEncoderWords = [](auto& o, const auto& each) {
  each("vocabulary", o.vocabulary);
  each("length", o.length);
  each("layers", o.layers);
  each("d_model", o.d_model);
  each("heads", o.heads);
  each("d_ff", o.d_ff, 4 * o.d_model);
  each("positions", o.positions);
  each("tied", o.tied);
  each("order", o.order);
  each("embedding", o.embedding, embedding_scale(o));
  each("activation", o.activation);
  each("bias", o.bias);
};

}  // namespace

std::map<std::string, std::string> config_of(const EncoderOptions& options) {
  return config_from(kEncoderKind, options, kEncoderWords);
}

EncoderOptions encoder_options(const std::map<std::string, std::string>& config) {
  return options_from<EncoderOptions>("encoder_options", kEncoderKind, config, kEncoderWords);
}

}  // namespace qkv
