// The invariants of a Program, checked after every pass under --verify-each and in every test.
//
//   axes       a form of a comprehension uses axes below n_axes(), dims and scalars of the program;
//              extents use dims only; coordinates are integer combinations (Forms::is_coordinate)
//   reads      an Op::read leaf names a read of its comprehension; a data coordinate, a guard's
//              condition or `otherwise` of read k uses reads before k only; a coordinate per source
//              dimension; a plain view has an empty guard; a guarded read has `otherwise`, of the
//              tensor's kind
//   kinds      nodes are f64, i32, i64 or boolean, but for a cast to a narrower format, which
//              stands only under a cast back; values have their monoid component's type; conditions
//              of domains and guards are boolean; data coordinates are i32 or i64
//   map        no reduce axes, no domain, one component, and no left or right leaf
//   reduction  a component per component of the monoid; identities are constant; identity and
//              combine fit its types
//   list       a component that keeps a list has its places along its last axis, on which neither
//              its value nor the domain depends
//   component  its axes are point axes, none twice, and all on which its value, the domain and the
//              components that its combine reads depend
//   names      one, or "", per visible component, and one per axis
//   order      a definition reads inputs and results of earlier definitions only
//   outputs    name a tensor of the program whose kind converts to the output's storage
#pragma once

#include <string>
#include <vector>

#include "ir/program.h"

namespace tang {

// One sentence for each broken invariant; empty when the program is well formed.
std::vector<std::string> verify(const Program& program);

}  // namespace tang
