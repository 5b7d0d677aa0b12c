#!/usr/bin/env python3
"""Runs the programs of programs/ on the inputs of given.json and compares with its right values.

usage: run_cases.py --tangc build/tangc --device interp|kernel|c [--only ID ...]

The compiler of --device c is $CC. Cases that wait for a part of the language are in waiting.txt,
a line each: the case, and what it waits for. A case listed there that passes is a failure, so that
the list stays true.
"""
import argparse
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

import numpy as np

# A sanitizer's library is loaded into tangc alone.
ENVIRONMENT = dict(os.environ, LD_PRELOAD=os.environ.get("TANG_PRELOAD", ""))
HERE = pathlib.Path(__file__).resolve().parent
NUMPY = {"f64": np.float64, "f32": np.float32, "f16": np.float16, "i64": np.int64,
         "i32": np.int32, "i16": np.int16, "i8": np.int8, "u8": np.uint8, "bool": np.bool_}


def decode(value):
    """Nested lists with infinities, NaN and -0.0 as strings."""
    if isinstance(value, list):
        return [decode(v) for v in value]
    return float(value) if isinstance(value, str) else value


def tensor(spec):
    data = eval(spec["make"], {"np": np}) if "make" in spec else decode(spec["data"])
    kind = spec.get("type", "f32")
    array = np.asarray(data).reshape(spec["shape"])
    if kind == "bf16":  # the top half of an f32; the values are exact
        return (array.astype(np.float32).view(np.uint32) >> 16).astype(np.uint16)
    return np.ascontiguousarray(array.astype(NUMPY[kind]))


def runs_of(case):
    """(inputs by name, {output of the program: output of the case}) for each run of the program."""
    inputs = {name: tensor(spec) for name, spec in case["inputs"].items()}
    outputs = {name: name for name in case["outputs"]}
    if case["id"] == "three-hundred-inputs":
        rows = {f"x{n}": np.array([n, 1], np.float32) for n in range(300)}
        return [(rows, outputs)]
    if case["id"] == "unequal-symbols-stay-unequal":
        return [({"a": inputs[a], "b": inputs[b]}, {"y": y})
                for a, b, y in (("a", "b", "y1"), ("c", "d", "y2"), ("e", "f", "y3"))]
    return [(inputs, outputs)]


def tolerance(case):
    text = " ".join(case.get("tolerance", {}).values())
    if text == "exact":
        return lambda want, inputs: np.zeros_like(want)
    if "n * 2^-24 * sum |x|" in text:
        return lambda want, inputs: np.full_like(
            want, inputs["x"].size * 2.0**-24 * np.abs(inputs["x"]).sum())
    rtol = float(re.search(r"rtol ([\d.e-]+)", text).group(1)) if "rtol" in text else 1e-5
    atol = float(re.search(r"atol ([\d.e-]+)", text).group(1)) if "atol" in text else 0.0
    return lambda want, inputs: rtol * np.abs(np.where(np.isfinite(want), want, 0)) + atol


def differences(name, got, spec, allowed, inputs):
    """Sentences about cells of one output that are not right."""
    if list(got.shape) != spec["shape"] and got.size != int(np.prod(spec["shape"], dtype=int)):
        return [f"{name} has shape {list(got.shape)}, should have {spec['shape']}"]
    got = got.reshape(-1).astype(np.float64)
    if "data" in spec:
        want = np.asarray(decode(spec["data"]), np.float64).reshape(-1)
        where = np.arange(want.size)
    else:
        where = np.array([at for at, _ in spec["at"]], int)
        want = np.array([float(value) for _, value in spec["at"]])
        total = float(spec["sum"])
        if abs(got.sum() - total) > 1e-5 * abs(total):
            return [f"{name} sums to {got.sum()}, should be {total}"]
        got = got[where]
    with np.errstate(invalid="ignore"):
        near = np.abs(got - want) <= allowed(want, inputs)
    right = near | (got == want) | (np.isnan(got) & np.isnan(want))
    return [f"{name}[{where[i]}] is {got[i]!r}, should be {want[i]!r}"
            for i in np.flatnonzero(~right)[:3]]


def run_case(case, options, folder):
    """Sentences about what is wrong; empty when the case passes."""
    allowed = tolerance(case)
    problems = []
    for inputs, outputs in runs_of(case):
        command = [options.tangc, "run", str(HERE / "programs" / f"{case['id']}.tir"),
                   f"--device={options.device}", f"-O{options.level}"]
        for name, array in inputs.items():
            np.save(folder / f"in_{name}.npy", array)
            command += ["-i", f"{name}={folder / f'in_{name}.npy'}"]
        for name in outputs:
            command += ["-o", f"{name}={folder / f'out_{name}.npy'}"]
        done = subprocess.run(command, capture_output=True, text=True, timeout=120,
                              env=ENVIRONMENT)
        if done.returncode != 0:
            return [f"exit status {done.returncode}: {(done.stderr or done.stdout).strip()[:600]}"]
        for name, in_case in outputs.items():
            got = np.load(folder / f"out_{name}.npy")
            if got.dtype == np.uint16:  # the bits of bf16
                got = (got.astype(np.uint32) << 16).view(np.float32)
            problems += differences(in_case, got, case["outputs"][in_case], allowed, inputs)
    return problems


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--tangc", required=True)
    parser.add_argument("--device", required=True)
    parser.add_argument("--level", type=int, default=2, help="of optimisation")
    parser.add_argument("--only", nargs="*")
    options = parser.parse_args()
    cases = json.loads((HERE / "given.json").read_text())["cases"]
    waiting = dict(line.split(None, 1) for line in (HERE / "waiting.txt").read_text().splitlines()
                   if line and not line.startswith("#"))
    unknown = set(waiting) - {case["id"] for case in cases}
    if unknown:
        sys.exit(f"waiting.txt names no case: {', '.join(sorted(unknown))}")
    n_passed = n_waiting = n_failed = 0
    for case in cases:
        if options.only and case["id"] not in options.only:
            continue
        with tempfile.TemporaryDirectory() as folder:
            problems = run_case(case, options, pathlib.Path(folder))
        if case["id"] in waiting:
            n_waiting += 1
            if not problems:
                n_failed += 1
                print(f"FAILED {case['id']}: passes, but waiting.txt lists it")
        elif problems:
            n_failed += 1
            print(f"FAILED {case['id']} ({case['what']})")
            for problem in problems:
                print(f"    {problem}")
        else:
            n_passed += 1
    print(f"{options.device}: {n_passed} passed, {n_failed} failed, {n_waiting} wait")
    sys.exit(1 if n_failed else 0)


if __name__ == "__main__":
    main()
