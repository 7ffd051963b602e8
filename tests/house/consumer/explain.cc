#include <qkv/explain.h>

int main() {
  qkv::ExplainOptions options;
  options.text = "The cat sat down";
  const std::string text = qkv::to_text(qkv::explain(options), {});
  return text.find("Softmax") != std::string::npos ? 0 : 1;
}
