#include "qkv/npz.h"

#include <zip.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <set>

#include "core/listed.h"
#include "core/machine_memory.h"
#include "files/file_kind.h"
#include "files/npy_header.h"
#include "qkv/npy.h"

namespace qkv {
namespace {

constexpr std::string_view kSuffix = ".npy";

struct CloseArchive {
  void operator()(zip_t* archive) const noexcept { zip_discard(archive); }
};
struct CloseMember {
  void operator()(zip_file_t* member) const noexcept { zip_fclose(member); }
};
struct FreeSource {
  void operator()(zip_source_t* source) const noexcept { zip_source_free(source); }
};
using OpenArchive = std::unique_ptr<zip_t, CloseArchive>;
using Member = std::unique_ptr<zip_file_t, CloseMember>;
using Source = std::unique_ptr<zip_source_t, FreeSource>;

std::string reason_of(int code) {
  zip_error_t error;
  zip_error_init_with_code(&error, code);
  std::string reason = zip_error_strerror(&error);
  zip_error_fini(&error);
  return reason;
}

OpenArchive open_archive(const std::string& path) {
  require_readable(path);
  int code = 0;
  OpenArchive archive(zip_open(path.c_str(), ZIP_RDONLY, &code));
  if (archive == nullptr) {
    const std::string begin = files::beginning_of(path);
    if (!begin.starts_with("PK")) files::refuse_other_kind(begin, path, "an .npz file");
    throw FileError(path, "not a readable .npz (zip) file: " + reason_of(code));
  }
  return archive;
}

std::string name_without_suffix(std::string name) {
  if (name.ends_with(kSuffix)) name.resize(name.size() - kSuffix.size());
  return name;
}

zip_stat_t stat_of(zip_t* archive, zip_uint64_t index, const std::string& source) {
  constexpr zip_uint64_t kNeeded = ZIP_STAT_SIZE | ZIP_STAT_COMP_SIZE | ZIP_STAT_COMP_METHOD;
  zip_stat_t stat;
  zip_stat_init(&stat);
  if (zip_stat_index(archive, index, 0, &stat) != 0 || (stat.valid & kNeeded) != kNeeded) {
    throw FileError(source, std::string("its size is unreadable: ") + zip_strerror(archive));
  }
  return stat;
}

// The size that the archive declares for the member, checked against the best ratio of deflate, 258 bytes for two bits,
// and against memory.
std::uint64_t declared_size(zip_t* archive, zip_uint64_t index, const std::string& source) {
  constexpr std::uint64_t kBestRatio = 1032;
  const zip_stat_t stat = stat_of(archive, index, source);
  if (stat.comp_method != ZIP_CM_STORE && stat.comp_method != ZIP_CM_DEFLATE) {
    throw FileError(source, "expected a stored or deflated member, got zip method " + std::to_string(stat.comp_method));
  }
  if (stat.size / kBestRatio > stat.comp_size) {
    throw FileError(source, "declares " + std::to_string(stat.size) + " bytes, more than its " +
                                std::to_string(stat.comp_size) + " compressed ones can hold");
  }
  if (stat.size > core::machine_memory()) {
    throw FileError(source, "declares " + std::to_string(stat.size) + " bytes, more than the " +
                                std::to_string(core::machine_memory()) + " bytes of memory of this machine");
  }
  return stat.size;
}

// Reads up to `end` bytes of the member; fewer where it ends.
void read_up_to(zip_file_t* member, std::uint64_t end, std::vector<std::byte>& bytes, const std::string& source) {
  std::uint64_t filled = bytes.size();
  bytes.resize(end);
  while (filled < end) {
    const zip_int64_t got = zip_fread(member, bytes.data() + filled, end - filled);
    if (got < 0) throw FileError(source, std::string("unreadable: ") + zip_error_strerror(zip_file_get_error(member)));
    if (got == 0) break;
    filled += static_cast<std::uint64_t>(got);
  }
  bytes.resize(filled);
}

std::vector<std::byte> member_bytes(zip_t* archive, zip_uint64_t index, const std::string& source) {
  constexpr std::uint64_t kBegin = files::kLongestNpyHeader + 64;
  const std::uint64_t size = declared_size(archive, index, source);
  const Member member(zip_fopen_index(archive, index, 0));
  if (member == nullptr) throw FileError(source, std::string("unreadable: ") + zip_strerror(archive));
  std::vector<std::byte> bytes;
  read_up_to(member.get(), std::min(kBegin, size), bytes, source);
  files::require_npy_size(bytes, size, source);
  // One byte more than declared, so that the end of the data, where the checksum is compared, is reached.
  read_up_to(member.get(), size + 1, bytes, source);
  if (bytes.size() > size) {
    throw FileError(source, "holds more than the " + std::to_string(size) + " bytes that it declares");
  }
  if (bytes.size() < size) {
    throw FileError(source,
                    "truncated: declares " + std::to_string(size) + " bytes, got " + std::to_string(bytes.size()));
  }
  return bytes;
}

void require_member_names(std::span<const NamedView> members) {
  std::set<std::string> seen;
  for (const NamedView& member : members) {
    const auto refuse = [&](std::string_view expected) {
      throw InvalidArgument("encode_npz", "name", expected, "\"" + member.name + "\"");
    };
    if (member.name.empty() || member.name.find_first_of(std::string_view("/\0", 2)) != std::string::npos) {
      refuse("a name without '/' and '\\0'");
    }
    if (!seen.insert(member.name).second) refuse("each name once");
  }
}

void add_member(zip_t* archive, const std::string& name, std::span<const std::byte> bytes) {
  constexpr time_t kFirstTimeOfZip = 315532800;  // 1980-01-01 00:00 UTC
  Source source(zip_source_buffer(archive, bytes.data(), bytes.size(), 0));
  if (source == nullptr) throw Error("encode_npz: " + std::string(zip_strerror(archive)));
  const zip_int64_t index =
      zip_file_add(archive, (name + std::string(kSuffix)).c_str(), source.get(), ZIP_FL_ENC_UTF_8);
  if (index < 0) throw Error("encode_npz: \"" + name + "\": " + zip_strerror(archive));
  static_cast<void>(source.release());  // the archive's now
  const auto place = static_cast<zip_uint64_t>(index);
  if (zip_set_file_compression(archive, place, ZIP_CM_STORE, 0) != 0 ||
      zip_file_set_mtime(archive, place, kFirstTimeOfZip, 0) != 0) {
    throw Error("encode_npz: \"" + name + "\": " + zip_strerror(archive));
  }
}

std::vector<std::byte> bytes_of(zip_source_t* source) {
  zip_stat_t stat;
  zip_stat_init(&stat);
  if (zip_source_stat(source, &stat) != 0 || zip_source_open(source) != 0) {
    throw Error("encode_npz: " + std::string(zip_error_strerror(zip_source_error(source))));
  }
  std::vector<std::byte> bytes(stat.size);
  const zip_int64_t got = zip_source_read(source, bytes.data(), bytes.size());
  zip_source_close(source);
  if (got != static_cast<zip_int64_t>(bytes.size())) throw Error("encode_npz: the archive could not be read back");
  return bytes;
}

}  // namespace

Npz::Npz(const std::string& path) : archive_(open_archive(path)), path_(path) {
  constexpr std::uint64_t kLocalHeader = 30;  // bytes, without the name
  auto* zip = static_cast<zip_t*>(archive_.get());
  const auto count = static_cast<zip_uint64_t>(zip_get_num_entries(zip, 0));
  std::error_code unknown;
  const std::uint64_t there = std::filesystem::file_size(path, unknown);  // 2^64 - 1 where it is none that has a size
  std::uint64_t stored = 0;
  for (zip_uint64_t i = 0; i < count; ++i) {
    const char* name = zip_get_name(zip, i, ZIP_FL_ENC_RAW);
    if (name == nullptr) throw FileError(path, "member " + std::to_string(i) + " has no readable name");
    names_.push_back(name_without_suffix(name));
    const bool is_new = places_.emplace(names_.back(), i).second;
    if (!is_new) throw FileError(path, "two members are named \"" + names_.back() + "\"");
    const zip_stat_t stat = stat_of(zip, i, path + ":" + names_.back());
    stored += kLocalHeader + stat.comp_size;
    bytes_ += stat.size;
    if (stored > there) {
      throw FileError(path, "its members overlap: the first " + std::to_string(i + 1) + " are said to take " +
                                std::to_string(stored) + " bytes, the file has " + std::to_string(there));
    }
  }
}

Tensor Npz::load(std::string_view name) const {
  const auto found = places_.find(name_without_suffix(std::string(name)));
  if (found == places_.end()) {
    throw FileError(path_, "there is no member \"" + std::string(name) + "\"; it holds " + core::listed(names_, 20));
  }
  const std::string source = path_ + ":" + found->first;
  return decode_npy(member_bytes(static_cast<zip_t*>(archive_.get()), found->second, source), source);
}

std::vector<std::string> npz_names(const std::string& path) { return Npz(path).names(); }

Tensor read_npz(const std::string& path, const std::string& name) { return Npz(path).load(name); }

std::vector<std::byte> encode_npz(std::span<const NamedView> members) {
  require_member_names(members);
  std::vector<std::vector<std::byte>> contents;
  for (const NamedView& member : members) contents.push_back(encode_npy(member.view));
  zip_error_t error;
  zip_error_init(&error);
  Source source(zip_source_buffer_create(nullptr, 0, 0, &error));
  if (source == nullptr) throw Error("encode_npz: " + std::string(zip_error_strerror(&error)));
  zip_source_keep(source.get());  // closing the archive gives one hold on it back
  OpenArchive archive(zip_open_from_source(source.get(), ZIP_TRUNCATE, &error));
  if (archive == nullptr) throw Error("encode_npz: " + std::string(zip_error_strerror(&error)));
  for (std::size_t i = 0; i < members.size(); ++i) add_member(archive.get(), members[i].name, contents[i]);
  if (zip_close(archive.get()) != 0) throw Error("encode_npz: " + std::string(zip_strerror(archive.get())));
  static_cast<void>(archive.release());
  return bytes_of(source.get());
}

}  // namespace qkv
