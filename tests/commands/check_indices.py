#!/usr/bin/env python3
# --check-indices: the emitted entry point refuses elements that break what is declared of them, and
# then writes nothing. Usage: check_indices.py TANGC
import ctypes
import json
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

TANGC = ""
PROGRAM = """
dim V in 4..=100, T, i
scalar top: i32 in 0..V
input x: f32[V]
input at: i32[T] in 0..V
input low: i64[i] in 0..V - 3 sorted
input nibble: i4[3] in -2..8
y[t] = x[at[t]] + x[nibble[0] + 2 - (nibble[0] + 2)]
z[k] = x[low[k]] + 0.0 * top
output y, z
"""
STATUS_OK, STATUS_BAD_ELEMENT = 0, 7


class Args(ctypes.Structure):
    _fields_ = [("V", ctypes.c_int64), ("T", ctypes.c_int64), ("i", ctypes.c_int64),
                ("top", ctypes.c_int32)] + [
                    (name, ctypes.c_void_p)
                    for name in ("x", "at", "low", "nibble", "y", "z", "workspace")]


class CheckIndices(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.folder = Path(folder.name)
        cls.folder.joinpath("p.tir").write_text(PROGRAM, encoding="utf-8")

    def build(self, *flags):
        subprocess.run([TANGC, "p.tir", "-o", "p.c", *flags], cwd=self.folder, check=True)
        name = f"p{len(list(self.folder.iterdir()))}.so"  # a library is loaded once a path
        subprocess.run(["cc", "-std=c11", "-O1", "-Wall", "-Wextra", "-Wconversion", "-Wshadow",
                        "-Werror", "-shared", "-fPIC", "p.c", "-o", name, "-lm"],
                       cwd=self.folder, check=True)
        return ctypes.CDLL(str(self.folder / name))

    def call(self, library, at=(0, 4, 2), low=(0, 0, 1), nibble=(-2, 0, 7), top=1):
        x = (ctypes.c_float * 5)(10, 11, 12, 13, 14)
        y, z = (ctypes.c_float * 3)(-1, -1, -1), (ctypes.c_float * 3)(-1, -1, -1)
        packed = [nibble[0] & 15 | (nibble[1] & 15) << 4, nibble[2] & 15]
        arrays = [x, (ctypes.c_int32 * 3)(*at), (ctypes.c_int64 * 3)(*low),
                  (ctypes.c_uint8 * 2)(*packed), y, z, (ctypes.c_uint8 * 1024)()]
        args = Args(5, 3, 3, top, *(ctypes.addressof(a) for a in arrays))
        status = library.p_run(ctypes.byref(args))
        return status, list(y), list(z)

    def test_what_is_declared_is_checked(self):
        library = self.build("--check-indices")
        status, y, z = self.call(library)
        self.assertEqual((status, y, z), (STATUS_OK, [20, 24, 22], [10, 10, 11]))
        bad = [dict(at=(0, 5, 2)), dict(at=(-1, 0, 0)), dict(at=(0, 0, 1 << 30)),
               dict(low=(0, 1, 2)), dict(low=(1, 0, 1)), dict(low=(-(1 << 40), 0, 0)),
               dict(nibble=(0, -3, 0)), dict(nibble=(0, 0, -8))]
        for given in bad:
            with self.subTest(given):
                self.assertEqual(self.call(library, **given),
                                 (STATUS_BAD_ELEMENT, [-1, -1, -1], [-1, -1, -1]))

    def test_header_and_manifest_say_so(self):
        self.build("--check-indices")
        self.assertIn("P_RUN_BAD_ELEMENT = 7", self.folder.joinpath("p.h").read_text())
        tensors = json.loads(self.folder.joinpath("p.json").read_text())["tensors"]
        self.assertEqual([t["name"] for t in tensors if t.get("checked")], ["at", "low", "nibble"])

    def test_without_it_nothing_is_read(self):
        library = self.build()
        self.assertEqual(self.call(library, nibble=(0, -3, 0))[0], STATUS_OK)
        tensors = json.loads(self.folder.joinpath("p.json").read_text())["tensors"]
        self.assertFalse(any("checked" in t for t in tensors))


if __name__ == "__main__":
    TANGC = sys.argv.pop(1)
    unittest.main()
