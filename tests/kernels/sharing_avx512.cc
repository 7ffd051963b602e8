// What own_symbols.cmake must catch: an inline function that the linker may hand to other files, and a variable that is
// computed when the program starts.
// NOLINTBEGIN(misc-use-internal-linkage)
namespace qkv::kernels {

inline int shared_function(int x) { return x + 1; }

int computed_at_start = *new int(1);

int (*address_of_shared_function())(int) { return shared_function; }

}  // namespace qkv::kernels
// NOLINTEND(misc-use-internal-linkage)
