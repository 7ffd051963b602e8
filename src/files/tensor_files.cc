#include <algorithm>
#include <array>
#include <optional>

#include "core/listed.h"
#include "files/place.h"
#include "qkv/files.h"
#include "qkv/npy.h"
#include "qkv/npz.h"
#include "qkv/safetensors.h"

namespace qkv {
namespace {

struct Suffix {
  std::string_view text;
  TensorFormat format;
};
constexpr std::array kSuffixes{Suffix{".npy", TensorFormat::npy}, Suffix{".npz", TensorFormat::npz},
                               Suffix{".safetensors", TensorFormat::safetensors}};

std::string only_member(const TensorPath& path, const std::vector<std::string>& names) {
  if (!path.member.empty()) return path.member;
  if (names.size() == 1) return names.front();
  throw InvalidArgument("read_tensor", "path", "the name of one tensor, " + path.file + ":NAME",
                        path.file + ", which holds " + core::listed(names, 20));
}

std::vector<std::string> names_of(const Safetensors& file) {
  std::vector<std::string> names;
  for (const SafetensorsEntry& entry : file.entries()) names.push_back(entry.name);
  return names;
}

Tensor read_npy(const std::string& path) { return decode_npy(read_file(path), path); }

struct Group {
  TensorPath path;
  std::vector<NamedView> members;
};

std::vector<Group> grouped(std::span<const NamedView> tensors) {
  std::vector<Group> groups;
  for (const NamedView& tensor : tensors) {
    TensorPath path = parse_tensor_path(tensor.name);
    const std::string member = path.member.empty() ? "tensor" : path.member;
    const auto same_file = [&](const Group& group) { return group.path.file == path.file; };
    auto group = std::ranges::find_if(groups, same_file);
    if (group == groups.end()) group = groups.insert(groups.end(), Group{.path = std::move(path), .members = {}});
    const bool taken = std::ranges::find(group->members, member, &NamedView::name) != group->members.end();
    if (taken) {
      throw InvalidArgument("write_tensors", "path", "a different path for each tensor", tensor.name + " twice");
    }
    group->members.push_back({.name = member, .view = tensor.view});
  }
  return groups;
}

std::vector<std::byte> encoded(const Group& group) {
  switch (group.path.format) {
    case TensorFormat::npy:
      return encode_npy(group.members.front().view);
    case TensorFormat::npz:
      return encode_npz(group.members);
    case TensorFormat::safetensors:
      return encode_safetensors(group.members);
  }
  __builtin_unreachable();
}

}  // namespace

TensorPath parse_tensor_path(std::string_view path) {
  std::optional<TensorPath> parsed;
  std::size_t member_begin = 0;
  for (const Suffix& suffix : kSuffixes) {
    if (path.size() > suffix.text.size() && path.ends_with(suffix.text)) {
      return {.file = std::string(path), .format = suffix.format, .member = {}};
    }
    if (suffix.format == TensorFormat::npy) continue;
    // The last such place, so that a directory may be called "old.npz:1".
    const auto at = path.rfind(std::string(suffix.text) + ":");
    if (at == std::string_view::npos || at == 0 || at < member_begin) continue;
    member_begin = at + suffix.text.size() + 1;
    if (member_begin == path.size()) continue;
    parsed = TensorPath{.file = std::string(path.substr(0, member_begin - 1)),
                        .format = suffix.format,
                        .member = std::string(path.substr(member_begin))};
  }
  if (parsed) return *parsed;
  throw InvalidArgument("parse_tensor_path", "path", "a name like FILE.npy, FILE.npz:NAME or FILE.safetensors:NAME",
                        "\"" + std::string(path) + "\"");
}

Tensor read_tensor(const std::string& text) {
  if (is_tensor_text(text)) return tensor_from_text(text);
  const TensorPath path = parse_tensor_path(text);
  switch (path.format) {
    case TensorFormat::npy:
      return read_npy(path.file);
    case TensorFormat::npz: {
      const Npz file(path.file);
      return file.load(only_member(path, file.names()));
    }
    case TensorFormat::safetensors: {
      const Safetensors file = files::read_safetensors(path.file);
      return file.load(only_member(path, names_of(file)));
    }
  }
  __builtin_unreachable();
}

std::vector<NamedTensor> read_tensors(const std::string& text) {
  const TensorPath path = parse_tensor_path(text);
  std::vector<NamedTensor> tensors;
  if (path.format == TensorFormat::npy || !path.member.empty()) {
    tensors.push_back({.name = path.member, .tensor = read_tensor(text)});
  } else if (path.format == TensorFormat::npz) {
    const Npz file(path.file);
    for (const std::string& name : file.names()) tensors.push_back({.name = name, .tensor = file.load(name)});
  } else {
    const Safetensors file = files::read_safetensors(path.file);
    for (const std::string& name : names_of(file)) tensors.push_back({.name = name, .tensor = file.load(name)});
  }
  return tensors;
}

void write_tensors(std::span<const NamedView> tensors) {
  std::vector<FileContent> contents;
  for (const Group& group : grouped(tensors)) contents.push_back({.path = group.path.file, .bytes = encoded(group)});
  write_files(contents);
}

void write_tensor(const std::string& path, const TensorView& view) {
  write_tensors(std::vector<NamedView>{{.name = path, .view = view}});
}

}  // namespace qkv
