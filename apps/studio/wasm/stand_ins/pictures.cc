// Pictures as files are drawn by cairo, which a page has not: it draws from the numbers itself.
#include "qkv/error.h"
#include "qkv/picture/chart.h"
#include "qkv/picture/diagram.h"
#include "qkv/picture/image.h"

namespace qkv {
namespace {

[[noreturn]] void refuse() { throw Error("the engine in a page draws no SVG; `qkv explain` in a terminal does"); }

}  // namespace

std::string to_svg(const Diagram& /*diagram*/) { refuse(); }
std::string to_svg(const Chart& /*chart*/) { refuse(); }
std::string to_svg(const Gallery& /*gallery*/) { refuse(); }

}  // namespace qkv
