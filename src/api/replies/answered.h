// The answer to a request that some face has read.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "qkv/api/field.h"
#include "qkv/api/given.h"
#include "qkv/api/member.h"
#include "qkv/api/refusal.h"
#include "qkv/api/saying.h"

namespace qkv::api_detail {

inline AnyReply as_any(AnyReply reply) { return reply; }
template <class Reply>
AnyReply as_any(Reply reply) {
  return any_reply(std::move(reply));
}

/// Refuses more than the answer does.
template <class Request>
using Require = void (*)(const Request&, const Given&);

/// answer(request), with `given` where the answer depends on which fields were given, and with `saying` where something
/// may be said of it: cautions become the reply's. `require` comes before.
template <class Request>
AnyReply answered(const Fields<Request>& fields, const FieldValues& values, Require<Request> require = nullptr) {
  return answered_for(fields.infos(), values, [&] {
    const Request request = fields.from_values(values);
    const Given given(fields.infos(), values);
    if (require != nullptr) require(request, given);
    std::vector<std::string> cautions;
    const Saying saying{.caution = [&](const std::string& what) { cautions.push_back(what); }, .doing = {}};
    AnyReply reply = [&] {
      if constexpr (requires { answer(request, given, saying); }) {
        return as_any(answer(request, given, saying));
      } else if constexpr (requires { answer(request, saying); }) {
        return as_any(answer(request, saying));
      } else if constexpr (requires { answer(request, given); }) {
        return as_any(answer(request, given));
      } else {
        return as_any(answer(request));
      }
    }();
    reply.caution(cautions);
    return reply;
  });
}

}  // namespace qkv::api_detail
