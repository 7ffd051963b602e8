// Whether two models are the same, but for what some configs leave out.
#pragma once

#include <gtest/gtest.h>

#include "qkv/model/model.h"

namespace qkv::tests {

inline void expect_same(const Model& a, const Model& b) {
  ModelConfig config_a = a.config(), config_b = b.config();
  for (ModelConfig* config : {&config_a, &config_b}) config->erase("d_k");  // where it is d_model / heads, some say so
  EXPECT_EQ(config_a, config_b);
  const Parameters from = a.parameters();
  const Parameters into = b.parameters();
  ASSERT_EQ(from.size(), into.size());
  for (std::size_t n = 0; n < from.size(); ++n) {
    EXPECT_EQ(from[n].name, into[n].name);
    EXPECT_EQ(from[n].value.value().to_vector(), into[n].value.value().to_vector()) << from[n].name;
  }
}

}  // namespace qkv::tests
