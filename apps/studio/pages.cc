#include "server/pages.h"

// The bytes of a file, between two names.
#define QKV_EMBED(name, file)                                                                                \
  asm(".pushsection .rodata\n"                                                                               \
      ".hidden " #name "_begin\n.global " #name                                                              \
      "_begin\n"                                                                                             \
      ".hidden " #name "_end\n.global " #name "_end\n" #name "_begin:\n.incbin \"" QKV_STUDIO_PAGES "/" file \
      "\"\n" #name "_end:\n.byte 0\n.popsection\n");                                                         \
  extern "C" const char name##_begin[];                                                                      \
  extern "C" const char name##_end[];

QKV_EMBED(qkv_studio_page, "index.html.gz")
QKV_EMBED(qkv_studio_script, "studio.js.gz")
QKV_EMBED(qkv_studio_style, "studio.css.gz")
QKV_EMBED(qkv_studio_worker, "worker.js.gz")
QKV_EMBED(qkv_studio_engine, "engine.gz")
QKV_EMBED(qkv_studio_why, "why")

namespace qkv::studio {

Pages built_pages() {
  return {.page = {qkv_studio_page_begin, qkv_studio_page_end},
          .script = {qkv_studio_script_begin, qkv_studio_script_end},
          .style = {qkv_studio_style_begin, qkv_studio_style_end},
          .worker = {qkv_studio_worker_begin, qkv_studio_worker_end},
          .engine = {qkv_studio_engine_begin, qkv_studio_engine_end}};
}

std::string_view why_without_pages() { return {qkv_studio_why_begin, qkv_studio_why_end}; }

}  // namespace qkv::studio
