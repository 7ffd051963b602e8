#include "api/replies/reply_types.h"

#include <fmt/format.h>

#include <algorithm>
#include <ranges>
#include <stdexcept>
#include <utility>

namespace qkv {
namespace {

std::string table_of(const ReplyType& type) {
  std::string text = fmt::format("`{}`\n\n| member | type | what |\n|---|---|---|\n", type.name);
  for (const ReplyMember& member : type.members) {
    text += fmt::format("| `{}` | {} | {} |\n", member.name, api_detail::type_in_words(member),
                        api_detail::table_cell(member.meaning));
  }
  return text;
}

}  // namespace

ReplyType api_detail::type_of_kind(ReplyType::Kind kind) {
  ReplyType type;
  type.kind = kind;
  return type;
}

ReplyType api_detail::type_of_kind(ReplyType::Kind kind, ReplyType element) {
  ReplyType type = type_of_kind(kind);
  type.of.push_back(std::move(element));
  return type;
}

MemberTable::MemberTable(std::string name) : type_(api_detail::type_of_kind(ReplyType::Kind::object)) {
  type_.name = std::move(name);
}

void MemberTable::add(std::string_view name, std::string_view meaning, ReplyType of, std::ptrdiff_t offset,
                      Write writer, IsThere is_there) {
  type_.members.push_back({std::string(name), std::string(meaning), std::move(of), is_there != nullptr});
  places_.push_back({offset, writer, is_there});
}

void MemberTable::add(std::string_view name, std::string_view meaning, ReplyType (*of)(), std::ptrdiff_t offset,
                      Write writer, IsThere is_there) {
  add(name, meaning, of(), offset, writer, is_there);
}

void MemberTable::add(const MemberTable& part, std::ptrdiff_t offset) {
  type_.members.insert(type_.members.end(), part.type_.members.begin(), part.type_.members.end());
  for (const Place& place : part.places_) {
    places_.push_back({place.offset + offset, place.write, place.is_there});
  }
}

void AnyReply::caution(const std::vector<std::string>& cautions) {
  if (cautions.empty()) return;
  if (kind_->caution == nullptr) throw std::logic_error("a reply without a place for: " + cautions.front());
  kind_->caution(reply_.get(), cautions);
}

void MemberTable::write(ReplyWriter& writer, const void* reply) const {
  writer.begin_object();
  for (std::size_t n = 0; n < places_.size(); ++n) {
    const Place& place = places_[n];
    const void* const value = static_cast<const char*>(reply) + place.offset;
    if (place.is_there != nullptr && !place.is_there(value)) continue;
    writer.key(type_.members[n].name);
    place.write(writer, value);
  }
  writer.end_object();
}

std::string api_detail::table_cell(std::string_view text) {
  std::string cell;
  for (const char letter : text) {
    if (letter == '|') cell += '\\';
    cell += letter;
  }
  return cell;
}

std::string api_detail::type_in_words(const ReplyType& type) {
  using Kind = ReplyType::Kind;
  switch (type.kind) {
    case Kind::flag:
      return "true or false";
    case Kind::whole:
      return "whole number";
    case Kind::number:
      return "number";
    case Kind::text:
      return "text";
    case Kind::tensor:
      return "tensor";
    case Kind::list:
      return "list of " + type_in_words(type.of.front());
    case Kind::named:
      return type_in_words(type.of.front()) + " by name";
    case Kind::nullable:
      return type_in_words(type.of.front()) + ", or null";
    case Kind::object:
      return type.name;
  }
  __builtin_unreachable();
}

std::string api_detail::type_in_words(const ReplyMember& member) {
  return type_in_words(member.type) + (member.may_lack ? ", or left out" : "");
}

void api_detail::collect_objects(const ReplyType& type, std::vector<const ReplyType*>& objects) {
  for (const ReplyType& element : type.of) collect_objects(element, objects);
  for (const ReplyMember& member : type.members) collect_objects(member.type, objects);
  const bool is_new = std::ranges::none_of(objects, [&](const ReplyType* one) { return one->name == type.name; });
  const bool is_whole = type.kind == ReplyType::Kind::object && !type.members.empty();
  if (is_whole && is_new) objects.push_back(&type);
}

std::string members_as_markdown(const ReplyType& type) {
  std::vector<const ReplyType*> objects;
  api_detail::collect_objects(type, objects);
  std::string text;
  for (const ReplyType* object : objects | std::views::reverse) text += (text.empty() ? "" : "\n") + table_of(*object);
  return text;
}

}  // namespace qkv
