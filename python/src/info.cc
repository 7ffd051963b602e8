#include "qkv/info.h"

#include "python.h"
#include "qkv/targets.h"
#include "qkv/threads.h"

namespace qkv::python {

void add_info(nb::module_& module) {
  module.attr("__version__") = std::string(build_info().version);
  module.def("threads", &threads,
             "How many threads a call uses if it does not say: set_threads(), QKV_THREADS, or the cores.");
  module.def("set_threads", &set_threads, nb::arg("count"),
             "Sets threads() for this process. Raises ValueError unless it is from 1 to 65536.");
  module.def(
      "targets",
      [] {
        std::vector<std::string> names;
        for (const CpuTarget& target : cpu_targets()) {
          if (target.compiled && target.runs_here) names.push_back(target.name);
        }
        return names;
      },
      "The sets of kernels that this build holds and this machine runs, slowest first.");
}

}  // namespace qkv::python
