// The answer to a request that some face has read.
#pragma once

#include <utility>

#include "qkv/api/field.h"
#include "qkv/api/given.h"
#include "qkv/api/member.h"
#include "qkv/api/refusal.h"

namespace qkv::api_detail {

inline AnyReply as_any(AnyReply reply) { return reply; }
template <class Reply>
AnyReply as_any(Reply reply) {
  return any_reply(std::move(reply));
}

/// Refuses more than the answer does.
template <class Request>
using Require = void (*)(const Request&, const Given&);

/// answer(request), or answer(request, given) where the answer depends on which fields were given. `require` comes
/// before.
template <class Request>
AnyReply answered(const Fields<Request>& fields, const FieldValues& values, Require<Request> require = nullptr) {
  return answered_for(fields.infos(), values, [&] {
    const Request request = fields.from_values(values);
    const Given given(fields.infos(), values);
    if (require != nullptr) require(request, given);
    if constexpr (requires { answer(request, given); }) {
      return as_any(answer(request, given));
    } else {
      return as_any(answer(request));
    }
  });
}

}  // namespace qkv::api_detail
