// C++ exceptions: Debian's libc++abi for WebAssembly is built without them. The layout of the tables is that of the
// Itanium ABI; what is thrown is the pointer to the object, which its header precedes.
#include <cstddef>
#include <cstdlib>
#include <exception>
#include <typeinfo>

namespace __cxxabiv1 {

// As libc++abi's: what a class's type_info can say of a handler's type.
class __shim_type_info : public std::type_info {  // NOLINT(bugprone-reserved-identifier)
 public:
  ~__shim_type_info() override;
  virtual void noop1() const;
  virtual void noop2() const;
  virtual bool can_catch(const __shim_type_info* thrown_type, void*& adjusted) const = 0;
};

}  // namespace __cxxabiv1

namespace {

using TypeInfo = __cxxabiv1::__shim_type_info;
using Destructor = void* (*)(void*);  // on this target a destructor returns its object

struct alignas(16) Header {
  const std::type_info* type;
  Destructor destructor;
  Header* next_caught;
  int handlers;  // that hold it; below 0 while it is thrown again
  std::size_t references;
  void* adjusted;  // the object as the handler's type
};

Header* caught = nullptr;  // the innermost first
unsigned uncaught = 0;

Header* header_of(void* thrown) { return static_cast<Header*>(thrown) - 1; }
void* object_of(Header* header) { return header + 1; }

[[noreturn]] void throw_object(void* thrown) {
  constexpr int kTag = 0;  // of C++'s exceptions
  ++uncaught;
  __builtin_wasm_throw(kTag, thrown);
}

using Bytes = const unsigned char*;

// A number in base 128, the lowest digits first.
std::size_t unsigned_at(Bytes& at) {
  std::size_t value = 0;
  for (unsigned shift = 0;; shift += 7) {
    const unsigned char byte = *at++;
    value |= static_cast<std::size_t>(byte & 0x7FU) << shift;
    if ((byte & 0x80U) == 0) return value;
  }
}

std::ptrdiff_t signed_at(Bytes& at) {
  std::size_t value = 0;
  for (unsigned shift = 0;;) {
    const unsigned char byte = *at++;
    value |= static_cast<std::size_t>(byte & 0x7FU) << shift;
    shift += 7;
    if ((byte & 0x80U) != 0) continue;
    if ((byte & 0x40U) != 0 && shift < 32) value |= ~std::size_t{0} << shift;
    return static_cast<std::ptrdiff_t>(value);
  }
}

// What a function's table says of one of its landing pads.
struct Actions {
  Bytes first;  // null: none, only a cleanup
  const TypeInfo* const* types_end;
};

Actions actions_of(Bytes table, std::size_t pad) {
  constexpr unsigned char kOmitted = 0xFF;
  ++table;  // no base of landing pads
  const bool has_types = *table++ != kOmitted;
  const std::size_t to_types = has_types ? unsigned_at(table) : 0;
  const auto* const types_end = reinterpret_cast<const TypeInfo* const*>(has_types ? table + to_types : nullptr);
  ++table;  // how call sites are written: always as these numbers
  const std::size_t length = unsigned_at(table);
  const Bytes actions = table + length;
  std::size_t action = 0;
  for (std::size_t n = 0; n <= pad; ++n) {
    static_cast<void>(unsigned_at(table));
    action = unsigned_at(table);
  }
  return {.first = action == 0 ? nullptr : actions + action - 1, .types_end = types_end};
}

bool catches(const TypeInfo* wanted, Header& header) {
  header.adjusted = object_of(&header);
  return wanted == nullptr || wanted->can_catch(static_cast<const TypeInfo*>(header.type), header.adjusted);
}

// The number of the handler's type that takes the exception; 0 if none does.
int selector_for(Header& header, const Actions& actions) {
  for (Bytes at = actions.first; at != nullptr;) {
    const std::ptrdiff_t type = signed_at(at);
    if (type > 0 && catches(*(actions.types_end - type), header)) return static_cast<int>(type);
    const Bytes base = at;
    const std::ptrdiff_t next = signed_at(at);
    at = next == 0 ? nullptr : base + next;
  }
  return 0;
}

}  // namespace

extern "C" {

// Clang writes the landing pad's number and the function's table here, and reads the selector.
thread_local struct {
  std::size_t pad;
  Bytes table;
  int selector;
} __wasm_lpad_context;  // NOLINT(bugprone-reserved-identifier)

int _Unwind_CallPersonality(void* thrown) {  // NOLINT(bugprone-reserved-identifier)
  const Actions actions = actions_of(__wasm_lpad_context.table, __wasm_lpad_context.pad);
  __wasm_lpad_context.selector = selector_for(*header_of(thrown), actions);
  return 0;
}

// NOLINTBEGIN(bugprone-reserved-identifier): as the ABI names them
void* __cxa_allocate_exception(std::size_t size) noexcept {
  void* memory = std::calloc(1, sizeof(Header) + size);
  if (memory == nullptr) std::terminate();
  return static_cast<Header*>(memory) + 1;
}

void __cxa_free_exception(void* thrown) noexcept { std::free(header_of(thrown)); }

void __cxa_increment_exception_refcount(void* thrown) noexcept {
  if (thrown != nullptr) ++header_of(thrown)->references;
}

void __cxa_decrement_exception_refcount(void* thrown) noexcept {
  if (thrown == nullptr || --header_of(thrown)->references > 0) return;
  if (const Destructor destroy = header_of(thrown)->destructor) destroy(thrown);
  __cxa_free_exception(thrown);
}

[[noreturn]] void __cxa_throw(void* thrown, std::type_info* type, Destructor destructor) {
  Header& header = *header_of(thrown);
  header.type = type;
  header.destructor = destructor;
  header.references = 1;
  throw_object(thrown);
}

void* __cxa_get_exception_ptr(void* thrown) noexcept { return header_of(thrown)->adjusted; }

void* __cxa_begin_catch(void* thrown) noexcept {
  Header* const header = header_of(thrown);
  header->handlers = header->handlers < 0 ? 1 - header->handlers : header->handlers + 1;
  if (header != caught) {
    header->next_caught = caught;
    caught = header;
  }
  --uncaught;
  return header->adjusted;
}

void __cxa_end_catch() {
  Header* const header = caught;
  if (header == nullptr) return;
  if (header->handlers < 0) {
    if (++header->handlers == 0) caught = header->next_caught;
    return;
  }
  if (--header->handlers > 0) return;
  caught = header->next_caught;
  __cxa_decrement_exception_refcount(object_of(header));
}

[[noreturn]] void __cxa_rethrow() {
  if (caught == nullptr) std::terminate();
  caught->handlers = -caught->handlers;
  throw_object(object_of(caught));
}

void* __cxa_current_primary_exception() noexcept {
  if (caught == nullptr) return nullptr;
  __cxa_increment_exception_refcount(object_of(caught));
  return object_of(caught);
}

void __cxa_rethrow_primary_exception(void* thrown) {
  if (thrown == nullptr) return;
  __cxa_increment_exception_refcount(thrown);
  throw_object(thrown);
}

bool __cxa_uncaught_exception() noexcept { return uncaught > 0; }
unsigned __cxa_uncaught_exceptions() noexcept { return uncaught; }

// The page is never taken down in order: what a thread's variables hold stays.
int __cxa_thread_atexit(Destructor /*destroy*/, void* /*object*/, void* /*library*/) noexcept { return 0; }
// NOLINTEND(bugprone-reserved-identifier)

}  // extern "C"
