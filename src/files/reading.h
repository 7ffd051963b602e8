// Which files a thread may read, where it reads for somebody else.
#pragma once

#include <cstddef>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

namespace qkv::files {

struct ReadPlaces {
  std::vector<std::string> roots = {};  // files and folders, with what is below them; empty: everywhere
  bool only_regular = false;            // no pipe, device or socket, on which a reader may wait for ever
  std::size_t most_bytes = std::numeric_limits<std::size_t>::max();  // of a file that is read whole
};

/// While it lives, this thread reads within these places. An outer one of the same thread does not count meanwhile.
class ReadWithin {
 public:
  explicit ReadWithin(ReadPlaces places);
  ReadWithin(const ReadWithin&) = delete;
  ReadWithin& operator=(const ReadWithin&) = delete;
  ~ReadWithin();

 private:
  ReadPlaces places_;
  const ReadPlaces* outer_;
};

/// Whether the path lies in this thread's places, links followed; whether it is there makes no difference.
[[nodiscard]] bool is_in_reach(const std::string& path);

/// Throws Error if it does not, and for a path with a NUL byte, which the system would take for its end.
void require_in_reach(const std::string& path);

/// What open_to_read() reads from where it is, whoever opened it.
inline constexpr std::string_view kStandardInput = "/dev/stdin";
/// A path as messages have it: that one is "standard input".
[[nodiscard]] std::string shown_path(const std::string& path);

/// That of require_in_reach(), and throws Error for a path at which there is neither a file nor a folder, but a pipe, a
/// device or a socket. What is not there passes.
void require_file_or_folder(const std::string& path);

/// For open_to_read(): the places of this thread.
[[nodiscard]] const ReadPlaces& places_of_thread() noexcept;

}  // namespace qkv::files
