#include "../calls.h"
#include "models.h"
#include "qkv/threads.h"

namespace qkv::python {

void follow_threads() { set_threads(nb::cast<int>(nb::module_::import_("qkv._qkv").attr("threads")())); }

}  // namespace qkv::python

NB_MODULE(_models, module) {
  module.doc() = "Models, training and insight of qkv. Import qkv, which names everything that is public.";
  nanobind::module_::import_("qkv._qkv");  // the types of arrays, probes and errors
  nanobind::module_::import_("qkv._box");  // where an installed package has its models
  qkv::python::add_heatmaps(module);
  qkv::python::add_tokenizer(module);
  qkv::python::add_model(module);
  qkv::python::add_texts(module);
  qkv::python::add_trace(module);
  qkv::python::add_train(module);
  qkv::python::add_report(module);
  qkv::python::add_studio(module);
  qkv::python::add_insight(module);
  qkv::python::add_ask(module);
  qkv::python::name_arguments(module);
}
