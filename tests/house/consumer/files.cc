#include <qkv/files.h>

#include <cstdio>

int main() {
  qkv::write_file("consumer.txt", std::string_view("qkv"));
  const auto bytes = qkv::read_file("consumer.txt");
  std::remove("consumer.txt");
  return bytes.size() == 3 ? 0 : 1;
}
