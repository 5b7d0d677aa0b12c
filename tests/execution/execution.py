#!/usr/bin/env python3
"""Programs whose every result is known exactly, on the interpreter, kernel IR and compiled C.

usage: execution.py --tangc build/tangc --device interp|kernel|c [--only NAME ...]

Conversions of every value of the small formats, integer arithmetic at the ends of its range, packed
elements, sizes 0 and 1, and names that other languages keep for themselves. Each test is a function
that yields (program, inputs, wanted outputs); results are compared bit for bit, NaNs as equals.
"""
import argparse
import itertools
import os
import pathlib
import subprocess
import sys
import tempfile

import numpy as np

# A sanitizer's library is loaded into tangc alone.
ENVIRONMENT = dict(os.environ, LD_PRELOAD=os.environ.get("TANG_PRELOAD", ""))
I32, I64 = np.int32, np.int64


# ---- formats -----------------------------------------------------------------------------------

class Format:
    """A small float: precision with the hidden bit, exponent of the least normal, largest value."""

    def __init__(self, name, bits, precision, e_min, largest, saturates):
        self.name, self.bits, self.precision, self.e_min = name, bits, precision, e_min
        self.largest, self.saturates = largest, saturates

    def rounded(self, values):
        """To the nearest, ties to even; beyond the largest to infinity, or to it."""
        v = np.asarray(values, np.float64)
        exponent = np.maximum(np.frexp(v)[1] - 1, self.e_min) - (self.precision - 1)
        with np.errstate(invalid="ignore"):
            out = np.ldexp(np.rint(np.ldexp(v, -exponent)), exponent)
            over = np.abs(out) > self.largest
        limit = self.largest if self.saturates else np.inf
        return np.where(over, np.copysign(limit, v), out)

    def values(self):
        """The value of every bit pattern."""
        n = np.arange(1 << self.bits)
        fraction_bits = self.precision - 1
        exponent_bits = self.bits - 1 - fraction_bits
        fraction, exponent = n % (1 << fraction_bits), n >> fraction_bits & (1 << exponent_bits) - 1
        sign = np.where(n >> self.bits - 1, -1.0, 1.0)
        normal = np.ldexp(1.0 + fraction / (1 << fraction_bits), exponent - 1 + self.e_min)
        v = np.where(exponent == 0, np.ldexp(fraction / (1 << fraction_bits), self.e_min), normal)
        if self.name == "f8e4m3":  # no infinities; all ones is NaN
            v = np.where(n % 128 == 127, np.nan, v)
        else:
            top = exponent == (1 << exponent_bits) - 1
            v = np.where(top, np.where(fraction == 0, np.inf, np.nan), v)
        return sign * v


F16 = Format("f16", 16, 11, -14, 65504.0, False)
BF16 = Format("bf16", 16, 8, -126, (2 - 2.0**-7) * 2.0**127, False)
E4M3 = Format("f8e4m3", 8, 4, -6, 448.0, True)
E5M2 = Format("f8e5m2", 8, 3, -14, 57344.0, True)
SMALL = [F16, BF16, E4M3, E5M2]


def stored(values, form):
    """What a .npy of the format holds: bits, or f16 itself."""
    if form is F16:
        return np.asarray(values).astype(np.float16)
    table = {}
    for bits, value in enumerate(form.values()):
        table.setdefault("nan" if np.isnan(value) else (value, np.signbit(value)), bits)
    keys = ("nan" if np.isnan(v) else (v, np.signbit(v)) for v in np.asarray(values).ravel())
    kind = np.uint16 if form.bits == 16 else np.uint8
    return np.array([table[key] for key in keys], kind).reshape(np.shape(values))


def edges_of_rounding():
    """Values of f32 at, between and beside the values of the small formats, and the extremes."""
    out = [0.0, -0.0, np.inf, -np.inf, np.nan, 3.4028234663852886e38, 1e-45, 1.1754943508222875e-38]
    for form in SMALL:
        v = form.values()
        v = np.unique(v[np.isfinite(v)])
        v = v if form.bits == 8 else v[:: 37]
        middle = (v[1:] + v[:-1]) / 2
        out += [*v, *middle, form.largest * 1.01, form.largest * 1.1]
    with np.errstate(over="ignore"):
        x = np.array(out, np.float64).astype(np.float32)
        x = np.concatenate([x, np.nextafter(x, np.float32(np.inf)),
                            np.nextafter(x, np.float32(-np.inf))])
    return np.concatenate([x, -x])


# ---- tests -------------------------------------------------------------------------------------

def conversions_from_small_floats():
    for form in SMALL:
        n = 1 << form.bits
        text = f"input x: {form.name}[{n}]\na[i] = x[i]\nb[i] = i32(x[i])\nc[i] = bool(x[i])\n"
        text += "output a: f64\noutput b: i32\noutput c\n"
        values = form.values()
        wide = np.clip(np.nan_to_num(values, nan=0.0, posinf=2.0**40, neginf=-2.0**40),
                       -2.0**31, 2.0**31 - 1)
        wanted = {"a": values, "b": np.trunc(wide).astype(I32), "c": values != 0}
        for to in SMALL:
            text += f"to_{to.name}[i] = x[i]\noutput to_{to.name}: {to.name}\n"
            wanted[f"to_{to.name}"] = (to, to.rounded(values))
        bits = np.arange(n).astype(np.uint16 if form.bits == 16 else np.uint8)
        yield text, {"x": bits.view(np.float16) if form is F16 else bits}, wanted


def conversions_to_small_floats():
    x = edges_of_rounding()
    text, wanted = f"input x: f32[{x.size}]\n", {}
    for to in SMALL:
        text += f"s_{to.name}[i] = x[i]\noutput s_{to.name}: {to.name}\n"  # by storing
        text += f"c_{to.name}[i] = {to.name}(x[i])\noutput c_{to.name}\n"  # by a cast
        wanted[f"s_{to.name}"] = (to, to.rounded(x))
        wanted[f"c_{to.name}"] = to.rounded(x).astype(np.float32)
    yield text, {"x": x}, wanted


def conversions_of_doubles():
    """From f64 in one step: a detour by f32 would round twice."""
    x = []
    for form in SMALL:
        v = form.values()
        v = np.unique(v[np.isfinite(v)])[:: 1 if form.bits == 8 else 53]
        middle = (v[1:] + v[:-1]) / 2
        x += [*np.nextafter(middle, np.inf), *np.nextafter(middle, -np.inf), *middle]
    x = np.array(x)
    text, wanted = f"input x: f64[{x.size}]\n", {}
    for to in SMALL:
        text += f"y_{to.name}[i] = x[i]\noutput y_{to.name}: {to.name}\n"
        wanted[f"y_{to.name}"] = (to, to.rounded(x))
    yield text, {"x": x}, wanted


def conversions_of_integers():
    i64 = np.array([0, 1, -1, 7, -8, 8, 127, 128, -128, -129, 255, 256, 2**31 - 1, 2**31, -2**31,
                    -2**31 - 1, 2**53, 2**53 + 1, 2**63 - 1, -2**63], I64)
    real = np.array([0.0, -0.5, 0.99, 1.5, -1.5, 2.0**31 - 1, 2.0**31, -2.0**31, -2.0**31 - 1,
                     1e300, -1e300, np.inf, -np.inf, np.nan, 2.0**63, -2.0**63])
    text = f"input n: i64[{i64.size}]\ninput r: f64[{real.size}]\n"
    wanted = {}
    kinds = {"i32": I32, "i16": np.int16, "i8": np.int8, "u8": np.uint8}
    for name, kind in kinds.items():
        text += f"n_{name}[i] = {name}(n[i])\noutput n_{name}: {name}\n"
        wanted[f"n_{name}"] = i64.astype(kind)
    text += "n_i4[i] = i4(n[i])\noutput n_i4: i4\n"
    wanted["n_i4"] = ((i64 + 8) % 16 - 8).astype(np.int8)
    text += "r_i32[i] = i32(r[i])\nr_i64[i] = i64(r[i])\nback[i] = f64(n[i])\n"
    text += "output r_i32, r_i64\noutput back: f64\n"
    clean = np.nan_to_num(real, nan=0.0, posinf=1e300, neginf=-1e300)
    wanted["r_i32"] = np.array([max(-2**31, min(2**31 - 1, int(v))) for v in clean], I32)
    wanted["r_i64"] = np.array([max(-2**63, min(2**63 - 1, int(v))) for v in clean], I64)
    wanted["back"] = i64.astype(np.float64)
    yield text, {"n": i64, "r": real}, wanted


def wrapped(value, bits):
    return (value + (1 << bits - 1)) % (1 << bits) - (1 << bits - 1)


def integer_arithmetic():
    operations = {
        "add": ("a[i] + b[i]", lambda a, b, w: a + b),
        "sub": ("a[i] - b[i]", lambda a, b, w: a - b),
        "mul": ("a[i] * b[i]", lambda a, b, w: a * b),
        "quotient": ("a[i] / b[i]", lambda a, b, w: a // b if b else 0),
        "rest": ("a[i] % b[i]", lambda a, b, w: a % b if b else a),
        "left": ("a[i] << b[i]", lambda a, b, w: a << b % w),
        "right": ("a[i] >> b[i]", lambda a, b, w: a >> b % w),
        "both": ("a[i] & b[i]", lambda a, b, w: a & b),
        "some": ("a[i] | b[i]", lambda a, b, w: a | b),
        "one": ("a[i] ^ b[i]", lambda a, b, w: a ^ b),
        "negated": ("-a[i]", lambda a, b, w: -a),
        "size": ("abs(a[i])", lambda a, b, w: abs(a)),
        "least": ("min(a[i], b[i])", lambda a, b, w: min(a, b)),
        "most": ("max(a[i], b[i])", lambda a, b, w: max(a, b)),
        "signs": ("sign(a[i])", lambda a, b, w: (a > 0) - (a < 0)),
        "by_seven": ("a[i] / 7 + a[i] % -7", lambda a, b, w: a // 7 + a % -7),
        "by_eight": ("a[i] / 8 + a[i] % 8", lambda a, b, w: a // 8 + a % 8),
    }
    for name, width, kind in (("i32", 32, I32), ("i64", 64, I64)):
        top = 1 << width - 1
        edge = [0, 1, -1, 2, 3, -3, 7, -7, 8, 31, 32, 63, 64, -33, 1000003, top - 1, -top, -top + 1,
                top // 2, -top // 2]
        pairs = list(itertools.product(edge, edge))
        a = np.array([p[0] for p in pairs], kind)
        b = np.array([p[1] for p in pairs], kind)
        text, wanted = f"input a, b: {name}[{a.size}]\n", {}
        for result, (formula, meaning) in operations.items():
            text += f"{result}[i] = {formula}\noutput {result}\n"
            values = [wrapped(meaning(x, y, width), width) for x, y in pairs]
            wanted[result] = np.array(values, kind)
        text += "total = sum[i](a[i])\nproduct = prod[i | i < 40](a[i] + 3)\n"
        text += "output total, product\n"
        wanted["total"] = np.array(wrapped(sum(p[0] for p in pairs), width), kind)
        product = 1
        for p in pairs[:40]:
            product = wrapped(product * wrapped(p[0] + 3, width), width)
        wanted["product"] = np.array(product, kind)
        yield text, {"a": a, "b": b}, wanted


def packed_elements():
    """Nibbles in and out, with rows of odd length: two tasks may not write one byte."""
    for rows, columns in ((1, 1), (3, 5), (64, 129), (257, 33)):
        x = ((np.arange(rows * columns) * 7) % 16 - 8).astype(np.int8).reshape(rows, columns)
        text = f"input x: i4[{rows}, {columns}]\ny[i,j] = x[i,j] + 1\nz[j,i] = x[i,j]\n"
        text += "s[i] = sum[j](x[i,j])\noutput y: i4\noutput z: i4\noutput s\n"
        yield text, {"x": x}, {"y": ((x + 1 + 8) % 16 - 8).astype(np.int8), "z": x.T,
                               "s": x.sum(1).astype(I32)}


def sizes_zero_and_one():
    text = """dim N, M
input x: f32[N, M]
input n: i32[N, M]
total[i] = sum[j](x[i,j])
product[i] = prod[j](n[i,j])
most[i] = max[j](x[i,j])
least[i] = min[j](n[i,j])
some[i] = any[j](n[i,j] > 0)
every[i] = all[j](n[i,j] > 0)
best[i], where[i] = argmax[j](x[i,j], n[i,j])
peak[i], norm[i], o[i] = online_softmax[j](x[i,j], 1.0, 2.0)
log_sum[i] = logsumexp[j](x[i,j])
count[i], mean[i], _ = welford[j](1.0, x[i,j], 0.0)
running[i,j] = sum[k | k <= j](x[i,k])
all_of_it = sum[i,j](x[i,j])
shifted[i: N, j: M] = x[i + 1, j - 1] else 9.0
output total, product, most, least, some, every, best, where, peak, norm, o, log_sum, count, mean
output running, all_of_it, shifted
"""
    top = 2**31 - 1
    for rows, columns in ((0, 0), (0, 3), (2, 0), (1, 1)):
        shape = (rows, columns)
        x, n = np.full(shape, 2.0, np.float32), np.full(shape, 5, I32)
        one = columns == 1
        def row(value, kind=np.float32):
            return np.full(rows, value, kind)
        inf = np.inf
        wanted = {
            "total": row(2.0 if one else 0.0), "product": row(5 if one else 1, I32),
            "most": row(2.0 if one else -inf), "least": row(5 if one else top, I32),
            "some": row(one, bool), "every": row(True, bool), "best": row(2.0 if one else -inf),
            "where": row(5 if one else -1, I32), "peak": row(2.0 if one else -inf),
            "norm": row(1.0 if one else 0.0), "o": row(2.0 if one else 0.0),
            "log_sum": row(2.0 if one else -inf), "count": row(1.0 if one else 0.0),
            "mean": row(2.0 if one else 0.0), "running": x, "all_of_it": np.float32(x.sum()),
            "shifted": np.full(shape, 9.0, np.float32)}
        yield text, {"x": x, "n": n}, wanted


def updates():
    random = np.random.default_rng(5)
    rows, columns = 7, 5
    c = random.integers(-100, 100, (2 * rows, columns)).astype(I32)
    y = random.integers(-100, 100, (rows, columns)).astype(I32)
    m = random.integers(0, 2, rows).astype(bool)
    order = random.permutation(rows).astype(I32)
    text = f"""input y: i32[{rows}, {columns}]
input m: bool[{rows}]
input order: i32[{rows}] in 0..{rows} distinct
inout c: i32[{2 * rows}, {columns}]
inout n: i8[{columns}]
inout nibbles: i4[3, 3]
inout flags: bool[{rows}]
inout half: f16[{columns}]
inout count: i64
scalar pos: i32
before = sum[i,j](c[i,j])
c?[pos, j] := y[0,j]
c?[s + pos, j | m[s]] := c[s + pos, j] + y[s,j]
c[2*s, j: 3] := c[2*s + 1, j] - y[s,j]
c[order[s], 4] := y[s,0] * 10
after = sum[i,j](c[i,j])
n[j] := n[j] + 100
n[j] := n[j] + y[0,j]
nibbles[a, b] := nibbles[a,b] + 5
old[s: {rows}] = flags[{rows} - 1 - s]
flags?[s | m[s]] := old[s]
half[j] := half[j] + y[1,j] * 0.5
count := count + i64(1) * sum[s](m[s])
for k in 0..3 {{ count := count * 2 + k }}
output before, after
"""
    for pos in (0, 3, rows, -2, 2 * rows - 1):
        new, y8, f = c.copy(), y.astype(I64), random.integers(0, 2, rows).astype(bool)
        if 0 <= pos < 2 * rows:
            new[pos] = y[0]
        source = new.copy()
        for s in range(rows):
            if m[s] and 0 <= s + pos < 2 * rows:
                new[s + pos] = source[s + pos] + y[s]
        source = new.copy()
        new[0::2, :3] = source[1::2, :3] - y[:, :3]
        new[order, 4] = y[:, 0] * 10
        n = random.integers(-128, 128, columns).astype(np.int8)
        nibbles = random.integers(-8, 8, (3, 3)).astype(np.int8)
        half = random.integers(-8, 8, columns).astype(np.float16)
        total = 5 + int(m.sum())
        for k in range(3):
            total = total * 2 + k
        yield text, {
            "y": y, "m": m, "order": order, "c": c, "n": n, "nibbles": nibbles, "flags": f,
            "half": half, "count": np.array(5, I64), "pos": pos}, {
                "c": new, "before": np.array(c.sum(), I32), "after": np.array(new.sum(), I32),
                "n": (n + 100 + y8[0]).astype(np.int8),
                "nibbles": ((nibbles + 5 + 8) % 16 - 8).astype(np.int8),
                "flags": np.where(m, f[::-1], f), "half": (half + y[1] * 0.5).astype(np.float16),
                "count": np.array(total, I64)}


def names_of_other_languages():
    """Every declared thing is called like a keyword, a type or a function of some target."""
    words = """auto break case char const continue default do double enum extern float goto if int
        long register restrict return short signed sizeof static struct switch typedef union
        unsigned void volatile while class namespace template this new delete operator virtual
        public kernel device global local constant half half4 float4 uint uchar threadgroup thread
        vertex fragment vec4 mat4 sampler2D layout uniform buffer shared main printf malloc memcpy
        NULL INFINITY NAN I errno assert stdin EOF INT_MAX int32_t size_t bool fabsf expf fmaf
        var let loop override workgroup array atomic ptr f16 i32 u32 ref asm inline typeof near far
        args status workspace tensor run tang omp blockIdx threadIdx __global__ warpSize""".split()
    values = np.arange(len(words), dtype=np.float32)
    text = "".join(f"input {word}: f32[1]\n" for word in words)
    terms = " + ".join(f"{word}[0] * {k + 1}.0" for k, word in enumerate(words))
    text += f"result = {terms}\noutput result\n"
    inputs = {word: values[k:k + 1] for k, word in enumerate(words)}
    wanted = np.float32(sum(k * (k + 1) for k in range(len(words))))
    yield text, inputs, {"result": wanted}
    # As dims, indices, definitions, scalars and outputs.
    for a, b, c, d, e in zip(*[iter(words[:len(words) // 5 * 5])] * 5):
        text = f"dim {a}\ninput {b}: f32[{a}]\nscalar {c}: f32\n"
        text += f"{d}[{e}] = exp({b}[{e}] - {b}[{e}]) * {c} + {b}[{e}]\noutput {d}\n"
        yield text, {b: values[:3], c: 2.0}, {d: values[:3] + np.float32(2.0)}


TESTS = [conversions_from_small_floats, conversions_to_small_floats, conversions_of_doubles,
         conversions_of_integers, integer_arithmetic, packed_elements, sizes_zero_and_one,
         updates, names_of_other_languages]


# ---- running -----------------------------------------------------------------------------------

def same(got, want):
    """Which elements agree: bits and all, NaN with NaN."""
    if got.dtype.kind == "f":
        with np.errstate(invalid="ignore"):
            equal = (got == want) & (np.signbit(got) == np.signbit(want))
        return equal | (np.isnan(got) & np.isnan(want))
    return got == want


def difference(name, got, want):
    if isinstance(want, tuple):
        form, values = want
        want = stored(values, form)
        if form is not F16:  # NaN has several patterns
            table = form.values()
            got, want = table[got], table[want]
    want = np.asarray(want)
    if got.shape != want.shape:
        return f"{name} has shape {got.shape}, should have {want.shape}"
    wrong = np.argwhere(~same(got, want))
    if len(wrong) == 0:
        return None
    at = tuple(wrong[0])
    return f"{name}{list(map(int, at))} is {got[at]!r}, should be {want[at]!r} ({len(wrong)} wrong)"


def run(program, inputs, wanted, options, folder):
    (folder / "p.tir").write_text(program)
    command = [options.tangc, "run", str(folder / "p.tir"), f"--device={options.device}", "-q"]
    for name, value in inputs.items():
        if isinstance(value, (float, int)):
            command += ["-i", f"{name}={value}"]
            continue
        np.save(folder / f"in_{name}.npy", value)
        command += ["-i", f"{name}={folder / f'in_{name}.npy'}"]
    for name in wanted:
        command += ["-o", f"{name}={folder / f'out_{name}.npy'}"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, env=ENVIRONMENT)
    if done.returncode != 0:
        return [f"exit status {done.returncode}: {(done.stderr or done.stdout).strip()[:800]}"]
    found = [difference(name, np.load(folder / f"out_{name}.npy"), want)
             for name, want in wanted.items()]
    return [problem for problem in found if problem]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--tangc", required=True)
    parser.add_argument("--device", required=True)
    parser.add_argument("--only", nargs="*")
    options = parser.parse_args()
    n_programs = n_failed = 0
    for test in TESTS:
        if options.only and test.__name__ not in options.only:
            continue
        for program, inputs, wanted in test():
            with tempfile.TemporaryDirectory() as folder:
                problems = run(program, inputs, wanted, options, pathlib.Path(folder))
            n_programs += 1
            if problems:
                n_failed += 1
                print(f"FAILED {test.__name__}: {program.splitlines()[0]} ...")
                for problem in problems[:6]:
                    print(f"    {problem}")
    print(f"{n_programs} programs, {n_failed} failed")
    return 1 if n_failed or not n_programs else 0


if __name__ == "__main__":
    sys.exit(main())
