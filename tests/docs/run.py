#!/usr/bin/env python3
# Executes the documentation: every fenced block of a page, in order, in a folder of its own.
#
#   ```tir, ```c, ```cpp  with a first line that names a file (`# s.tir`, `/* main.c`): written
#                   there; a ```tir block without a name is checked by `tangc check -`
#   ```sh           run by sh, tangc on the path; must succeed
#   ```text         what the commands before it print; `...` stands for anything
#   ```console      shown only
#
# Usage: run.py PAGE.md TANGC EXAMPLES
import os
import re
import shutil
import subprocess
import sys
import tempfile
import textwrap
from pathlib import Path

BLOCK = re.compile(r"^( *)```(\w+)\n(.*?)^\1```$", re.M | re.S)
NAMED = re.compile(r"^(?:#|/\*|//) ?(\w[\w./-]*\.\w+)")


def blocks_of(page):
    """(line, language, text) of each fenced block that names a language."""
    return [(page.count("\n", 0, m.start()) + 1, m[2], textwrap.dedent(m[3]))
            for m in BLOCK.finditer(page)]


def is_like(expected, actual):
    """Whether the output is as shown, blanks aside; `...` matches anything, also several lines."""
    words = [re.escape(word) for word in " ".join(expected.split()).split("...")]
    return re.fullmatch(".*".join(words), " ".join(actual.split())) is not None


def shell(text, folder, tangc, stdin=None):
    env = dict(os.environ, PATH=f"{Path(tangc).parent}:{os.environ['PATH']}")
    return subprocess.run(["sh", "-e", "-c", text], cwd=folder, env=env, input=stdin, text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=120)


def run_page(page, folder, tangc):
    """Sentences about what is not as the page says."""
    printed = ""
    for line, language, text in blocks_of(page):
        named = NAMED.match(text)
        if language in ("tir", "c", "cpp") and named:
            (folder / named[1]).write_text(text, encoding="utf-8")
        elif language == "tir":
            done = shell("tangc check -", folder, tangc, text)
            if done.returncode != 0:
                yield f"{line}: the program is wrong\n{done.stdout}"
        elif language == "sh":
            done = shell(text, folder, tangc)
            printed = done.stdout
            if done.returncode != 0:
                yield f"{line}: exit status {done.returncode}\n{text}{printed}"
        elif language == "text":
            if not is_like(text, printed):
                yield f"{line}: the page shows\n{text}and the commands print\n{printed}"
        elif language != "console":
            yield f"{line}: nobody runs {language}"


def main(path, tangc, examples):
    page = Path(path).read_text(encoding="utf-8")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        shutil.copytree(examples, folder / "examples")
        problems = [f"{path}:{problem}" for problem in run_page(page, folder, tangc)]
    print("\n".join(problems + [f"{len(blocks_of(page))} blocks, {len(problems)} problems"]))
    return 1 if problems or not blocks_of(page) else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:4]))
