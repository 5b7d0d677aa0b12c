// Mathematical functions of f32 built of kernel IR, the same for every target. Each gives the
// number of its function in the module, which it adds if it is not there yet.
//
// They hold for every float, subnormal ones and infinities included, and for NaN; the comment of a
// function states its error, which tests/unit/kernel/math_test.cpp measures against f64. They use
// no fused multiply-add, which is slow where there is no instruction for it, and branches only
// where one side is seldom needed, so that a C compiler can vectorize a loop that calls them.
//
// Coefficients: least maximal error by Lawson's iteration (reweighted least squares on 1200
// Chebyshev points, targets from 40-digit arithmetic), with the weight that makes the function's
// relative error even; rounded to f32 one after the other from the lowest power up, the rest fitted
// again after each. The error in the comment beside them is the polynomial's alone, so rounded.
#pragma once

#include <cstdint>

#include "kernel/module.h"

namespace tang::kernel {

uint32_t exp_f32(Module& module);
uint32_t exp2_f32(Module& module);
uint32_t sigmoid_f32(Module& module);
uint32_t tanh_f32(Module& module);
uint32_t erf_f32(Module& module);
uint32_t log_f32(Module& module);
uint32_t log2_f32(Module& module);
uint32_t pow_f32(Module& module);
uint32_t sin_f32(Module& module);
uint32_t cos_f32(Module& module);
uint32_t tan_f32(Module& module);
uint32_t atan2_f32(Module& module);

}  // namespace tang::kernel
