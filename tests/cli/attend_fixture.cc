#include "cli/attend_fixture.h"

#include <cmath>

namespace qkv::tests {

Tensor Attend::wave(const Shape& shape, double phase, DType dtype) {
  std::vector<double> values(static_cast<std::size_t>(shape.product()));
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = std::sin(phase + 1.7 * static_cast<double>(i));
  return Tensor(values, shape).to(dtype);
}

std::string Attend::file(const std::string& name, const TensorView& view) const {
  write_tensor(directory_ / name, view);
  return directory_ / name;
}

void Attend::write_inputs(const Shape& q, const Shape& k, const Shape& v, DType dtype) const {
  file("q.npy", wave(q, 0, dtype));
  file("k.npy", wave(k, 1, dtype));
  file("v.npy", wave(v, 2, dtype));
}

Outcome Attend::attend(std::vector<std::string> words) const {
  const std::vector<std::string> inputs{"attend", "--q", path("q.npy"), "--k", path("k.npy"), "--v", path("v.npy")};
  words.insert(words.begin(), inputs.begin(), inputs.end());
  return run_qkv(words);
}

std::string Attend::refusal(int code, std::vector<std::string> words) const {
  const auto before = directory_.names();
  words.insert(words.begin(), {"--out", path("o.npy")});
  const Outcome outcome = attend(words);
  EXPECT_EQ(outcome.code, code) << outcome.err;
  EXPECT_THAT(outcome.err, testing::StartsWith("qkv attend: "));
  EXPECT_THAT(outcome.out, testing::IsEmpty());
  EXPECT_EQ(directory_.names(), before) << "something was left behind";
  return outcome.err;
}

}  // namespace qkv::tests
