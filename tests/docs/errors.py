#!/usr/bin/env python3
# Each program of docs/errors.md gives the diagnostic that it stands under, and no other error; or
# says that it uses what is not available yet. Each name that the sources report has such a section
# and a test.
# Usage: errors.py ERRORS.md TANGC SOURCES TESTS
import re
import subprocess
import sys
from pathlib import Path

SECTION = re.compile(r"^### `([a-z-]+)`\n(.*?)(?=^##|\Z)", re.M | re.S)
PROGRAM = re.compile(r"^```tir\n(.*?)^```$", re.M | re.S)
REPORTED = re.compile(r'\b(?:fail|report|refuse|error|warning)\((?:\w+, )?'
                      r'"([a-z0-9]+(?:-[a-z0-9]+)*)"')
EXPECTED = re.compile(r"^# (?:ERROR|WARNING): \S+ ([a-z0-9-]+):", re.M)
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


def names_in(folder, pattern, *suffixes):
    texts = [path.read_text(encoding="utf-8") for path in sorted(Path(folder).rglob("*"))
             if path.suffix in suffixes]
    return {name for text in texts for name in pattern.findall(text)}


def check_names(sections, sources, tests):
    names = names_in(sources, REPORTED, ".cpp", ".h")
    for name in sorted(names - {section for section, _ in sections}):
        yield f"{name} is reported by the sources and has no section"
    expected = names_in(tests, EXPECTED, ".tir")
    for name in sorted(names - expected - {"not-available"}):
        yield f"{name} is reported by the sources, and no file in {tests} expects it"
    if len(names) < 50:
        yield f"only {len(names)} names were found in {sources}"


def main(page, tangc, sources, tests):
    sections = SECTION.findall(Path(page).read_text(encoding="utf-8"))
    problems = [p for name, body in sections for p in check_section(name, body, tangc)]
    problems += check_names(sections, sources, tests)
    print("\n".join(problems + [f"{len(sections)} sections, {len(problems)} problems"]))
    return 1 if problems or not sections else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
