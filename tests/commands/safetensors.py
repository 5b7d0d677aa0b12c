#!/usr/bin/env python3
# `tangc run` reads and writes .safetensors: every type, and files that are wrong.
# The few bytes of the format are written here by hand. Usage: safetensors.py TANGC
import json
import struct
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

TANGC = ""
# Type of a program: type in the file, bytes of an element, some elements.
TYPES = {
    "f64": ("F64", 8, struct.pack("<3d", 1.5, -2.0, 1e300)),
    "f32": ("F32", 4, struct.pack("<3f", 1.5, -2.0, 1e30)),
    "f16": ("F16", 2, struct.pack("<3e", 1.5, -2.0, 65504.0)),
    "bf16": ("BF16", 2, bytes.fromhex("c03f00c08041")),
    "f8e4m3": ("F8_E4M3", 1, bytes([0x38, 0xC0, 0x7E])),
    "f8e5m2": ("F8_E5M2", 1, bytes([0x3C, 0xC0, 0x7B])),
    "i64": ("I64", 8, struct.pack("<3q", 1, -(1 << 62), 7)),
    "i32": ("I32", 4, struct.pack("<3i", 1, -(1 << 31), 7)),
    "i16": ("I16", 2, struct.pack("<3h", 1, -32768, 7)),
    "i8": ("I8", 1, struct.pack("<3b", 1, -128, 7)),
    "u8": ("U8", 1, bytes([1, 255, 7])),
    "i4": ("I8", 1, struct.pack("<3b", 1, -8, 7)),
    "bool": ("BOOL", 1, bytes([1, 0, 1])),
}


def packed(tensors, metadata=None):
    """The bytes of a file; tensors: (name, type, shape, bytes)."""
    header, data = {}, b""
    if metadata is not None:
        header["__metadata__"] = metadata
    for name, dtype, shape, elements in tensors:
        header[name] = {"dtype": dtype, "shape": shape,
                        "data_offsets": [len(data), len(data) + len(elements)]}
        data += elements
    return framed(json.dumps(header)) + data


def framed(header):
    return struct.pack("<Q", len(header.encode())) + header.encode()


def unpacked(raw):
    length, = struct.unpack_from("<Q", raw)
    header = json.loads(raw[8:8 + length])
    data = raw[8 + length:]
    return {name: (entry["dtype"], entry["shape"], data[slice(*entry["data_offsets"])])
            for name, entry in header.items()}


class Folder(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def run_program(self, text, *args):
        return subprocess.run([TANGC, "run", "-", "--device=interp", *args], cwd=self.folder,
                              input=text.encode(), capture_output=True, timeout=60)


class InAndOut(Folder):
    def test_every_type(self):
        program = "".join(f"input x_{t}: {t}[3]\ny_{t} = x_{t}\noutput y_{t}: {t}\n" for t in TYPES)
        self.folder.joinpath("in.safetensors").write_bytes(packed(
            [(f"x_{t}", dtype, [3], elements) for t, (dtype, _, elements) in TYPES.items()],
            {"format": "pt"}))
        done = self.run_program(program, "-i", "in.safetensors", "-o", "out.safetensors")
        self.assertEqual(done.returncode, 0, done.stderr)
        raw = self.folder.joinpath("out.safetensors").read_bytes()
        self.assertEqual(struct.unpack_from("<Q", raw)[0] % 8, 0)
        out = unpacked(raw)
        for t, (dtype, _, elements) in TYPES.items():
            self.assertEqual(out[f"y_{t}"], (dtype, [3], elements), t)

    def test_one_tensor_by_name(self):
        self.folder.joinpath("w.safetensors").write_bytes(packed(
            [("other.name", "F32", [], struct.pack("<f", 9)),
             ("x", "F32", [1, 2], struct.pack("<2f", 3, 4))]))
        done = self.run_program("input x: f32[1, 2]\ny[i,j] = x[i,j] * 2.0\nz = 1.0\noutput y, z\n",
                                "-i", "x=w.safetensors", "-o", "y=y.safetensors")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(unpacked(self.folder.joinpath("y.safetensors").read_bytes()),
                         {"y": ("F32", [1, 2], struct.pack("<2f", 6, 8))})
        done = self.run_program("input q: f32\ny = q\noutput y\n", "-i", "q=w.safetensors")
        self.assertEqual(done.returncode, 1)
        self.assertIn(b"it has no array q", done.stderr)

    def test_empty_tensors_and_wider_formats(self):
        self.folder.joinpath("w.safetensors").write_bytes(packed(
            [("e", "F32", [0, 3], b""), ("x", "BF16", [2], bytes.fromhex("c03f00c0"))]))
        done = self.run_program("dim N\ninput e: f32[N, 3]\ninput x: f32[2]\n"
                                "y[i] = x[i]\ns[j] = sum[i](e[i,j])\noutput y, s\n",
                                "-i", "w.safetensors", "-o", "y.safetensors")
        self.assertEqual(done.returncode, 0, done.stderr)
        out = unpacked(self.folder.joinpath("y.safetensors").read_bytes())
        self.assertEqual(out["y"][2], struct.pack("<2f", 1.5, -2.0))
        self.assertEqual(out["s"][2], bytes(12))

    def test_a_type_that_does_not_fit(self):
        self.folder.joinpath("w.safetensors").write_bytes(
            packed([("x", "F8_E4M3", [1], b"\x38")]))
        done = self.run_program("input x: i32[1]\ny = x\noutput y\n", "-i", "w.safetensors")
        self.assertEqual(done.returncode, 1)
        self.assertIn(b"it holds f8e4m3, and i32 is declared", done.stderr)


class Malformed(Folder):
    def test_each_is_one_clear_sentence(self):
        one = '{"x":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}}'

        def of(dtype='"F32"', shape="[1]", offsets="[0,4]"):
            return framed(f'{{"x":{{"dtype":{dtype},"shape":{shape},"data_offsets":{offsets}}}}}')

        files = {
            b"": "too short",
            b"\x01\x00\x00": "too short",
            struct.pack("<Q", (1 << 64) - 1): "its header would have 18446744073709551615 bytes",
            struct.pack("<Q", 1 << 40) + b"{}": "its header would have",
            struct.pack("<Q", 99) + b"{}": "it ends within its header",
            framed("{"): "no JSON object",
            framed("[1]"): "no JSON object",
            framed("[" * 100000): "no JSON object",
            framed('{"x":1}'): "no object for x",
            framed('{"x":{}}'): "no type for x",
            of(dtype="3") + bytes(4): "no type for x",
            of(dtype='"F4"') + bytes(4): "the type 'F4' of x",
            of(shape="[-1]") + bytes(4): "no valid shape for x",
            of(shape="[1.5]") + bytes(4): "no valid shape for x",
            of(shape=f"[{','.join(['1'] * 40)}]") + bytes(4): "no valid shape for x",
            of(shape="[4611686018427387904,4]") + bytes(4): "larger than memory",
            of(shape="[18446744073709551615]") + bytes(4): "no valid shape for x",
            of(shape="[2]") + bytes(4): "x has 4 bytes, and F32 [2] needs 8",
            of(offsets="[4,0]") + bytes(4): "no valid place for x",
            of(offsets="[0]") + bytes(4): "no valid place for x",
            of(offsets="[0,4]"): "x ends at byte 4, and 0 are there",
            of(offsets="[9223372036854775803,9223372036854775807]"): "x ends at byte",
            of(offsets="[4,8]") + bytes(8): "nothing uses the bytes before x",
            of() + bytes(5): "nothing uses its last 1 bytes",
            framed(one[:-1] + "," + one[1:]) + bytes(4): "its header has x twice",
            framed('{"x":{"dtype":"U8","shape":[3],"data_offsets":[0,3]},'
                   '"y":{"dtype":"U8","shape":[2],"data_offsets":[2,4]}}') + bytes(4):
                "y overlaps another tensor",
        }
        for raw, sentence in files.items():
            with self.subTest(sentence, raw=raw[:80]):
                self.folder.joinpath("x.safetensors").write_bytes(raw)
                done = self.run_program("input x: f32[1]\ny = x\noutput y\n", "-i", "x.safetensors")
                self.assertEqual(done.returncode, 1, done.stderr)
                self.assertIn(sentence, done.stderr.decode())
                self.assertTrue(done.stderr.startswith(b"tangc: error: x.safetensors: "))
                self.assertEqual(done.stderr.count(b"\n"), 1)


if __name__ == "__main__":
    TANGC = sys.argv.pop(1)
    unittest.main()
