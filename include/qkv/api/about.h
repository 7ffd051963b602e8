// What the studio opens with, and what there is to choose from.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "qkv/api/field.h"
#include "qkv/api/member.h"
#include "qkv/tensor.h"

namespace qkv {

struct AboutRequest {};

/// The 256 colours of a map on one ground, u8 [256, 3].
struct AboutColours {
  Tensor sequential;
  Tensor diverging;
};

/// Something for a model to read, and a head that is worth a look.
struct AboutExample {
  std::string text;                     // or …
  std::optional<std::int64_t> example;  // … a held-out example of its task
  std::string site;
  std::int64_t layer = 0;
  std::int64_t head = 0;
  std::int64_t query = 0;  // where there is something to see
  std::int64_t key = 0;
  std::string look;  // what, in a sentence
};

struct AboutModel {
  std::string name;
  std::string task;
  std::vector<AboutExample> examples;
};

struct AboutReply {
  std::string version;
  std::string processor;
  std::string target;
  std::int64_t threads = 1;
  std::string model, text, mask, file;  // what the command named; empty where it named none
  std::string probe;                    // the title of StudioOptions::probe; empty if there is none
  std::vector<AboutModel> models;
  AboutColours light, dark;
};

[[nodiscard]] const Fields<AboutRequest>& about_fields();
[[nodiscard]] Members<AboutReply> describe(const AboutReply* reply);
[[nodiscard]] Members<AboutExample> describe(const AboutExample* example);
[[nodiscard]] Members<AboutModel> describe(const AboutModel* model);
[[nodiscard]] Members<AboutColours> describe(const AboutColours* colours);

}  // namespace qkv
