#!/usr/bin/env python3
# Rules about the text of the sources that no compiler checks: which folder may include which,
# words that must not appear in some folders, the look of files, and that docs/errors.md has a row
# for each diagnostic. Usage: check.py ROOT; prints FILE:LINE: what is wrong.
import re
import sys
from pathlib import Path

# What each folder of src/ may include, besides itself.
INCLUDES = {
    "support": "",
    "affine": "support",
    "scalar": "affine support",
    "ir": "scalar affine support",
    "text": "ir scalar affine support",
    "check": "ir scalar affine support",
    "prove": "check scalar affine support",
    "interp": "ir scalar affine support",
    "rewrite": "ir scalar affine support",
    "schedule": "ir scalar affine support",
    "kernel": "scalar affine support",
    "lower": "kernel ir scalar affine support",
    "emit": "kernel scalar affine support",
    "driver": "emit lower kernel schedule rewrite interp check text ir scalar affine support",
}

# Passes look at views, monoids and domains, never at which operator a user meant.
OPERATORS = re.compile(
    r"attention|flash|(?<!online_)(?<!stabilize[_-])softmax|\bconv\b|conv2d|convolution|matmul|gemm"
    r"|layer_?norm|rms_?norm", re.I)
NO_OPERATORS = "check interp rewrite schedule lower kernel emit".split()
# Lowering and kernel IR are the same for every target.
TARGETS = re.compile(
    r"\b(cuda|ptx|opencl|wgsl|webgpu|glsl|vulkan|spir-?v|metal|msl|avx\w*|sse\d?|neon|openmp)\b"
    r"|__attribute__|#pragma (?!once)", re.I)
NO_TARGETS = "affine scalar ir lower kernel".split()

# Everything but the driver also runs where there are no files, threads or clocks.
HEADERS = re.compile(
    r"#include <(filesystem|fstream|iostream|cstdio|stdio\.h|thread|mutex|chrono|ctime|ranges"
    r"|format|source_location|unistd\.h|sys/.*)>")

MARKS = re.compile(r"\b(" + "|".join(["TO" + "DO", "FIX" + "ME", "XX" + "X", "HA" + "CK"]) + r")\b")
CODE = {".h", ".cpp", ".c", ".def", ".py", ".sh"}
COMMENT = {".h": "//", ".cpp": "//", ".c": "/", ".def": "//", ".cmake": "#", ".in": "#",
           ".py": "#", ".sh": "#", ".tir": "#", ".txt": "#", ".md": "#"}
TOP = set("CMakeLists.txt README.md LICENSE include src tools tests examples proofs docs cmake"
          .split())
WIDTH = 100


def folder_of(path):
    """The folder of src/ that a path lies in, or nothing."""
    return path.parts[1] if len(path.parts) > 2 and path.parts[0] == "src" else ""


def check_includes(path, number, line):
    folder = folder_of(path)
    if not folder:
        return
    if folder not in INCLUDES:
        yield f"{folder} is no folder that {Path(__file__).name} knows"
        return
    match = re.match(r'\s*#include "(\w+)/', line)
    allowed = INCLUDES[folder].split() + [folder]
    if match and match[1] in INCLUDES and match[1] not in allowed:
        yield f"{folder} may not include {match[1]}"
    if folder != "driver" and HEADERS.match(line):
        yield "core libraries use no files, threads or clocks, and no <ranges> or <format>"


def check_words(path, number, line):
    folder = folder_of(path)
    match = OPERATORS.search(line)
    if folder in NO_OPERATORS and match:
        yield f"{match[0]}: the compiler knows no operator"
    match = TARGETS.search(line)
    if folder in NO_TARGETS and match:
        yield f"{match[0]}: {folder} knows no target"
    if folder == "emit" and re.search(r"__AVX|_mm\d*_", line):
        yield "instruction sets belong to kernel IR, not to a printer"
    match = MARKS.search(line)
    if match:
        yield f"{match[0]}: finish it, or file it elsewhere"


def says_its_idea(path, line):
    if path.suffix not in COMMENT or path.name == "packages.txt":
        return True
    # The idea of a .cpp file that begins with its own header, or with that of what it tests, stands
    # in that header.
    own_header = f'#include "{"/".join(path.parts[1:-1])}/{path.stem}.h"'
    in_header = line == own_header or path.match("tests/unit/*/*_test.cpp") \
        and line.startswith('#include "')
    return in_header or line.startswith(COMMENT[path.suffix])


def check_look(path, number, line):
    if path.suffix in CODE and len(line) > WIDTH:
        yield f"{len(line)} columns, {WIDTH} are allowed"
    if line != line.rstrip():
        yield "blanks at the end of the line"
    if "\t" in line and path.suffix in CODE:
        yield "a tab"
    if number == 1 and not says_its_idea(path, line):
        yield "the first line does not say what the file is for"


def check_file(path, text):
    """Problems of one file, as (line number, sentence). `path` is relative to the root."""
    for number, line in enumerate(text.splitlines(), 1):
        for rule in check_includes, check_words, check_look:
            for problem in rule(path, number, line):
                yield number, problem


# Names stand first in a call of Diagnostics, or of a stage's helper named after it.
EMITTED = re.compile(r'\b\w*(?:error|warning|report|fail|complain)\w*\(\s*"([a-z][a-z0-9-]+)"\s*,')
ROWS = re.compile(r"`([a-z][a-z0-9-]+)`")


def check_diagnostics(sources, page):
    """Problems of docs/errors.md, given the sources as {path: text}."""
    rows = set()
    for line in page.splitlines():
        if line.startswith("|") or line.startswith("#"):
            rows.update(ROWS.findall(line))
    for path, text in sorted(sources.items()):
        for match in EMITTED.finditer(text):
            if match[1] not in rows:
                yield path, text.count("\n", 0, match.start()) + 1, \
                    f"docs/errors.md has no row `{match[1]}`"


def files_of(root):
    for path in sorted(root.rglob("*")):
        inner = path.relative_to(root)
        if any(p.startswith((".", "build")) or p == "__pycache__" for p in inner.parts):
            continue
        if path.is_file() and path.suffix in COMMENT:
            yield inner


def main(root):
    problems = [f"{path.name}: only {' '.join(sorted(TOP))} stand at the top"
                for path in sorted(root.iterdir())
                if path.name not in TOP and not path.name.startswith((".", "build"))]
    sources = {}
    n_files = 0
    for path in files_of(root):
        text = (root / path).read_text(encoding="utf-8")
        n_files += 1
        problems += [f"{path}:{number}: {what}" for number, what in check_file(path, text)]
        if path.parts[0] == "src" and path.suffix in {".cpp", ".h"}:
            sources[path] = text
    page = (root / "docs" / "errors.md").read_text(encoding="utf-8")
    problems += [f"{path}:{number}: {what}"
                 for path, number, what in check_diagnostics(sources, page)]
    print("\n".join(problems + [f"{n_files} files, {len(problems)} problems"]))
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
