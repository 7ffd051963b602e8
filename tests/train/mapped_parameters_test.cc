// Parameters that lie in a safetensors file of f16: used where they lie, learned from without a write to the file.
#include <gmock/gmock.h>

#include "files/temporary_directory.h"
#include "qkv/autograd/matmul.h"
#include "qkv/autograd/reduce.h"
#include "qkv/random.h"
#include "qkv/safetensors.h"
#include "qkv/train/optimizer.h"

namespace qkv::mapped_parameters_test {
namespace {

TEST(MappedParameters, ServeAModelWhereTheyLie) {
  const tests::TemporaryDirectory folder;
  const std::string path = folder / "model.safetensors";
  const Tensor drawn = Generator(1).randn({5, 8}).to(DType::f16);
  write_file(path, encode_safetensors(std::vector<NamedView>{{"weight", drawn}}));
  const Safetensors file = Safetensors::read(path);
  const Tensor mapped = file.load("weight");
  const Variable weight = Variable::parameter(mapped);
  EXPECT_EQ(weight.value().data(), mapped.data());
  const Variable y = linear(Variable(Generator(2).randn({3, 8})), weight);
  EXPECT_EQ(y.dtype(), DType::f32);
  backward(sum(y));
  EXPECT_EQ(weight.gradient().dtype(), DType::f16);
}

TEST(MappedParameters, AreLearnedFromWithoutAWriteToTheFile) {
  const tests::TemporaryDirectory folder;
  const std::string path = folder / "model.safetensors";
  const Tensor drawn = Generator(1).randn({5, 8});
  write_file(path, encode_safetensors(std::vector<NamedView>{{"weight", drawn}}));
  const Variable weight = Variable::parameter(Safetensors::read(path).load("weight"));
  const auto optimizer = make_sgd(Parameters{{"weight", weight}});
  backward(sum(linear(Variable(Generator(2).randn({3, 8})), weight)));
  optimizer->step(0.5);
  EXPECT_NE(weight.value().to_vector(), drawn.to_vector());
  EXPECT_EQ(Safetensors::read(path).load("weight").to_vector(), drawn.to_vector());
}

}  // namespace
}  // namespace qkv::mapped_parameters_test
