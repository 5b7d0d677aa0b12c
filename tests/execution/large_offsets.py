#!/usr/bin/env python3
"""Elements beyond 2^32 bytes are reached: emitted C on an array mapped but hardly touched.

usage: large_offsets.py --tangc build/tangc
"""
import argparse
import subprocess
import sys
import tempfile
from pathlib import Path

PROGRAMS = {
    "constant sizes": ("", "70000", "70000", ""),
    "symbolic sizes": ("dim N in 4..=100000\n", "N", "N", ".N = 70000, "),
}
TEXT = """{dims}input x: u8[{rows}, {columns}]
y[i: 4] = x[{rows} - 1, {columns} - 4 + i] + 100 * x[i, 0]
output y: i32
"""
MAIN = """#include <stdio.h>
#include <sys/mman.h>
#include "large.h"
int main(void) {
  const size_t n = 70000, size = n * n;
  unsigned char *x = mmap(NULL, size, PROT_READ | PROT_WRITE,
                          MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (x == MAP_FAILED) return 77;
  int32_t y[4];
  for (size_t i = 0; i < 4; ++i) {
    x[size - 4 + i] = (unsigned char)(i + 1);
    x[i * n] = (unsigned char)(i + 5);
  }
  const struct large_run_args args = {DIMS.x = x, .y = y};
  const int status = large_run(&args);
  printf("%d: %d %d %d %d\\n", status, y[0], y[1], y[2], y[3]);
  return 0;
}
"""


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--tangc", required=True)
    tangc = Path(parser.parse_args().tangc).resolve()
    for name, (dims, rows, columns, given) in PROGRAMS.items():
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder)
            (path / "large.tir").write_text(TEXT.format(dims=dims, rows=rows, columns=columns))
            (path / "main.c").write_text(MAIN.replace("DIMS", given))
            subprocess.run([tangc, "large.tir", "-o", "large.c"], cwd=path, check=True)
            subprocess.run(["cc", "-std=gnu11", "-O2", "main.c", "large.c", "-lm", "-o", "main"],
                           cwd=path, check=True)
            done = subprocess.run(["./main"], cwd=path, capture_output=True, text=True)
        if done.returncode == 77:
            print("skipped: 5 GB of address space cannot be mapped here")
            return 77
        if done.stdout != "0: 501 602 703 804\n":
            print(f"{name}: {done.stdout!r}, exit status {done.returncode}")
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
