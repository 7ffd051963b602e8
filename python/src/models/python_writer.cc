#include "python_writer.h"

#include <cmath>
#include <utility>
#include <vector>

#include "../arrays.h"

namespace qkv::python {
namespace {

class PythonWriter : public ReplyWriter {
 public:
  void begin_object() override { open(nb::dict()); }
  void key(std::string_view name) override { open_.back().key = text_of(name); }
  void end_object() override { open_.pop_back(); }
  void begin_list() override { open(nb::list()); }
  void end_list() override { open_.pop_back(); }
  void nothing() override { put(nb::none()); }
  void value(bool flag) override { put(nb::bool_(flag)); }
  void value(std::int64_t whole) override { put(nb::int_(whole)); }
  void value(std::uint64_t whole) override { put(nb::int_(whole)); }
  void value(double number) override { std::isfinite(number) ? put(nb::float_(number)) : nothing(); }
  void value(std::string_view text) override { put(text_of(text)); }
  void value(const Tensor& tensor) override { put(numpy_array(Tensor(tensor.view()))); }

  [[nodiscard]] nb::object take() { return std::move(root_); }

 private:
  struct Open {
    nb::object object;
    nb::object key;  // of the value to come; null in a list
  };

  static void require(int result) {
    if (result != 0) nb::raise_python_error();
  }

  // Bytes that are no UTF-8 become U+FFFD, as in JSON.
  static nb::object text_of(std::string_view text) {
    nb::object object = nb::steal(PyUnicode_DecodeUTF8(text.data(), static_cast<Py_ssize_t>(text.size()), "replace"));
    if (!object.is_valid()) nb::raise_python_error();
    return object;
  }

  void open(nb::object object) {
    put(object);
    open_.push_back({.object = std::move(object), .key = {}});
  }

  void put(nb::object value) {
    if (open_.empty()) {
      root_ = std::move(value);
    } else if (const Open& parent = open_.back(); parent.key.is_valid()) {
      require(PyDict_SetItem(parent.object.ptr(), parent.key.ptr(), value.ptr()));
    } else {
      require(PyList_Append(parent.object.ptr(), value.ptr()));
    }
  }

  nb::object root_ = nb::dict();
  std::vector<Open> open_;
};

}  // namespace

nb::object object_of(const AnyReply& reply) {
  PythonWriter writer;
  if (reply) reply(writer);
  return writer.take();
}

}  // namespace qkv::python
