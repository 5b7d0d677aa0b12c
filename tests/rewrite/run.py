#!/usr/bin/env python3
# The programs of this folder, as they are written and after the passes, against the interpreter on
# random inputs; and the table of docs/rewrites.md, made from them and the examples.
#
#   run.py --tangc TANGC --device DEVICE     exit status 1 if an output is too far off
#   run.py --tangc TANGC --certify           exit status 1 if a step is neither proved nor tested
#   run.py --tangc TANGC --table PAGE        exit status 1 if the page has another table
#   run.py --tangc TANGC --table PAGE --bless    writes the table into the page
import argparse
import json
import pathlib
import re
import subprocess
import sys

HERE = pathlib.Path(__file__).parent
ROOT = HERE.parent.parent
TOLERANCE = {"interp": "1e-7", "kernel": "2e-6", "c": "2e-6"}
BEGIN, END = "<!-- table: begin -->\n", "<!-- table: end -->\n"


def sizes(program):
    return re.search(r"^# SIZES: (.*)$", program.read_text(), re.M)[1].replace(" ", ",")


def compare(tangc, program, device, level):
    """What is wrong with one run, or nothing."""
    command = [tangc, "run", str(program), "--bind", sizes(program), "--random", f"-O{level}",
               f"--device={device}", f"--tolerance={TOLERANCE[device]}", "--verify-each"]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        return f"{program.name} -O{level}: {' '.join(command)}\n{done.stdout}{done.stderr}"


def manifest(tangc, program, level):
    done = subprocess.run([tangc, str(program), "--emit=manifest", f"-O{level}"],
                          capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


def total(terms):
    """The sum of extents as one polynomial: equal terms are added up."""
    sums = {}
    for term in terms:
        match = re.fullmatch(r"(?:(\d+)\*)?(.*)", term)
        number, rest = (int(match[1] or 1), match[2])
        if rest.isdigit():
            number, rest = number * int(rest), ""
        sums[rest] = sums.get(rest, 0) + number
    parts = [f"{n}*{rest}" if rest else str(n) for rest, n in sorted(sums.items(), reverse=True)]
    return " + ".join(parts) or "0"


def measure(tangc, program, level):
    m = manifest(tangc, program, level)
    stored = [t["bytes"] for t in m["tensors"] if t["role"] == "workspace"]
    return len(m["launches"]), total(stored)


def passes_of(tangc, program):
    done = subprocess.run([tangc, "explain", str(program), "--format=json"], capture_output=True,
                          text=True, check=True)
    names = [step["pass"] for step in json.loads(done.stdout)["steps"]]
    return ", ".join(sorted(set(names) - {"dce"}, key=names.index))


def idea(program):
    return program.read_text().splitlines()[0].lstrip("# ").rstrip(".")


def table(tangc):
    lines = ["| program | what it is | passes | kernels | intermediate bytes before | after |",
             "|---|---|---|---|---|---|"]
    for folder in ROOT / "examples", HERE:
        for program in sorted(folder.glob("*.tir")):
            kernels_0, bytes_0 = measure(tangc, program, 0)
            kernels_2, bytes_2 = measure(tangc, program, 2)
            lines.append(f"| `{program.stem}` | {idea(program)} | {passes_of(tangc, program)} | "
                         f"{kernels_0} to {kernels_2} | {bytes_0} | {bytes_2} |")
    return "\n".join(lines) + "\n"


def check_table(tangc, page, bless):
    text = page.read_text()
    before, rest = text.split(BEGIN)
    there, after = rest.split(END)
    made = table(tangc)
    if bless:
        page.write_text(before + BEGIN + made + END + after)
    elif made != there:
        for line in set(made.splitlines()) ^ set(there.splitlines()):
            print(("made  " if line in made else "page  ") + line)
        sys.exit(f"{page} has another table; run.py --table {page} --bless writes it")


def certify(tangc):
    failed = 0
    programs = sorted([*ROOT.glob("examples/*.tir"), *HERE.glob("*.tir")])
    for program in programs:
        done = subprocess.run([tangc, "check", str(program), "--certify"], capture_output=True,
                              text=True)
        if done.returncode != 0:
            print(f"{program.name}\n{done.stdout}{done.stderr}")
            failed += 1
    print(f"{len(programs)} programs, {failed} failed")
    sys.exit(1 if failed else 0)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--tangc", required=True)
    parser.add_argument("--device", choices=TOLERANCE)
    parser.add_argument("--table", type=pathlib.Path)
    parser.add_argument("--certify", action="store_true")
    parser.add_argument("--bless", action="store_true")
    options = parser.parse_args()
    if options.certify:
        certify(options.tangc)
    if options.table:
        return check_table(options.tangc, options.table, options.bless)
    programs = sorted(HERE.glob("*.tir"))
    problems = [problem for program in programs for level in (0, 2)
                if (problem := compare(options.tangc, program, options.device, level))]
    print("\n".join(problems + [f"{len(programs)} programs, {len(problems)} problems"]))
    sys.exit(1 if problems else 0)


main()
