// Dead code: definitions that no output needs are dropped, and read lists lose what no expression
// uses. Measure: the number of definitions and reads.
#include "rewrite/carry.h"
#include "rewrite/edit.h"
#include "rewrite/passes.h"

namespace tang {

Program dce(const Program& program, const RewriteOptions&, Trace* trace) {
  Edit edit(program, trace);
  const std::vector<bool> live = live_defs(program, DefIndex(program));
  for (size_t d = 0; d < program.defs.size(); ++d) {
    if (live[d]) continue;
    edit.drop(DefId(d));
    if (trace)
      trace->steps.push_back({.pass = "dce",
                              .laws = {},
                              .before = {edit.snapshot(DefId(d))},
                              .after = {},
                              .equal = {},
                              .says = name_of(program.defs[d]) + " is needed by no output"});
  }
  return edit.changed() ? edit.finish() : program;
}

}  // namespace tang
