// Files for qkv attend, and what it makes of them.
#pragma once

#include <gmock/gmock.h>

#include <string>
#include <vector>

#include "cli/command.h"
#include "files/temporary_directory.h"
#include "qkv/files.h"

namespace qkv::tests {

class Attend : public testing::Test {
 protected:
  /// Numbers that differ from place to place; `phase` makes one tensor differ from the next.
  static Tensor wave(const Shape& shape, double phase, DType dtype = DType::f32);

  /// Writes the tensor under this name of the test's own directory; gives the path back.
  std::string file(const std::string& name, const TensorView& view) const;
  [[nodiscard]] std::string path(const std::string& name) const { return directory_ / name; }
  [[nodiscard]] Tensor result(const std::string& name) const { return read_tensor(directory_ / name); }

  /// q.npy, k.npy and v.npy of these shapes.
  void write_inputs(const Shape& q, const Shape& k, const Shape& v, DType dtype = DType::f32) const;

  /// `qkv attend` on q.npy, k.npy and v.npy with more words.
  [[nodiscard]] Outcome attend(std::vector<std::string> words) const;

  /// The same with --out o.npy, which must end with this code: what it said on standard error. Nothing but the inputs
  /// is left in the directory.
  [[nodiscard]] std::string refusal(int code, std::vector<std::string> words = {}) const;

  TemporaryDirectory directory_;
};

}  // namespace qkv::tests
