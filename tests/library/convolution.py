# Convolutions, pooling, interpolation: windows over one to three spatial dimensions.
import itertools

import numpy as np

from batch import Batch, each


def places(n, taps, stride, pad, dilation, pad_end=None):
    pad_end = pad if pad_end is None else pad_end
    return (n + pad + pad_end - dilation * (taps - 1) - 1) // stride + 1


def convolve(x, w, stride, pad, dilation, groups, pad_end=None):
    """x [..., C, spatial], w [O, C/groups, taps]; stride, pad, dilation one for each."""
    x, w = x.astype(np.float64), w.astype(np.float64)
    rank = w.ndim - 2
    pad_end = pad if pad_end is None else pad_end
    width = [(0, 0)] * (x.ndim - rank) + list(zip(pad, pad_end))
    padded = np.pad(x, width)
    size = [places(x.shape[x.ndim - rank + a], w.shape[2 + a], stride[a], pad[a], dilation[a],
                   pad_end[a]) for a in range(rank)]
    n_out, per_group = w.shape[:2]
    out = np.zeros(x.shape[:x.ndim - rank - 1] + (n_out, *size))
    for o in range(n_out):
        group = o // (n_out // groups)
        for c, taps in itertools.product(range(per_group), np.ndindex(*w.shape[2:])):
            window = tuple(slice(dilation[a] * taps[a],
                                 dilation[a] * taps[a] + stride[a] * (size[a] - 1) + 1, stride[a])
                           for a in range(rank))
            lead = (Ellipsis, group * per_group + c)
            out[(Ellipsis, o) + (slice(None),) * rank] += (padded[lead + window]
                                                           * w[(o, c) + taps])
    return out


def transpose(x, w, stride, pad, dilation, groups, output_pad):
    """Scatters every input; w is [C, O/groups, taps]."""
    x, w = x.astype(np.float64), w.astype(np.float64)
    rank = w.ndim - 2
    n_in, per_group = w.shape[:2]
    sizes = x.shape[x.ndim - rank:]
    out_size = [(sizes[a] - 1) * stride[a] - 2 * pad[a] + dilation[a] * (w.shape[2 + a] - 1)
                + output_pad[a] + 1 for a in range(rank)]
    out = np.zeros(x.shape[:x.ndim - rank - 1] + (per_group * groups, *out_size))
    for c in range(n_in):
        group = c // (n_in // groups)
        for o, taps, at in itertools.product(range(per_group), np.ndindex(*w.shape[2:]),
                                             np.ndindex(*sizes)):
            to = tuple(stride[a] * at[a] + dilation[a] * taps[a] - pad[a] for a in range(rank))
            if all(0 <= to[a] < out_size[a] for a in range(rank)):
                out[(Ellipsis, group * per_group + o) + to] += (x[(Ellipsis, c) + at]
                                                                * w[(c, o) + taps])
    return out


def written(**options):
    return "".join(f", {name} = {str(value).lower()}" for name, value in options.items())


def convolutions(rng, symbolic):
    batch = Batch(f"conv{symbolic:d}", symbolic=symbolic, tight=True, rtol=1e-4, atol=1e-5)
    normal = lambda *shape: rng.normal(size=shape).astype(np.float32)
    # lead, channels, outputs, groups, sizes, taps, stride, pad, dilation
    cases = [((), 1, 1, 1, (5,), (1,), 1, 0, 1), ((2,), 3, 4, 1, (9,), (3,), 2, 1, 1),
             ((2,), 4, 6, 2, (8,), (3,), 1, 2, 2), ((1, 2), 4, 4, 4, (7,), (2,), 3, 0, 1),
             ((), 2, 3, 1, (5, 6), (3, 3), 1, 1, 1), ((2,), 4, 2, 2, (6, 5), (2, 3), 2, 1, 2),
             ((1,), 3, 3, 3, (4, 4), (3, 1), 1, 0, 1), ((), 2, 2, 1, (3, 4, 5), (2, 2, 2), 1, 0, 1),
             ((2,), 4, 4, 2, (4, 4, 3), (3, 2, 1), 2, 1, 1)]
    for lead, channels, outputs, groups, sizes, taps, stride, pad, dilation in cases:
        if symbolic and groups > 1:
            continue
        rank = len(sizes)
        x, w = normal(*lead, channels, *sizes), normal(outputs, channels // groups, *taps)
        rest = written(stride=stride, pad=pad, dilation=dilation)
        if groups > 1:
            rest += written(groups=groups)
        every = lambda n: (n,) * rank
        names = [batch.input(x), batch.input(w, fixed=rank)]
        batch.check(f"conv{rank}d({{}}, {{}}{rest})", names,
                    convolve(x, w, every(stride), every(pad), every(dilation), groups))
        if rank == 3:
            continue
        v = normal(channels, outputs // groups, *taps)
        for output_pad in {0, stride - 1}:
            batch.check(f"conv_transpose{rank}d({{}}, {{}}{rest}{written(output_pad=output_pad)})",
                        [names[0], batch.input(v, fixed=rank)],
                        transpose(x, v, every(stride), every(pad), every(dilation), groups,
                                  every(output_pad)))
    x, w = normal(2, 3, 6), normal(2, 3, 4)
    # Sees the past only.
    batch.check("conv1d({}, {}, pad = 3, pad_end = 0)", [x, batch.input(w, fixed=1)],
                convolve(x, w, (1,), (3,), (1,), 1, pad_end=(0,)))
    x, w = normal(2, 5, 7), normal(3, 2, 3, 2)
    batch.check("conv2d({}, {}, stride = 2, stride_w = 3, pad_w = 1, dilation_w = 2)",
                [x, batch.input(w, fixed=2)],
                convolve(x, w, (2, 3), (0, 1), (1, 2), 1))
    v = normal(2, 3, 3, 2)
    batch.check("conv_transpose2d({}, {}, stride = 2, stride_w = 3, pad_w = 1, dilation_w = 2)",
                [x, batch.input(v, fixed=2)], transpose(x, v, (2, 3), (0, 1), (1, 2), 1, (0, 0)))
    x, w = normal(1, 4, 5, 6), normal(2, 1, 2, 3, 2)
    batch.check("conv3d({}, {}, stride_h = 2, stride_w = 3, pad = 1, pad_h = 0, dilation_h = 2)",
                [x, batch.input(w, fixed=3)], convolve(x, w, (1, 2, 3), (1, 0, 1), (1, 2, 1), 1))
    return batch


def windows(x, rank, size, stride, pad, dilation=None):
    """(place in the output, the values in its window that exist)."""
    dilation = dilation or (1,) * rank
    sizes = x.shape[x.ndim - rank:]
    out = [places(sizes[a], size[a], stride[a], pad[a], dilation[a]) for a in range(rank)]
    for at in np.ndindex(*out):
        taps = [[stride[a] * at[a] + dilation[a] * r - pad[a] for r in range(size[a])]
                for a in range(rank)]
        taps = [[t for t in taps[a] if 0 <= t < sizes[a]] for a in range(rank)]
        yield out, at, x[np.ix_(*taps)]


def pool(x, rank, f, size, stride, pad, dilation=None):
    lead = x.shape[:x.ndim - rank]
    result = None
    for place in np.ndindex(*lead):
        part = x[place].astype(np.float64)
        for out, at, values in windows(part, rank, size, stride, pad, dilation):
            if result is None:
                result = np.zeros(lead + tuple(out))
            result[place + at] = f(values)
    return result


def maximum(values):
    return values.max() if values.size else -np.inf


def pools(rng, symbolic):
    batch = Batch(f"pool{symbolic:d}", symbolic=symbolic, tight=True)
    for shape, rank in [((7,), 1), ((2, 5), 1), ((2, 6, 5), 2), ((1, 2, 4, 4), 2),
                        ((2, 4, 5, 4), 3)]:
        x = -np.abs(rng.normal(size=shape)).astype(np.float32)  # all negative: padding must not win
        name = batch.input(x)
        every = lambda n: (n,) * rank
        for size, stride, pad in [(2, 2, 0), (3, 1, 1), (3, 2, 1), (1, 1, 0)]:
            rest = f", {size}" + ("" if stride == size else written(stride=stride)) \
                + (written(pad=pad) if pad else "")
            args = (every(size), every(stride), every(pad))
            batch.check(f"max_pool{rank}d({{}}{rest})", [name], pool(x, rank, maximum, *args))
            batch.check(f"average_pool{rank}d({{}}{rest})", [name],
                        pool(x, rank, np.mean, *args))
            batch.check(f"average_pool{rank}d({{}}{rest}, count_pad = true)", [name],
                        pool(x, rank, lambda v: v.sum() / size**rank, *args))
        if rank < 3:
            batch.check(f"max_pool{rank}d({{}}, 2, stride = 1, dilation = 2)", [name],
                        pool(x, rank, maximum, every(2), every(1), every(0), every(2)))
    x = rng.normal(size=(5, 7)).astype(np.float32)
    batch.check("max_pool2d({}, 2, stride = 1, size_w = 3, stride_w = 2, pad_w = 1)", [x],
                pool(x, 2, maximum, (2, 3), (1, 2), (0, 1)))
    batch.check("average_pool2d({}, 2, stride = 1, size_w = 3, stride_w = 2, pad_w = 1)", [x],
                pool(x, 2, np.mean, (2, 3), (1, 2), (0, 1)))
    return batch


def interpolate(row, n, corners):
    """One row, linearly; beyond the ends it is constant."""
    size = row.size
    at = np.arange(n)
    source = at * (size - 1) / max(n - 1, 1) if corners else (at + 0.5) * size / n - 0.5
    return np.interp(source, np.arange(size), row)


def nearest(row, n):
    return row[[(i * row.size) // n for i in range(n)]]


def along(x, axis, f):
    return np.apply_along_axis(f, axis, x.astype(np.float64))


def resizes(rng, symbolic):
    batch = Batch(f"resize{symbolic:d}", symbolic=symbolic, atol=1e-5)
    for shape in [(5,), (2, 4), (1, 1), (3, 7)]:
        x = rng.normal(size=shape).astype(np.float32)
        name = batch.input(x)
        for factor in (1, 2, 3):
            batch.check(f"upsample_nearest1d({{}}, {factor})", [name], x.repeat(factor, -1))
        for n in () if symbolic else (1, 2, 3, 5, 8, 11):
            batch.check(f"resize_nearest1d({{}}, {n})", [name],
                        along(x, -1, lambda r: nearest(r, n)))
            for corners in (False, True):
                batch.check(f"resize_linear1d({{}}, {n}, corners = {str(corners).lower()})", [name],
                            along(x, -1, lambda r: interpolate(r, n, corners)))
    for shape in [(3, 4), (2, 1, 5), (2, 2, 4, 3)]:
        x = rng.normal(size=shape).astype(np.float32)
        name = batch.input(x)
        batch.check("upsample_nearest2d({}, 2)", [name], x.repeat(2, -1).repeat(2, -2))
        for h, w in () if symbolic else ((2, 3), (5, 4), (1, 1), (6, 8)):
            rows = along(x, -2, lambda r: nearest(r, h))
            batch.check(f"resize_nearest2d({{}}, {h}, {w})", [name],
                        along(rows, -1, lambda r: nearest(r, w)))
            for corners in (False, True):
                rows = along(x, -2, lambda r: interpolate(r, h, corners))
                rest = ", corners = true" * corners
                batch.check(f"resize_linear2d({{}}, {h}, {w}{rest})", [name],
                            along(rows, -1, lambda r: interpolate(r, w, corners)))
    return batch


def batches(rng):
    for part in (convolutions, pools, resizes):
        for symbolic in (False, True):
            yield part(rng, symbolic)
