/* Calls both programs and checks what they give. */
#include <stdio.h>

#include "dot.h"
#include "scale.h"

int main(void) {
  const float x[3] = {1, 2, 3};
  float y[3] = {0};
  const struct scale_run_args scale = {.N = 3, .factor = 0.5f, .x = x, .y = y};
  if (scale_run(&scale) != 0 || y[0] != 0.5f || y[1] != 1 || y[2] != 1.5f) {
    puts("scale is wrong");
    return 1;
  }
  const float a[8] = {1, 2, 3, 4, 5, 6, 7, 8};
  const float b[4] = {1, 0, -1, 2};
  float c[2] = {0};
  const struct inner_run_args dot = {.a = a, .b = b, .c = c};
  if (inner_run(&dot) != 0 || c[0] != 6 || c[1] != 14) {
    puts("dot is wrong");
    return 1;
  }
  puts("sample: right");
  return 0;
}
