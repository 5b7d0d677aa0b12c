#!/usr/bin/env python3
# Each program of docs/errors.md gives the diagnostic that it stands under, and no other error; or
# says that it uses what is not available yet.
# Usage: errors.py ERRORS.md TANGC
import re
import subprocess
import sys
from pathlib import Path

SECTION = re.compile(r"^### `([a-z-]+)`\n(.*?)(?=^##|\Z)", re.M | re.S)
PROGRAM = re.compile(r"^```tir\n(.*?)^```$", re.M | re.S)
GIVEN = re.compile(r"^(?:\S+:\d+:\d+: )?(error|warning): .* \[([a-z-]+)\]$", re.M)


def check_section(name, body, tangc):
    for program in PROGRAM.findall(body):
        done = subprocess.run([tangc, "check", "-"], input=program, text=True, timeout=60,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        given = GIVEN.findall(done.stdout)
        if ("error", "not-available") in given and name != "not-available":
            continue
        if not given or {other for _, other in given} != {name}:
            yield f"{name}: the program gives {given}, exit status {done.returncode}\n{done.stdout}"
        elif done.returncode != (1 if ("error", name) in given else 0):
            yield f"{name}: exit status {done.returncode}"


def main(page, tangc):
    sections = SECTION.findall(Path(page).read_text(encoding="utf-8"))
    problems = [p for name, body in sections for p in check_section(name, body, tangc)]
    print("\n".join(problems + [f"{len(sections)} sections, {len(problems)} problems"]))
    return 1 if problems or not sections else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2]))
