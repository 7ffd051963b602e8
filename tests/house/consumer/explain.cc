#include <qkv/explain.h>

int main() {
  qkv::ExplainOptions options;
  options.text = "The cat sat down";
  const std::string json = qkv::to_json(qkv::explain(options));
  return json.find("softmax") != std::string::npos ? 0 : 1;
}
