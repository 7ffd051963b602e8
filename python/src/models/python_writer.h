// Replies as objects of Python.
#pragma once

#include "../python.h"
#include "qkv/api/member.h"

namespace qkv::python {

/// Objects as dicts, lists as lists, tensors as NumPy arrays of their own memory. Numbers that are not finite are None,
/// as JSON has null; an empty reply is an empty dict. Called with the GIL.
[[nodiscard]] nb::object object_of(const AnyReply& reply);

}  // namespace qkv::python
