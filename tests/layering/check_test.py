#!/usr/bin/env python3
# Each rule of check.py finds what it is there for, and leaves its neighbour alone.
import unittest
from pathlib import Path

import check


def problems(path, *lines):
    return [what for _, what in check.check_file(Path(path), "\n".join(lines) + "\n")]


class CheckTest(unittest.TestCase):
    def finds(self, part, path, *lines):
        found = problems(path, *lines)
        self.assertEqual(len(found), 1, found)
        self.assertIn(part, found[0])

    def test_includes_go_one_way(self):
        self.finds("emit may not include ir", "src/emit/a.h", "// A.", '#include "ir/program.h"')
        self.finds("no folder", "src/other/a.h", "// A.")
        self.finds("no files", "src/text/a.cpp", "// A.", "#include <fstream>")
        self.assertEqual([], problems("src/lower/a.h", "// A.", '#include "ir/program.h"'))
        self.assertEqual([], problems("src/driver/a.cpp", "// A.", "#include <fstream>"))

    def test_words(self):
        self.finds("no operator", "src/lower/a.cpp", "// A.", "void lower_softmax();")
        self.finds("no operator", "src/schedule/a.cpp", "// A.", 'if (name == "conv") {}')
        self.finds("no target", "src/kernel/a.cpp", "// A.", "// As in CUDA.")
        self.finds("instruction", "src/emit/a.cpp", "// A.", 'out += "_mm512_add_ps";')
        self.assertEqual([], problems("src/ir/a.cpp", "// A.", '"online_softmax"'))
        self.assertEqual([], problems("src/emit/a.cpp", "// A.", "convert(converges);"))

    def test_look(self):
        self.finds("columns", "src/ir/a.h", "// A.", "x" * 101)
        self.finds("blanks", "docs/a.md", "# A", "b ")
        self.finds("tab", "src/ir/a.h", "// A.", "\tint x;")
        self.finds("first line", "src/ir/a.h", "#pragma once")
        self.finds("first line", "src/ir/b.cpp", '#include "ir/a.h"')
        self.assertEqual([], problems("src/ir/a.cpp", '#include "ir/a.h"'))
        self.finds("finish it", "tools/a.sh", "#!/bin/sh", "# TO" + "DO: more")
        self.assertEqual([], problems("docs/a.md", "# A", "b" * 200))

    def test_diagnostics_have_rows(self):
        sources = {"a.cpp": 'd.error("known", span,\n "x");\n  error_at("unknown-one", s, "y");'}
        page = "### `known`\n| `also-known` | when |\n`unknown-one` in text\n"
        found = list(check.check_diagnostics(sources, page))
        self.assertEqual([("a.cpp", 3, "docs/errors.md has no row `unknown-one`")], found)


if __name__ == "__main__":
    unittest.main()
