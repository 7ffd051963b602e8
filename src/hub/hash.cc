#include "hub/hash.h"

#include <fmt/format.h>
#include <openssl/evp.h>

#include <array>
#include <filesystem>
#include <fstream>
#include <new>
#include <vector>

#include "qkv/error.h"

namespace qkv::hub {
namespace {

constexpr std::size_t kSha256Digits = 64;
constexpr std::size_t kPart = std::size_t{1} << 20;

void require(int succeeded) {
  if (succeeded != 1) throw Error("hash: the cryptographic library refuses it");
}

}  // namespace

FileHash::FileHash(const std::string& wanted, std::int64_t size) : context_(EVP_MD_CTX_new()) {
  if (context_ == nullptr) throw std::bad_alloc();
  const bool is_blob = wanted.size() != kSha256Digits;
  require(EVP_DigestInit_ex(context_, is_blob ? EVP_sha1() : EVP_sha256(), nullptr));
  if (!is_blob) return;
  const std::string head = "blob " + std::to_string(size) + '\0';
  require(EVP_DigestUpdate(context_, head.data(), head.size()));
}

FileHash::~FileHash() { EVP_MD_CTX_free(context_); }

void FileHash::add(std::span<const std::byte> bytes) {
  require(EVP_DigestUpdate(context_, bytes.data(), bytes.size()));
}

std::string FileHash::digits() {
  std::array<unsigned char, EVP_MAX_MD_SIZE> bytes{};
  unsigned count = 0;
  require(EVP_DigestFinal_ex(context_, bytes.data(), &count));
  std::string text;
  for (unsigned n = 0; n < count; ++n) text += fmt::format("{:02x}", bytes[n]);
  return text;
}

bool is_whole(const std::string& path, std::int64_t size, const std::string& hash) {
  std::error_code missing;
  const auto there = std::filesystem::file_size(path, missing);
  if (missing || static_cast<std::int64_t>(there) != size) return false;
  std::ifstream file(path, std::ios::binary);
  if (!file) throw FileError::saying(path, "cannot read " + path);
  FileHash found(hash, size);
  std::vector<char> part(kPart);
  while (file) {
    file.read(part.data(), static_cast<std::streamsize>(part.size()));
    found.add(std::as_bytes(std::span(part.data(), static_cast<std::size_t>(file.gcount()))));
  }
  return found.digits() == hash;
}

}  // namespace qkv::hub
