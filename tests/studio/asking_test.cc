// One question in frames, without a network.
#include "qkv/api/asking.h"

#include <gmock/gmock.h>

#include <new>

#include "qkv/error.h"
#include "studio/raw_client.h"

namespace qkv::studio::asking_test {
namespace {

using tests::Frame;
using tests::frames_of;

struct Heard {
  bool is_there = true;
  std::size_t most = 100;  // frames that are taken
  std::string bytes;
  std::size_t count = 0;

  Listener listener() {
    return {.is_there = [this] { return is_there; },
            .hear =
                [this](std::string_view frame) {
                  bytes += frame;
                  return ++count <= most;
                }};
  }
};

bool answer(Heard& heard, const Ask& ask) { return answer_in_frames(ask, "walk", "{}", heard.listener()); }

TEST(Asking, GivesProgressThenReplyAndBlocks) {
  Heard heard;
  EXPECT_TRUE(answer(heard, [](auto /*name*/, auto /*request*/, const StudioWatch& watch) {
    EXPECT_EQ(watch("map", {.done = 12, .total = 64}), Proceed::go_on);
    return StudioReply{.json = R"({"a":1})", .blocks = std::vector<std::byte>(3, std::byte{7})};
  }));
  const std::vector<Frame> frames = frames_of(heard.bytes);
  ASSERT_EQ(frames.size(), 3U);
  EXPECT_EQ(frames[0].kind, 1U);
  EXPECT_EQ(frames[0].payload, R"({"done":12,"total":64,"what":"map"})");
  EXPECT_EQ(frames[1].kind, 2U);
  EXPECT_EQ(frames[1].payload, R"({"a":1})");
  EXPECT_EQ(frames[2].kind, 3U);
  EXPECT_EQ(frames[2].payload, "\7\7\7");
}

TEST(Asking, HandsNameAndRequestOn) {
  Heard heard;
  EXPECT_TRUE(answer(heard, [](std::string_view name, std::string_view request, const auto& /*watch*/) {
    return StudioReply{.json = std::string(name) + std::string(request), .blocks = {}};
  }));
  EXPECT_EQ(frames_of(heard.bytes).front().payload, "walk{}");
}

TEST(Asking, StopsWhereNobodyListens) {
  Heard gone;
  gone.is_there = false;
  Heard deaf;
  deaf.most = 0;
  for (Heard* heard : {&gone, &deaf}) {
    EXPECT_FALSE(answer(*heard, [](auto /*name*/, auto /*request*/, const StudioWatch& watch) -> StudioReply {
      EXPECT_EQ(watch("map", {.done = 1, .total = 2}), Proceed::stop);
      throw Cancelled("stopped");
    }));
  }
}

TEST(Asking, GivesErrorsInPlaceOfAReply) {
  Heard heard;
  EXPECT_TRUE(answer(heard, [](auto /*name*/, auto /*request*/, const auto& /*watch*/) -> StudioReply {
    throw InvalidArgument("walk", "mask", "a mask", "<script>");
  }));
  const std::vector<Frame> frames = frames_of(heard.bytes);
  ASSERT_EQ(frames.size(), 1U);
  EXPECT_EQ(frames[0].kind, 4U);
  EXPECT_EQ(frames[0].payload,
            R"({"message":"expected a mask, got <script>","field":"mask","fields":["mask"],"column":null})");
}

TEST(Asking, SaysThatThereIsNoMemory) {
  Heard heard;
  EXPECT_TRUE(answer(
      heard, [](auto /*name*/, auto /*request*/, const auto& /*watch*/) -> StudioReply { throw std::bad_alloc(); }));
  EXPECT_EQ(frames_of(heard.bytes).front().payload,
            R"({"message":"there is not enough memory for this","field":"","fields":[],"column":null})");
}

}  // namespace
}  // namespace qkv::studio::asking_test
