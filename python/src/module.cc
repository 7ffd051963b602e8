#include "calls.h"

NB_MODULE(_qkv, module) {
  nanobind::set_leak_warnings(false);  // other libraries keep some of these objects until the process ends
  module.doc() = "The engine of qkv. Import qkv, which names everything that is public.";
  qkv::python::add_errors(module);
  qkv::python::add_elements(module);
  qkv::python::add_mask(module);
  qkv::python::add_bias(module);
  qkv::python::add_attention(module);
  qkv::python::add_short_call(module);
  qkv::python::add_backward(module);
  qkv::python::add_probe(module);
  qkv::python::add_gradient_probe(module);
  qkv::python::add_generator(module);
  qkv::python::add_info(module);
  qkv::python::name_arguments(module);
  qkv::python::tell_signatures(module.attr("attention"), module.attr("Mask")());
}
