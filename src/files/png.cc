#include "qkv/png.h"

#include <png.h>

#include <csetjmp>
#include <cstring>
#include <string>
#include <vector>

#include "files/file_kind.h"

namespace qkv {
namespace {

constexpr std::int64_t kMostPixels = std::int64_t{1} << 26U;
constexpr std::uint32_t kWhite = 255;
constexpr std::int64_t kPngChannels = 3;

// What libpng's callbacks see: the bytes that are left, and why it stopped.
struct PngSource {
  std::span<const std::byte> left;
  std::string error;
};

void read_png(png_structp png, png_bytep to, std::size_t count) {
  auto& source = *static_cast<PngSource*>(png_get_io_ptr(png));
  if (count > source.left.size()) png_error(png, "read beyond end of data");
  std::memcpy(to, source.left.data(), count);
  source.left = source.left.subspan(count);
}

[[noreturn]] void fail_png(png_structp png, png_const_charp message) {
  static_cast<PngSource*>(png_get_error_ptr(png))->error = message;
  png_longjmp(png, 1);
}

void ignore_warning(png_structp, png_const_charp) {}

// A file being read by libpng's own interface: its simplified one mixes alpha in linear light and applies gAMA.
class PngReader {
 public:
  explicit PngReader(std::span<const std::byte> bytes) : source_{.left = bytes, .error = {}} {
    png_ = png_create_read_struct(PNG_LIBPNG_VER_STRING, &source_, fail_png, ignore_warning);
    if (png_ != nullptr) info_ = png_create_info_struct(png_);
    if (info_ == nullptr) throw std::bad_alloc();
    png_set_read_fn(png_, &source_, read_png);
    // Everything but the pixels, the palette and what is transparent: gamma and colour spaces change no number.
    png_set_keep_unknown_chunks(png_, PNG_HANDLE_CHUNK_NEVER, nullptr, -1);
  }
  PngReader(const PngReader&) = delete;
  PngReader& operator=(const PngReader&) = delete;
  ~PngReader() { png_destroy_read_struct(&png_, &info_, nullptr); }

  [[nodiscard]] const std::string& error() const noexcept { return source_.error; }
  [[nodiscard]] std::int64_t width() const noexcept { return png_get_image_width(png_, info_); }
  [[nodiscard]] std::int64_t height() const noexcept { return png_get_image_height(png_, info_); }
  /// 3, or 4 with alpha.
  [[nodiscard]] std::int64_t channels() const noexcept { return png_get_channels(png_, info_); }

  /// Reads up to the pixels, which read_rows() then gives as RGB or RGBA of 8 bits: of 16 bits the upper 8.
  [[nodiscard]] bool read_header() {
    return finishes(png_, [this] {
      png_read_info(png_, info_);
      png_set_expand(png_);
      png_set_strip_16(png_);
      png_set_gray_to_rgb(png_);
      png_set_interlace_handling(png_);
      png_read_update_info(png_, info_);
    });
  }

  [[nodiscard]] bool read_rows(std::vector<png_bytep>& rows) {
    return finishes(png_, [this, &rows] { png_read_image(png_, rows.data()); });
  }

 private:
  // False where libpng jumped out of the body, which has nothing to destroy.
  template <class Body>
  static bool finishes(png_structp png, const Body& body) {
    if (setjmp(png_jmpbuf(png)) != 0) return false;  // NOLINT(cert-err52-cpp,modernize-avoid-setjmp-longjmp): libpng
    body();
    return true;
  }

  PngSource source_;
  png_structp png_ = nullptr;
  png_infop info_ = nullptr;
};

// Pixels by the rows' addresses.
std::vector<png_bytep> rows_of(std::uint8_t* pixels, std::int64_t height, std::int64_t width, std::int64_t channels) {
  std::vector<png_bytep> rows;
  rows.reserve(static_cast<std::size_t>(height));
  for (std::int64_t y = 0; y < height; ++y) rows.push_back(pixels + y * width * channels);
  return rows;
}

// The stored numbers mixed with white, rounded to the nearest, as Pillow's alpha_composite() has it.
void lay_on_white(std::span<const std::uint8_t> rgba, std::span<std::uint8_t> rgb) {
  for (std::size_t pixel = 0; pixel < rgb.size() / kPngChannels; ++pixel) {
    const std::uint8_t* from = rgba.data() + 4 * pixel;
    const std::uint32_t alpha = from[3];
    for (std::size_t c = 0; c < kPngChannels; ++c) {
      rgb[kPngChannels * pixel + c] = static_cast<std::uint8_t>((alpha * from[c] + (255 - alpha) * kWhite + 127) / 255);
    }
  }
}

// libpng's simplified interface: no jumps across frames, and the reason of a failure as text.
class PngImage {
 public:
  PngImage() { image_.version = PNG_IMAGE_VERSION; }
  PngImage(const PngImage&) = delete;
  PngImage& operator=(const PngImage&) = delete;
  ~PngImage() { png_image_free(&image_); }

  [[nodiscard]] png_image& get() noexcept { return image_; }

 private:
  png_image image_{};
};

}  // namespace

Tensor decode_png(std::span<const std::byte> bytes, std::string_view source) {
  if (bytes.empty()) throw FileError(source, "expected a PNG file: it is empty");
  PngReader reader(bytes);
  if (!reader.read_header()) {
    const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    if (!text.starts_with("\x89PNG")) files::refuse_other_kind(text, std::string(source), "a PNG file");
    throw FileError(source, "expected a PNG file: " + reader.error());
  }
  const std::int64_t width = reader.width();
  const std::int64_t height = reader.height();
  if (width * height > kMostPixels) {
    throw FileError(source, "expected at most " + std::to_string(kMostPixels) + " pixels, got " +
                                std::to_string(width) + " x " + std::to_string(height));
  }
  Tensor picture(DType::u8, {height, width, kPngChannels});
  const std::span<std::uint8_t> rgb = picture.values<std::uint8_t>();
  const bool is_opaque = reader.channels() == kPngChannels;
  std::vector<std::uint8_t> rgba(is_opaque ? 0 : static_cast<std::size_t>(4 * width * height));
  std::vector<png_bytep> rows = rows_of(is_opaque ? rgb.data() : rgba.data(), height, width, reader.channels());
  if (!reader.read_rows(rows)) throw FileError(source, "damaged or truncated PNG: " + reader.error());
  if (!is_opaque) lay_on_white(rgba, rgb);
  return picture;
}

std::vector<std::byte> encode_png(const TensorView& picture) {
  if (picture.dtype() != DType::u8 || picture.rank() != 3 || picture.dim(2) != kPngChannels || picture.size() == 0) {
    throw InvalidArgument("encode_png", "picture", "u8 [H, W, 3] with pixels",
                          std::string(name_of(picture.dtype())) + " " + picture.shape().to_string());
  }
  const Tensor dense(picture);
  PngImage holder;
  png_image& image = holder.get();
  image.width = static_cast<png_uint_32>(picture.dim(1));
  image.height = static_cast<png_uint_32>(picture.dim(0));
  image.format = PNG_FORMAT_RGB;
  png_alloc_size_t size = PNG_IMAGE_PNG_SIZE_MAX(image);
  std::vector<std::byte> bytes(size);
  if (png_image_write_to_memory(&image, bytes.data(), &size, 0, dense.data(), 0, nullptr) == 0) {
    throw Error("encode_png: " + std::string(image.message));
  }
  bytes.resize(size);
  return bytes;
}

}  // namespace qkv
