#include "files/mapped_file.h"

#include <sys/mman.h>

#include <cerrno>
#include <utility>

#include "files/descriptor.h"

namespace qkv::files {
namespace {

class Mapping {
 public:
  Mapping(void* begin, std::size_t size) : begin_(begin), size_(size) {}
  Mapping(const Mapping&) = delete;
  Mapping& operator=(const Mapping&) = delete;
  ~Mapping() { ::munmap(begin_, size_); }

 private:
  void* begin_;
  std::size_t size_;
};

}  // namespace

SharedBytes share_bytes(std::vector<std::byte> bytes) {
  const auto owner = std::make_shared<const std::vector<std::byte>>(std::move(bytes));
  return {.owner = owner, .bytes = *owner};
}

SharedBytes map_file(const std::string& path) {
  const Descriptor descriptor = open_to_read(path);
  const std::size_t size = size_of_file(descriptor, path);
  if (size == 0) return share_bytes(read_to_end(descriptor, path));
  void* begin = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, descriptor.number(), 0);
  if (begin == MAP_FAILED) {
    const int reason = errno;
    if (reason == ENODEV) return share_bytes(read_to_end(descriptor, path));  // a file system without mappings
    fail("cannot map", path, system_reason(reason));
  }
  return {.owner = std::make_shared<const Mapping>(begin, size), .bytes = {static_cast<const std::byte*>(begin), size}};
}

}  // namespace qkv::files
