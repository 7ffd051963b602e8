#include "encodings.h"

#include <openssl/evp.h>
#include <zlib.h>

#include <array>
#include <cstdint>
#include <new>

#include "qkv/error.h"

namespace qkv::studio {
namespace {

constexpr int kGzip = 16;  // zlib's mark of gzip's header, beside the window
constexpr int kMemory = 8;
constexpr std::size_t kPart = std::size_t{1} << 16;

unsigned char* bytes_of(std::string_view text) {
  return reinterpret_cast<unsigned char*>(const_cast<char*>(text.data()));  // zlib does not write there
}

/// A stream of zlib's: `end` gives its memory back.
class Stream {
 public:
  Stream(std::string_view bytes, int (*end)(z_stream*)) : end_(end) {
    stream_.next_in = bytes_of(bytes);
    stream_.avail_in = static_cast<uInt>(bytes.size());
  }
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;
  ~Stream() { end_(&stream_); }

  [[nodiscard]] z_stream* get() noexcept { return &stream_; }

  /// Runs `step` (deflate or inflate) until it says that the stream ends.
  template <class Step>
  std::string run_through(Step step) {
    std::string made;
    std::array<unsigned char, kPart> part{};
    for (int result = Z_OK; result != Z_STREAM_END;) {
      stream_.next_out = part.data();
      stream_.avail_out = static_cast<uInt>(part.size());
      result = step(&stream_);
      const std::size_t count = part.size() - stream_.avail_out;
      if (result != Z_OK && result != Z_STREAM_END) throw Error("gzip: expected a whole stream, got a damaged one");
      made.append(reinterpret_cast<const char*>(part.data()), count);
    }
    return made;
  }

 private:
  z_stream stream_{};
  int (*end_)(z_stream*);
};

// As a policy has its hashes.
std::string base64(std::string_view bytes) {
  std::string text((bytes.size() + 2) / 3 * 4 + 1, '\0');  // and the zero that is written after it
  const int count =
      EVP_EncodeBlock(reinterpret_cast<unsigned char*>(text.data()), bytes_of(bytes), static_cast<int>(bytes.size()));
  text.resize(static_cast<std::size_t>(count));
  return text;
}

}  // namespace

std::string gzipped(std::string_view bytes) {
  Stream stream(bytes, deflateEnd);
  // The best compression makes a page 1 % smaller in four times the time.
  if (deflateInit2(stream.get(), Z_DEFAULT_COMPRESSION, Z_DEFLATED, MAX_WBITS + kGzip, kMemory, Z_DEFAULT_STRATEGY) !=
      Z_OK) {
    throw std::bad_alloc();
  }
  return stream.run_through([](z_stream* at) { return deflate(at, Z_FINISH); });
}

std::string gunzipped(std::string_view bytes) {
  Stream stream(bytes, inflateEnd);
  if (inflateInit2(stream.get(), MAX_WBITS + kGzip) != Z_OK) throw std::bad_alloc();
  return stream.run_through([](z_stream* at) { return inflate(at, Z_NO_FLUSH); });
}

PackedSize::PackedSize()
    : stream_(std::make_unique<z_stream>().release(), [](z_stream* stream) {
        const int result = deflateEnd(stream);
        delete stream;
        return result;
      }) {
  if (deflateInit(stream_.get(), Z_DEFAULT_COMPRESSION) != Z_OK) throw std::bad_alloc();
}

void PackedSize::add(std::string_view bytes) {
  std::array<unsigned char, kPart> part{};
  stream_->next_in = bytes_of(bytes);
  stream_->avail_in = static_cast<uInt>(bytes.size());
  do {
    stream_->next_out = part.data();
    stream_->avail_out = static_cast<uInt>(part.size());
    deflate(stream_.get(), Z_NO_FLUSH);
    bytes_ += part.size() - stream_->avail_out;
  } while (stream_->avail_out == 0);
}

std::string base85(std::string_view bytes) {
  constexpr std::string_view kDigits =
      "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ.-:+=^!/*?&>()[]{}@%$#_";
  constexpr auto kBase = static_cast<std::uint32_t>(kDigits.size());
  constexpr std::size_t kBytes = 4;
  std::string text;
  text.reserve(base85_bytes(bytes.size()) + kBytes);
  for (std::size_t at = 0; at < bytes.size(); at += kBytes) {
    std::uint32_t number = 0;
    for (std::size_t n = at; n < at + kBytes; ++n) {
      number = number << 8 | (n < bytes.size() ? static_cast<unsigned char>(bytes[n]) : 0U);
    }
    std::array<char, kBytes + 1> digits{};
    for (auto digit = digits.rbegin(); digit != digits.rend(); ++digit) {
      *digit = kDigits[number % kBase];
      number /= kBase;
    }
    text.append(digits.data(), digits.size());
  }
  text.resize(base85_bytes(bytes.size()));
  return text;
}

std::string csp_hash(std::string_view text) {
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  unsigned count = 0;
  if (EVP_Digest(text.data(), text.size(), digest.data(), &count, EVP_sha256(), nullptr) != 1) {
    throw Error("hash: the cryptographic library refuses it");
  }
  return "sha256-" + base64({reinterpret_cast<const char*>(digest.data()), count});
}

}  // namespace qkv::studio
