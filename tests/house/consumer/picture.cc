#include <qkv/picture/heatmap.h>

int main() {
  qkv::Heatmap heatmap;
  heatmap.values = qkv::Tensor(std::vector<float>{0.25F, 0.75F, 0.5F, 0.5F}, {2, 2});
  const std::string svg = qkv::to_svg({"", {heatmap}});
  return svg.find("<svg") != std::string::npos ? 0 : 1;
}
