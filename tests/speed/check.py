#!/usr/bin/env python3
# Compiling stays fast: a decoder of 36 layers within a second, --help within milliseconds, and
# hostile programs in time and memory that grow with their length. Times are of the process alone,
# the best of a few. Usage: check.py TANGC
import os
import resource
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

TANGC = ""
HERE = Path(__file__).parent
MEGABYTE = 1 << 20


def cost(args, text=None, tries=1):
    """Seconds of CPU and bytes of memory of the best try, status, what it said."""
    best = None
    for _ in range(tries):
        with tempfile.TemporaryFile() as given, tempfile.TemporaryFile() as said:
            given.write(text.encode() if isinstance(text, str) else text or b"")
            given.seek(0)
            process = subprocess.Popen([TANGC, *args], stdin=given, stdout=subprocess.DEVNULL,
                                       stderr=said)
            _, status, used = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
            said.seek(0)
            one = (used.ru_utime + used.ru_stime, used.ru_maxrss * 1024, process.returncode,
                   said.read(4000).decode(errors="replace"))
        best = one if best is None or one < best else best
    return best


class Speed(unittest.TestCase):
    def test_a_deep_model(self):
        with tempfile.TemporaryDirectory() as folder:
            seconds, _, status, said = cost([str(HERE / "decoder.tir"), "-o", folder + "/d.c"],
                                            tries=3)
            self.assertEqual(status, 0, said)
            self.assertLess(seconds, 1.0)
            # The layers are the same kernels: the text does not grow with their number.
            self.assertLess(Path(folder, "d.c").stat().st_size, MEGABYTE)

    def expect_fast(self, lines):
        text = "dim N\ninput x: f32[N]\nt0[i] = x[i]\n" + "\n".join(lines)
        text += f"\noutput t{len(lines)}\n"
        seconds, _, status, said = cost(["-"], text, tries=3)
        self.assertEqual(status, 0, said[:500])
        self.assertLess(seconds, 1.5)

    def test_long_chains(self):
        """What fuses without end, and what fuses as far as is good."""
        lines = range(1, 10_001)
        self.expect_fast([f"t{k}[i] = t{k - 1}[i] * 1.5 + 0.5" for k in lines])
        self.expect_fast([f"t{k}[i] = tanh(t{k - 1}[i])" for k in lines])

    def test_doublings(self):
        self.expect_fast([f"t{k}[i] = t{k - 1}[i] + t{k - 1}[i]" for k in range(1, 65)])

    def test_times_are_said(self):
        said = cost(["-", "--time-passes"], "input x: f32[4]\ny = x\noutput y\n")[3]
        for stage in ("parse", "check", "schedule", "lower", "legalize", "emit", "in all"):
            self.assertIn(f"ms  {stage}", said)

    def test_starting(self):
        self.assertLess(cost(["--version"], tries=5)[0], 0.03)


class Hostile(unittest.TestCase):
    """Each ends soon, by itself, with an answer."""

    def expect(self, text, status=1, seconds=5.0, memory=1 << 30, sentence=""):
        used, size, ended, said = cost(["check", "-"], text)
        self.assertEqual(ended, status, said)
        self.assertLess(used, seconds)
        self.assertLess(size, memory)
        self.assertIn(sentence, said)

    def test_brackets(self):
        for bracket in "([{":
            self.expect("y = " + bracket * 1_000_000)
        self.expect("y = " + "(" * 900 + "1.0" + ")" * 900 + "\noutput y\n", status=0)
        self.expect("y = " + "(" * 1100 + "1.0" + ")" * 1100 + "\noutput y\n", sentence="[limit]")
        self.expect(")" * 1_000_000)
        self.expect("y = " + "-" * 1_000_000 + "1.0\noutput y\n", sentence="[limit]")
        self.expect("y = " + "true ? 1.0 : " * 100_000 + "1.0\noutput y\n", sentence="[limit]")

    def test_long_lines_and_names(self):
        self.expect("# " + "x" * (10 * MEGABYTE) + "\ny = 1.0\noutput y\n", status=0)
        self.expect("y = " + "1.0 + " * 200_000 + "1.0\noutput y\n", status=0)
        self.expect("y = " + " " * (10 * MEGABYTE) + "1.0\noutput y\n", status=0)
        self.expect("a" * 1024 + " = 1.0\noutput " + "a" * 1024 + "\n", status=0)
        self.expect("a" * 1_000_000 + " = 1.0\n", sentence="[limit]")
        self.expect("\u00d7" * 1_000_000)
        self.expect("y = 9" + "9" * 1_000_000 + "\noutput y\n", sentence="[limit]")
        self.expect("y = 1." + "9" * 1_000_000 + "\noutput y\n", status=0)

    def test_bytes_that_are_no_text(self):
        for raw in (b"\0" * 100_000, b"\xff" * 100_000, b"y = 1.0\0\noutput y\n",
                    b"\xef\xbb\xbf" * 1000, bytes(range(256)) * 1000):
            self.expect(raw)

    def test_many_items(self):
        lines = ["input x: f32[8]", "y0[i] = x[i]"]
        lines += [f"y{n + 1}[i] = y{n}[i] * 2.0 + x[i]" for n in range(10_000)]
        self.expect("\n".join([*lines, "output y10000"]) + "\n", status=0)
        self.expect("\n".join(f"y{n} = z{n}" for n in range(10_000)), sentence="[undefined]")

    def test_unrolling_that_explodes(self):
        loops = "".join(f"for l{n} in 0..1000 {{ " for n in range(4)) + "a = 1.0" + " }" * 4
        self.expect("y = 1.0\n" + loops + "\noutput y\n", sentence="[limit]")
        functions = "fn f0(a) { return a + a }\n" + "".join(
            f"fn f{n}(a) {{ return f{n - 1}(a) + f{n - 1}(a) }}\n" for n in range(1, 60))
        self.expect(functions + "y = f59(1.0)\noutput y\n", sentence="[limit]")

    def test_huge_sizes(self):
        self.expect("x[i: 9223372036854775807 + 1] = 1.0\noutput x\n", sentence="[limit]")
        self.expect("dim N\ninput x: f32[N, 3037000500]\n"
                    "y[i,j] = x[i,j]\noutput y\n", status=0)


if __name__ == "__main__":
    TANGC = sys.argv.pop(1)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    unittest.main()
