// Writers of replies as JSON, with tensors in it or beside it.
#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "api/replies/json_of.h"
#include "qkv/api/member.h"

namespace qkv::api_detail {

/// For the wire: builds a JSON value, and puts tensors into blocks, one after the other: {"dtype", "shape", "at"}.
class WireWriter : public ReplyWriter {
 public:
  void begin_object() override { open(Json::object()); }
  void key(std::string_view name) override { key_ = name; }
  void end_object() override { close(); }
  void begin_list() override { open(Json::array()); }
  void end_list() override { close(); }
  void nothing() override { put(nullptr); }
  void value(bool flag) override { put(flag); }
  void value(std::int64_t whole) override { put(whole); }
  void value(std::uint64_t whole) override { put(whole); }
  void value(double number) override;
  void value(std::string_view text) override { put(text); }
  void value(const Tensor& tensor) override;

  [[nodiscard]] const Json& json() const noexcept { return root_; }
  [[nodiscard]] std::vector<std::byte>& blocks() noexcept { return blocks_; }

 private:
  Json& put(Json json);
  void open(Json json) { open_.push_back(&put(std::move(json))); }
  void close() { open_.pop_back(); }

  Json root_;
  std::vector<Json*> open_;
  std::string key_;
  std::vector<std::byte> blocks_;
};

}  // namespace qkv::api_detail
