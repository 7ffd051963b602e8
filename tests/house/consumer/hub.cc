#include <qkv/hub/fetch.h>

#include <string>

int main() {
  try {
    static_cast<void>(qkv::look_up_model("no name"));
  } catch (const qkv::InvalidArgument& error) {
    return error.argument() == "name" ? 0 : 1;
  }
  return 1;
}
