// The canonical text of a graph (language reference, section 11): a valid program that parses back
// to the same graph, index names aside.
#pragma once

#include <string>

#include "ir/program.h"

namespace tang {

std::string print(const Program& program);
// One definition as it stands in print(): "c[i: M, j: N] = sum[k: K](a[i,k] * b[k,j])".
std::string print_def(const Program& program, DefId def);
std::vector<std::string> print_defs(const Program& program);  // all of them, by DefId
// Schedule blocks, a line each.
std::vector<std::string> print_schedule(const Program& program,
                                        const std::vector<ScheduleBlock>& blocks);

}  // namespace tang
