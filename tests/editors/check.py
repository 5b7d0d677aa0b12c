#!/usr/bin/env python3
# The word lists of tools/editors are those of the compiler's own tables, and the patterns mark the
# examples as a reader would. Usage: check.py ROOT
import json
import re
import sys
import unittest
from pathlib import Path

ROOT = Path()


def source(path):
    return ROOT.joinpath("src", path).read_text(encoding="utf-8")


def compilers_words():
    """What the compiler knows, by kind of word."""
    syntax = "".join(p.read_text(encoding="utf-8")
                     for p in sorted(ROOT.joinpath("src/text").glob("syntax*.cpp")))
    builtin = source("ir/builtin.cpp")
    start = builtin.index("kBuiltins[] =")
    table = builtin[start:builtin.index("};", start)]
    types = source("scalar/type.cpp")
    types = types[types.index("kTypes = "):types.index("}};")]
    spelled = set(re.findall(r'^OP\(\w+, \d, \w+, "([a-z]\w*)"\)', source("scalar/ops.def"), re.M))
    return {
        "item": set(re.findall(r'Keyword\{"(\w+)"', source("text/syntax_parser.h"))),
        "word": set(re.findall(r'accept_word(?:_here)?\("(\w+)"\)', syntax)) - {"else"},
        "constant": set(re.findall(r'TOKEN\(word_\w+, "(\w+)"\)', source("text/tokens.def"))),
        "type": set(re.findall(r'\{"(\w+)", \d+, Type::', types)),
        "monoid": set(re.findall(r'\{"(\w+)",', table)) | {"topk"},
        # fma is the compiler's own, select is no scalar operation of two operands of a type
        "function": spelled - {"fma"} | {"select"},
    }


def vim_patterns():
    text = ROOT.joinpath("tools/editors/vim/syntax/tir.vim").read_text(encoding="utf-8")
    return {kind.lower(): pattern
            for kind, pattern in re.findall(r'^syn match tir(\w+) "(.*)"', text, re.M)}


def vscode_patterns():
    path = ROOT.joinpath("tools/editors/vscode/syntaxes/tir.tmLanguage.json")
    repository = json.loads(path.read_text(encoding="utf-8"))["repository"]
    return {kind: entry["match"] for kind, entry in repository.items()}


def words_in(pattern):
    """The words of each alternation of a pattern of either editor."""
    groups = re.findall(r"\((?:\?:)?((?:\w+\\?\|)+\w+)\\?\)", pattern)
    lists = [set(re.split(r"\\?\|", group)) for group in groups]
    return max(lists, key=len) if lists else set()


class Words(unittest.TestCase):
    def test_lists_agree_with_the_compiler(self):
        for editor, patterns in (("vim", vim_patterns()), ("vscode", vscode_patterns())):
            for kind, words in compilers_words().items():
                with self.subTest(editor=editor, kind=kind):
                    self.assertGreater(len(words), 3)
                    self.assertEqual(words_in(patterns[kind]), words)


class VsCode(unittest.TestCase):
    def marks(self, kind, line):
        found = []
        for match in re.finditer(vscode_patterns()[kind], line):
            found.append(next((g for g in match.groups() if g), match[0]))
        return found

    def test_words_are_words_in_their_place_only(self):
        self.assertEqual(self.marks("item", "dim S in 1..=8"), ["dim"])
        self.assertEqual(self.marks("item", "  for l in 0..4 { const a = l; x[i] = y[i] }"),
                         ["for", "const"])
        self.assertEqual(self.marks("item", "input[i] = dim[i]"), [])
        self.assertEqual(self.marks("monoid", "y = sum[k](x[i[k]]) + sum[i] + max(a, b)"), ["sum"])
        self.assertEqual(self.marks("monoid", "g, w = topk(2)[d](x[s,d], d)"), ["topk"])
        self.assertEqual(self.marks("function", "max[k](x[k]) + max(a, exp[i])"), ["max"])
        self.assertEqual(self.marks("type", "input f32: f32[S]"), ["f32"])
        self.assertEqual(self.marks("type", "y = f16(x) + i32"), ["f16"])
        self.assertEqual(self.marks("number", "0..12 1.5 1e-5 0xFF x2"),
                         ["0", "12", "1.5", "1e-5", "0xFF"])

    def test_files_fit_together(self):
        folder = ROOT / "tools/editors/vscode"
        package = json.loads((folder / "package.json").read_text(encoding="utf-8"))["contributes"]
        json.loads((folder / package["languages"][0]["configuration"]).read_text(encoding="utf-8"))
        self.assertTrue((folder / package["grammars"][0]["path"]).is_file())
        error = "a b.tir:3:10: error: i runs over 8 in x [range-conflict]"
        match = re.fullmatch(package["problemMatchers"][0]["pattern"]["regexp"], error)
        self.assertEqual(match.groups(), ("a b.tir", "3", "10", "error", "i runs over 8 in x",
                                          "range-conflict"))


if __name__ == "__main__":
    ROOT = Path(sys.argv.pop(1))
    unittest.main()
