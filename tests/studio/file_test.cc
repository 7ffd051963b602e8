// A page in one file: what it carries, and what its policy allows.
#include <gmock/gmock.h>
#include <malloc.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <cstring>
#include <stdexcept>

#include "file/encodings.h"
#include "file/live_engine.h"
#include "file/packed_blocks.h"
#include "file/page_file.h"
#include "file/page_requests.h"
#include "qkv/api/about.h"
#include "qkv/api/bench.h"
#include "qkv/error.h"

namespace qkv::file_test {
namespace {

using namespace studio;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

struct TestPages {
  std::string page = gzipped(
      "<!doctype html>\n<html><head><meta charset=\"utf-8\" /><title>t</title>"
      "<script defer src=\"./studio.js\"></script><link rel=\"stylesheet\" href=\"./studio.css\"></head>"
      "<body><div id=\"studio\"></div></body></html>\n");
  std::string script = gzipped("run('</script><!-- ');");
  std::string style = gzipped("a { color: red }");

  [[nodiscard]] Pages pages() const { return {.page = page, .script = script, .style = style}; }
};

std::string file_with(const PageFile& file, const Frozen& frozen) {
  const TestPages made;
  return page_file(made.pages(), file, frozen);
}

TEST(Encodings, RefuseADamagedStreamAndKeepNothingOfIt) {
  std::string whole;
  for (int n = 0; n < 20'000; ++n) whole += std::to_string(n * n);
  const std::string packed = gzipped(whole);
  ASSERT_EQ(gunzipped(packed), whole);
  const auto read_damaged = [&] {
    for (std::size_t at = 0; at < packed.size(); at += packed.size() / 200) {
      EXPECT_THROW(static_cast<void>(gunzipped(packed.substr(0, at))), Error) << at;  // cut off
      std::string changed = packed;
      changed[at] = static_cast<char>(changed[at] ^ 0x55);
      try {
        static_cast<void>(gunzipped(changed));  // the header has bytes that say nothing of what follows
      } catch (const Error& error) {
        EXPECT_THAT(error.what(), HasSubstr("gzip: expected a whole stream"));
      }
    }
  };
  read_damaged();
  const std::size_t before = mallinfo2().uordblks + mallinfo2().hblkhd;
  read_damaged();
  constexpr std::size_t kOneState = 16 << 10;  // what inflate keeps is more than that
  EXPECT_LT(mallinfo2().uordblks + mallinfo2().hblkhd, before + kOneState);
}

TEST(PageFile, HoldsScriptAndStyleUnderAPolicyOfTheirHashes) {
  Studio studio;
  const Frozen frozen(studio);
  const std::string page = file_with({.title = "a < b", .starts = {"#/step?q=</script>"}}, frozen);
  const std::string script = "run('<\\/script><\\!-- ');";
  EXPECT_THAT(page, AllOf(HasSubstr("<script>" + script + "</script>"), HasSubstr("'" + csp_hash(script) + "'"),
                          HasSubstr("<style>a { color: red }</style>"), HasSubstr(csp_hash("a { color: red }")),
                          HasSubstr("connect-src 'none'"), HasSubstr("<title>a &lt; b</title>"),
                          HasSubstr(R"(["#/step?q=\u003c/script>"])"), Not(HasSubstr("unsafe")),
                          Not(HasSubstr("studio.js")), Not(HasSubstr("studio.css"))));
}

TEST(PageFile, ComesWithAnEngineWhereThereIsOne) {
  Studio studio;
  const Frozen frozen(studio);
  const std::string page =
      file_with({.title = "live",
                 .starts = {},
                 .live = LiveEngine{.engine = "wasm", .worker = "work()", .models = {{"gpt", "m"}}}},
                frozen);
  EXPECT_THAT(page, AllOf(HasSubstr("id=\"engine\">" + base85("wasm")), HasSubstr("id=\"worker\">work()<"),
                          HasSubstr(R"(id="models">{"gpt":")" + base85("m") + "\"}"), HasSubstr("'wasm-unsafe-eval'"),
                          HasSubstr("worker-src blob:")));
}

TEST(PageFile, CarriesRepliesAsThePageAsksForThem) {
  Studio studio;
  Frozen frozen(studio);
  frozen.add("bench", {{"query", 2}, {"mask", "causal"}});
  const std::string packed = gunzipped(frozen.packed());
  EXPECT_THAT(packed, HasSubstr(R"(bench {"mask":"causal","query":2})"));
  EXPECT_THAT(file_with({.title = "", .starts = {}}, frozen), HasSubstr("id=\"frozen\">" + base85(frozen.packed())));
  EXPECT_THROW(frozen.add("bench", {{"query", 9}}), InvalidArgument);
  EXPECT_FALSE(frozen.add_if_answered("bench", {{"query", 9}}));
  EXPECT_EQ(frozen.size(), 1U);
  EXPECT_EQ(frozen.added<BenchReply>("bench", {{"query", 2}, {"mask", "causal"}}).query, 2);
  EXPECT_THROW(static_cast<void>(frozen.added<HeadsReply>("bench", {{"query", 2}, {"mask", "causal"}})),
               std::logic_error);
}

TEST(PageFile, TakesAnotherReplyAndKnowsWhatItsRequestsName) {
  Studio studio;
  Frozen frozen(studio);
  auto about = frozen.added<AboutReply>("about", {});
  frozen.add("heads", {{"model", "induction"}, {"text", "abcxyzab"}});
  EXPECT_THAT(frozen.values_of("model"), testing::ElementsAre("induction"));
  about.models.clear();
  frozen.put("about", {}, any_reply(about));
  const std::string packed = gunzipped(frozen.packed());
  EXPECT_THAT(packed, AllOf(HasSubstr(R"("models":[])"), HasSubstr("heads {\"model\":\"induction\"")));
  EXPECT_THAT(packed, Not(HasSubstr("translation")));
}

TEST(PageFile, TakesTheModelsThatItShowsAndThenTheSmallest) {
  LiveEngine live;
  Studio studio;
  add_models(live, {"english", "./mine.safetensors"}, 700'000, studio);
  const std::vector<std::byte> english = box_model("english");
  EXPECT_EQ(gunzipped(live.models["english"]),
            std::string_view(reinterpret_cast<const char*>(english.data()), english.size()));
  EXPECT_TRUE(live.models.contains("reverse"));  // 57 kB
  EXPECT_FALSE(live.models.contains("gpt"));
  EXPECT_FALSE(live.models.contains("./mine.safetensors"));
  LiveEngine small;
  add_models(small, {"english"}, 0, studio);
  EXPECT_EQ(small.models.size(), 1U);
}

TEST(PageFile, HoldsWhatAStepIsMadeOf) {
  Studio studio;
  Frozen frozen(studio);
  freeze_step(frozen, {});
  const std::string packed = gunzipped(frozen.packed());
  EXPECT_THAT(packed, AllOf(HasSubstr("pictures {}"), HasSubstr(R"(pictures {"key":2,"query":0})")));
}

TEST(PageFile, HoldsWhatEachHeadFollowsFromAndNoMatrix) {
  Studio studio;
  Frozen frozen(studio);
  const Request reading{{"model", "translation"}, {"example", 0}};
  freeze_heads(frozen, reading, {{"site", "cross"}, {"layer", 1}, {"head", 2}});
  const std::string packed = gunzipped(frozen.packed());
  EXPECT_THAT(packed,
              AllOf(HasSubstr(R"(head_parts {"example":0,"head":2,"layer":1,"model":"translation","site":"cross"})"),
                    HasSubstr(R"("site":"source"})"), HasSubstr(R"("site":"tokens"})")));
  EXPECT_THAT(packed, AllOf(Not(HasSubstr("head {")), Not(HasSubstr("pair {"))));
  Frozen small(studio);
  freeze_heads(small, reading, {{"site", "cross"}, {"layer", 1}, {"head", 2}}, {.replies = 4});
  EXPECT_EQ(small.size(), 4U);
  EXPECT_THAT(gunzipped(small.packed()), HasSubstr(R"("head":2,"layer":1)"));
}

// The words that packed_blocks() packed.
std::string unpacked(std::size_t own_words, std::string_view bytes) {
  const auto from_planes = [](std::string_view planes, std::size_t count) {
    std::vector<std::uint32_t> numbers(planes.size() / count);
    for (std::size_t at = 0; at < planes.size(); ++at) {
      numbers[at % numbers.size()] |= std::uint32_t{static_cast<unsigned char>(planes[at])}
                                      << 8 * (at / numbers.size());
    }
    return numbers;
  };
  std::vector<std::uint32_t> all = from_planes(bytes.substr(4 * own_words), own_words == 0 ? 4 : 2);
  const std::vector<std::uint32_t> words = from_planes(bytes.substr(0, 4 * own_words), 4);
  if (own_words > 0) std::ranges::transform(all, all.begin(), [&](std::uint32_t place) { return words[place]; });
  return {reinterpret_cast<const char*>(all.data()), all.size() * sizeof(std::uint32_t)};
}

TEST(PackedBlocks, HoldEveryWord) {
  std::string few;
  std::string different;
  for (int n = 1000; n < 5000; ++n) {
    few += std::to_string(1000 + n % 7);
    different += std::to_string(n);
  }
  const PackedBlocks packed = packed_blocks(few);
  EXPECT_EQ(packed.words, 7U);
  EXPECT_EQ(packed.bytes.size(), 7 * 4 + few.size() / 2);
  EXPECT_EQ(unpacked(packed.words, packed.bytes), few);
  EXPECT_EQ(packed_blocks(different).words, 0U);
  EXPECT_EQ(unpacked(0, packed_blocks(different).bytes), different);
  EXPECT_EQ(packed_blocks("").bytes, "");
}

// Maps of all heads are colours; the digits of a weight are in the reply about its head.
TEST(PageFile, HoldsTheMapsOfHeadsAsFineAsColours) {
  Studio studio;
  const Request reading{{"model", "translation"}, {"example", 0}};
  const AnyReply answer = studio.answer("heads", reading);
  const StudioReply whole = studio_reply(answer);
  Frozen frozen(studio);
  const HeadsReply& heads = add_heads(frozen, reading);
  const auto write_heads = [&](ReplyWriter& writer) { api_detail::write_value(writer, heads); };
  EXPECT_EQ(studio_reply(write_heads).json, whole.json);
  const std::string packed = gunzipped(frozen.packed());
  std::array<std::uint32_t, 4> head{};
  std::memcpy(head.data(), packed.data(), sizeof head);
  const std::string frame = unpacked(head[2], std::string_view(packed).substr(sizeof head + head[0] + head[1]));
  const std::string blocks = frame.substr(8);
  std::size_t at = 0;
  for (const HeadsSite& site : answer.as<HeadsReply>()->sites) {
    ASSERT_GT(site.maps.size(), 0);
    for (const float exact : site.maps.values<float>()) {
      float kept = 0;
      std::memcpy(&kept, blocks.data() + at, sizeof(float));
      at += sizeof(float);
      EXPECT_NEAR(kept, exact, 1.0 / 512);
      EXPECT_NEAR(kept, exact, std::max(exact / 64, 0x1p-14F));
      EXPECT_EQ(std::bit_cast<std::uint32_t>(kept) & 0xFFFFU, 0U);
    }
    at = (at + 7) / 8 * 8;  // where the next tensor begins
  }
}

TEST(Encodings, KnowAboutHowManyBytesGzipMakes) {
  PackedSize size;
  std::string all;
  for (int n = 0; n < 100'000; ++n) {
    const std::string line = std::to_string(n * 7919) + "\n";
    size.add(line);
    all += line;
  }
  const auto expected = static_cast<double>(gzipped(all).size());
  EXPECT_NEAR(static_cast<double>(size.bytes()), expected, 0.2 * expected);
}

TEST(PageFile, StopsAtItsBounds) {
  Studio studio;
  Frozen frozen(studio);
  freeze_step(frozen, {}, {.replies = 50});
  EXPECT_EQ(frozen.size(), 50U);
}

TEST(Encodings, RefuseWhatIsDamaged) {
  const std::string packed = gzipped("some text that is long enough to be packed");
  EXPECT_EQ(gunzipped(packed), "some text that is long enough to be packed");
  EXPECT_THROW(static_cast<void>(gunzipped(packed.substr(0, packed.size() / 2))), Error);
  EXPECT_THROW(static_cast<void>(gunzipped("no gzip")), Error);
  EXPECT_EQ(base85("\x86\x4f\xd2\x6f\xb5\x59\xf7\x5b"), "HelloWorld");
  EXPECT_EQ(base85("\xff\xfe"), "$nz");
  EXPECT_EQ(base85("\xff\xfe").size(), base85_bytes(2));
  EXPECT_EQ(base85(""), "");
  EXPECT_EQ(csp_hash(""), "sha256-47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=");
}

}  // namespace
}  // namespace qkv::file_test
