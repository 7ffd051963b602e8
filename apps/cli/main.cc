#include <CLI/CLI.hpp>

int main(int argc, char** argv) {
  CLI::App app{"qkv: exact attention that shows its work"};
  CLI11_PARSE(app, argc, argv);
  return 0;
}
