# A batch of calls to the library: one program, its inputs, and what numpy says comes out.
#
# Each call is a line of the program, so that a batch costs one compilation whatever its size.
# Inputs have concrete sizes, or with symbolic=True sizes that are known at run time only: equal
# extents are one `dim`, as in a program that a user would write.
import os
import subprocess

import numpy as np

TYPES = {np.dtype(np.float32): "f32", np.dtype(np.int32): "i32", np.dtype(np.bool_): "bool"}


class Batch:
    def __init__(self, name, imports=("nn",), symbolic=False, tight=False, rtol=1e-5, atol=2e-6):
        self.name, self.rtol, self.atol = name, rtol, atol
        self.symbolic = symbolic
        self.tight = tight  # sizes are declared no smaller than they are
        self.imports = imports
        self.inputs = {}
        self.declarations, self.items = [], []
        self.sizes = {}
        self.wanted = {}  # by output: (array, the line it comes from)

    @property
    def file(self):
        return f"{self.name}.tir"

    def size(self, extent):
        if not self.symbolic:
            return str(extent)
        self.sizes.setdefault(extent, f"S{extent}")
        return self.sizes[extent]

    def input(self, array, promise="", fixed=0):
        """Declares an input and gives its name; the last `fixed` sizes are constants."""
        array = np.array(array, order="C")
        if array.dtype == np.float64:
            array = array.astype(np.float32)
        name = f"x{len(self.inputs)}"
        shape = ", ".join(str(n) if axis >= array.ndim - fixed else self.size(n)
                          for axis, n in enumerate(array.shape))
        self.inputs[name] = array
        self.declarations.append(f"input {name}: {TYPES[array.dtype]}[{shape}] {promise}".rstrip())
        return name

    def add(self, item):
        self.items.append(item)

    def check(self, call, arguments, want, points=""):
        """`{}` of the call are the arguments, arrays or names; `points` are the indices on the left
        for a call inside an expression."""
        names = [a if isinstance(a, str) else self.input(a) for a in arguments]
        wants = want if isinstance(want, tuple) else (want,)
        outputs = [f"y{len(self.wanted) + k}" for k in range(len(wants))]
        line = f"{', '.join(name + points for name in outputs)} = {call.format(*names)}"
        self.items.append(line)
        for name, array in zip(outputs, wants):
            self.items.append(f"output {name}")
            self.wanted[name] = (np.asarray(array), line)

    def text(self):
        lines = [f'import "{name}"' for name in self.imports]
        if self.sizes:
            least = (lambda n: n) if self.tight else (lambda n: min(n, 1))
            lines.append("dim " + ", ".join(f"{name} in {least(extent)}..=1000"
                                            for extent, name in self.sizes.items()))
        return "\n".join(lines + self.declarations + self.items) + "\n"

    def run(self, tangc, device, folder):
        """Sentences about what is wrong."""
        program = folder / self.file
        program.write_text(self.text())
        command = [tangc, "run", str(program), f"--device={device}"]
        for name, array in self.inputs.items():
            np.save(folder / f"{name}.npy", array)
            command += ["-i", f"{name}={folder / name}.npy"]
        for name in self.wanted:
            command += ["-o", f"{name}={folder / name}.npy"]
        done = subprocess.run(command, capture_output=True, text=True, timeout=120,
                              env=dict(os.environ, LD_PRELOAD=os.environ.get("TANG_PRELOAD", "")))
        if done.returncode != 0:
            return [f"exit status {done.returncode}\n{done.stderr or done.stdout}"[:3000]]
        problems = []
        for name, (want, line) in self.wanted.items():
            got = np.load(folder / f"{name}.npy")
            problems += differences(got, want, line, self.rtol, self.atol)
        return problems


def differences(got, want, line, rtol, atol):
    if got.shape != want.shape:
        return [f"{line}\n      has shape {got.shape}, should have {want.shape}"]
    got, want = got.astype(np.float64), want.astype(np.float64)
    with np.errstate(invalid="ignore"):
        near = np.abs(got - want) <= atol + rtol * np.abs(want)
    right = near | (got == want) | (np.isnan(got) & np.isnan(want))
    if right.all():
        return []
    at = tuple(int(i) for i in np.argwhere(~right)[0])
    return [f"{line}\n      is {got[at]!r} at {at}, should be {want[at]!r}; "
            f"{np.count_nonzero(~right)} of {right.size} are wrong"]


def each(x, rank=1):
    """(place, part) for each part of the last `rank` dimensions."""
    for place in np.ndindex(*x.shape[:x.ndim - rank]):
        yield place, x[place]
