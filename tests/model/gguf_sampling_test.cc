// How the authors of a GGUF file mean its model to write.
#include <gmock/gmock.h>

#include "core/error_message.h"
#include "files/gguf_bytes.h"
#include "files/temporary_directory.h"
#include "qkv/files.h"
#include "qkv/model/generate.h"

namespace qkv::gguf_sampling_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using tests::gguf_number;
using tests::GgufBytes;

class GgufSampling : public testing::Test {
 protected:
  [[nodiscard]] std::string path() const { return folder_ / "m.gguf"; }
  [[nodiscard]] GenerateOptions draw(const GgufBytes& file) const {
    write_file(path(), file.text_of());
    return draw_options_of(path());
  }
  [[nodiscard]] std::vector<std::string> unheeded(const GgufBytes& file) const {
    write_file(path(), file.text_of());
    return unheeded_in_generation(path());
  }

 private:
  tests::TemporaryDirectory folder_;
};

TEST_F(GgufSampling, IsThatOfTheMetadata) {
  GgufBytes file;
  file.texts("tokenizer.ggml.tokens", {"a", "b"}).f32("general.sampling.temp", 0.6F).u32("general.sampling.top_k", 20);
  file.f32("general.sampling.top_p", 0.95F).f32("general.sampling.min_p", 0.1F);
  file.f32("general.sampling.penalty_repeat", 1.05F);
  const GenerateOptions all = draw(file);
  EXPECT_EQ(all.temperature, 0.6);
  EXPECT_EQ(all.top_k, 20);
  EXPECT_EQ(all.top_p, 0.95);
  EXPECT_EQ(all.min_p, 0.1);
  EXPECT_EQ(all.repetition_penalty, 1.05);
  EXPECT_THAT(unheeded(file), IsEmpty());
  EXPECT_EQ(draw_options_source(path()), "metadata");
}

TEST_F(GgufSampling, HasTheDefaultsOfAFolder) {
  const GenerateOptions none = draw(GgufBytes().text("general.name", "a"));
  EXPECT_EQ(none.temperature, 0);
  EXPECT_EQ(none.repetition_penalty, 1);
  const GenerateOptions some = draw(GgufBytes().f32("general.sampling.top_p", 0.5));
  EXPECT_EQ(some.temperature, 1);
  EXPECT_EQ(some.top_k, 50);
  EXPECT_EQ(some.top_p, 0.5);
  const GenerateOptions likeliest = draw(GgufBytes().f32("general.sampling.temp", 0).u32("general.sampling.top_k", 3));
  EXPECT_EQ(likeliest.temperature, 0);
  EXPECT_EQ(likeliest.top_k, 0);
  GgufBytes whole = GgufBytes().f32("general.sampling.temp", 2);
  EXPECT_EQ(draw(whole.add("general.sampling.top_k", 5, gguf_number<std::int32_t>(-1))).top_k, 0);
}

TEST_F(GgufSampling, NamesWhatIsNotDone) {
  GgufBytes file;
  file.u32("general.sampling.mirostat", 2)
      .f32("general.sampling.mirostat_tau", 5)
      .text("general.sampling.sequence", "kt");
  file.f32("general.sampling.xtc_threshold", 0.5).f32("general.sampling.penalty_repeat", 1.5);
  file.u32("general.sampling.penalty_last_n", 64).u32("general.sampling.foo", 1);
  EXPECT_THAT(unheeded(file),
              ElementsAre("general.sampling.foo 1", "general.sampling.mirostat 2", "general.sampling.mirostat_tau 5.0",
                          "general.sampling.penalty_last_n 64", "general.sampling.sequence \"kt\""));
  GgufBytes off;
  off.u32("general.sampling.mirostat", 0)
      .f32("general.sampling.mirostat_tau", 5)
      .u32("general.sampling.penalty_last_n", 64);
  off.f32("general.sampling.xtc_probability", 0).f32("general.sampling.xtc_threshold", 0.5);
  EXPECT_THAT(unheeded(off), IsEmpty());
  GgufBytes without = GgufBytes().f32("general.sampling.penalty_repeat", 1.5).u32("general.sampling.penalty_last_n", 0);
  EXPECT_EQ(draw(without).repetition_penalty, 1);
  EXPECT_THAT(unheeded(without), IsEmpty());
  EXPECT_THAT(error_message<Error>([&] { static_cast<void>(draw(GgufBytes().text("general.sampling.temp", "a"))); }),
              HasSubstr("m.gguf: general.sampling.temp: expected a number, got \"a\""));
  EXPECT_THAT(error_message<Error>([&] { static_cast<void>(draw(GgufBytes().f32("general.sampling.top_k", 0.5))); }),
              HasSubstr("m.gguf: general.sampling.top_k: expected a whole number, got 0.5"));
}

}  // namespace
}  // namespace qkv::gguf_sampling_test
