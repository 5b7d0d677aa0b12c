// Calls the compiler as a library.
#include <tang/tang.h>

#include <iostream>

int main() {
  const tang::CompileResult good =
      tang::compile({.text = "input x: f32[8]\ny = sum[i](x[i])\noutput y\n"});
  const tang::CompileResult bad = tang::compile({.text = "y = nothing\n"});
  const bool right = good.ok && good.files.size() == 3 && !bad.ok && !bad.messages.empty();
  std::cout << (right ? "embed: right\n" : "embed: wrong\n");
  return right ? 0 : 1;
}
