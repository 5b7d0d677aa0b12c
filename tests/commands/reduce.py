#!/usr/bin/env python3
# `tangc reduce` shrinks a program while a command keeps failing in the same way.
# Usage: reduce.py TANGC
import pathlib
import subprocess
import sys
import tempfile

PROGRAM = """dim N, M
input x: f32[N, M]
input w: f32[M]
a[i,j] = x[i,j] * w[j] + 1.0
m[i] = max[j](a[i,j])
p[i,j] = exp(a[i,j] - m[i])
n[i] = sum[j](p[i,j])
y[i,j] = p[i,j] / n[i]
z[i] = sum[j](y[i,j] * w[j])
output y, z
"""


def main():
    tangc = sys.argv[1]
    with tempfile.TemporaryDirectory() as folder:
        program = pathlib.Path(folder, "big.tir")
        program.write_text(PROGRAM)
        small = pathlib.Path(folder, "small.tir")
        search = f'"{tangc}" "$0" --emit=ir | grep -q online_softmax && exit 3; exit 0'
        done = subprocess.run(
            [tangc, "reduce", program, "-o", small, "--", "sh", "-c", search, "{}"],
            capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        text = small.read_text()
        assert "w" not in text and text.count("\n") <= 6, text
        again = subprocess.run(["sh", "-c", search, small])
        assert again.returncode == 3, text
        for command, status in ([], 2), (["true"], 1), (["no-such-command"], 2):
            done = subprocess.run(
                [tangc, "reduce", program, *(["--"] if command else []), *command],
                capture_output=True, text=True)
            assert done.returncode == status, (command, done.returncode, done.stderr)
    print("reduce: as it should be")


main()
