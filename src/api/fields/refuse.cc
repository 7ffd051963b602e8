#include "api/fields/refuse.h"

#include "qkv/api/refusal.h"
#include "qkv/cancel.h"
#include "qkv/files.h"

namespace qkv::api_detail {

void refuse(std::string_view field, std::string_view expected, std::string_view got) {
  throw InvalidArgument(kRequest, field, expected, got);
}

void rethrow_of_path(std::string_view field) {
  try {
    throw;
  } catch (const InvalidArgument& error) {
    if (error.argument() != "path") throw;
    refuse(field, error.expected(), error.got());
  } catch (const Cancelled&) {
    throw;
  } catch (const Error& error) {
    throw NotThere(field, error.what());
  }
}

void refuse_memory(std::string_view field, std::string_view what) {
  throw NotThere(field, "there is not enough memory for " + std::string(what));
}

Tensor read_field(std::string_view field, const std::string& path) {
  return of_path(field, [&] { return of_field(field, [&] { return read_tensor(path); }); });
}

}  // namespace qkv::api_detail
