#!/usr/bin/env python3
"""Every function of the library against numpy.

usage: run.py --tangc build/tangc --device interp|kernel|c [--only BATCH ...] [--show]
"""
import argparse
import pathlib
import re
import subprocess
import sys
import tempfile

import numpy as np

import attention
import convolution
import elementwise
import orders
import recurrences
import rows

MODULES = (elementwise, rows, attention, convolution, orders, recurrences)


LIBRARY = pathlib.Path(__file__).resolve().parents[2] / "src/text/library"


def not_called(programs):
    """Sentences about functions of the library that no program calls, itself or through others."""
    files = {file: file.read_text() for file in sorted(LIBRARY.glob("*.tir"))}
    everything = "\n".join([programs, *files.values()])
    for file, text in files.items():
        for name in re.findall(r"^fn (\w+)", text, re.M):
            if not re.search(rf"(?<!fn )\b{name}\(", everything):
                yield f"{file.name}: {name} is called by no test"


def not_formatted_once(tangc):
    """Sentences about files that `fmt` changes again after it changed them."""
    for file in sorted(LIBRARY.glob("*.tir")):
        once = subprocess.run([tangc, "fmt", str(file)], capture_output=True, text=True)
        twice = subprocess.run([tangc, "fmt", "-"], input=once.stdout, capture_output=True,
                               text=True)
        if once.returncode or twice.returncode or once.stdout != twice.stdout:
            yield f"{file.name}: formatting is not stable\n{once.stderr}{twice.stderr}"
        if once.stdout.count("#") != file.read_text().count("#"):
            yield f"{file.name}: formatting loses comments"


def not_printed_again(tangc, program):
    """A sentence if what `--emit=ir` prints is not printed the same when it is read."""
    printed = subprocess.run([tangc, str(program), "--emit=ir"], capture_output=True, text=True)
    again = subprocess.run([tangc, "-", "--emit=ir", "-O0"], input=printed.stdout,
                           capture_output=True, text=True)
    if printed.returncode or again.returncode or printed.stdout != again.stdout:
        yield f"its printed graph prints differently when it is read\n{again.stderr[:2000]}"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--tangc", required=True)
    parser.add_argument("--device", required=True)
    parser.add_argument("--only", nargs="*")
    parser.add_argument("--show", action="store_true", help="print the programs")
    options = parser.parse_args()
    n_batches = n_calls = n_failed = 0
    programs = ""
    for module in MODULES:
        for batch in module.batches(np.random.default_rng(7)):
            if options.only and batch.name not in options.only:
                continue
            if options.show:
                print(batch.text())
            with tempfile.TemporaryDirectory() as folder:
                problems = batch.run(options.tangc, options.device, pathlib.Path(folder))
                if options.device == "interp":
                    problems += not_printed_again(options.tangc, pathlib.Path(folder) / batch.file)
            programs += batch.text()
            n_batches += 1
            n_calls += len(batch.wanted)
            n_failed += len(problems)
            for problem in problems:
                print(f"FAILED {batch.name}: {problem}")
    if options.device == "interp" and not options.only:
        for problem in [*not_called(programs), *not_formatted_once(options.tangc)]:
            n_failed += 1
            print(f"FAILED {problem}")
    print(f"{options.device}: {n_batches} programs, {n_calls} results, {n_failed} failures")
    sys.exit(1 if n_failed or not n_calls else 0)


if __name__ == "__main__":
    main()
