# Softmax, normalizations, products, tables, rotary positions, losses: one row at a time.
import numpy as np

from batch import Batch, each


def log_sum(row):
    top = row.max() if row.size else -np.inf
    if not np.isfinite(top):
        return np.float64(top)
    return top + np.log(np.exp(row - top).sum())


def softmax(row):
    total = log_sum(row)
    return np.zeros_like(row) if total == -np.inf else np.exp(row - total)


def by_row(x, f):
    rows = [f(row.astype(np.float64)) for _, row in each(x)]
    return np.array(rows).reshape(x.shape[:-1] + np.shape(rows[0] if rows else x[..., :0]))


def softmaxes(rng, symbolic):
    batch = Batch(f"softmax{symbolic:d}", symbolic=symbolic)
    shapes = [(7,), (1,), (3, 5), (2, 1, 4), (1, 9)]
    for shape in shapes:
        x = rng.normal(0, 3, shape).astype(np.float32)
        if x.ndim == 2:
            x[0, 1:3] = -np.inf
        if shape == (3, 5):
            x[1] = -np.inf  # nothing is left in this row
            x[2] += 1e4     # must not overflow
        name = batch.input(x)
        batch.check("softmax({})", [name], by_row(x, softmax))
        batch.check("logsumexp({})", [name], by_row(x, log_sum))
        batch.check("log_softmax({})", [name], by_row(
            x, lambda row: np.where(row == -np.inf, row, row - max(log_sum(row), -1e300))))
        keep = rng.random(shape) < 0.6
        keep.reshape(-1, shape[-1])[0] = False
        dirty = np.where(keep, x, np.nan)  # what is not kept is not looked at
        want = np.zeros(shape)
        for place, row in each(x.astype(np.float64)):
            want[place][keep[place]] = softmax(row[keep[place]])
        batch.check("masked_softmax({}, {})", [dirty, keep], want)
    spoilt = np.array([[1, np.nan, 2], [np.inf, 0, 1]])
    batch.check("softmax({})", [spoilt], np.full((2, 3), np.nan))
    empty = np.zeros((3, 0), np.float32)
    batch.check("softmax({})", [empty], np.zeros((3, 0)))
    batch.check("logsumexp({})", [empty], np.full(3, -np.inf))
    return batch


def normalize(x, axes, eps):
    x = x.astype(np.float64)
    centred = x - x.mean(axis=axes, keepdims=True)
    return centred / np.sqrt((centred**2).mean(axis=axes, keepdims=True) + eps)


def norms(rng, symbolic):
    batch = Batch(f"norms{symbolic:d}", symbolic=symbolic, rtol=1e-4, atol=2e-5)
    for shape in [(6,), (1,), (2, 7), (3, 1, 5), (0, 4)]:
        x = rng.normal(1, 2, shape).astype(np.float32)
        gain, shift = rng.normal(size=(2, shape[-1])).astype(np.float32)
        name, g, b = batch.input(x), batch.input(gain), batch.input(shift)
        wide = x.astype(np.float64)
        batch.check("layernorm({}, {}, {})", [name, g, b],
                    normalize(x, -1, 1e-5) * gain + shift)
        batch.check("layernorm({}, {}, {}, eps = 0.1)", [name, g, b],
                    normalize(x, -1, 0.1) * gain + shift)
        batch.check("rmsnorm({}, {})", [name, g],
                    wide / np.sqrt((wide**2).mean(-1, keepdims=True) + 1e-6) * gain)
        batch.check("l2norm({})", [name], wide / np.sqrt((wide**2).sum(-1, keepdims=True)))
    batch.check("l2norm({})", [np.zeros((2, 3), np.float32)], np.zeros((2, 3)))
    for shape in [(2, 6, 5), (1, 6, 2, 3), (2, 6, 1), (2, 6, 2, 1, 3)]:
        x = rng.normal(3, 2, shape).astype(np.float32)
        gain, shift, mean, variance = rng.normal(size=(4, 6)).astype(np.float32)
        variance = variance**2
        name, g, b = batch.input(x), batch.input(gain), batch.input(shift)
        column = lambda a: a.astype(np.float64).reshape((1, 6) + (1,) * (x.ndim - 2))
        spatial = tuple(range(2, x.ndim))
        batch.check("instancenorm({}, {}, {})", [name, g, b],
                    normalize(x, spatial, 1e-5) * column(gain) + column(shift))
        batch.check("batchnorm({}, {}, {}, {}, {})", [name, mean, variance, g, b],
                    (x - column(mean)) / np.sqrt(column(variance) + 1e-5) * column(gain)
                    + column(shift))
        batch.check("global_average_pool({})", [name], x.astype(np.float64).mean(spatial))
        batch.check("global_max_pool({})", [name], x.max(spatial))
        for groups in () if symbolic else (1, 2, 3, 6):
            grouped = x.reshape((shape[0], groups, -1))
            batch.check(f"groupnorm({{}}, {{}}, {{}}, {groups})", [name, g, b],
                        normalize(grouped, -1, 1e-5).reshape(shape) * column(gain) + column(shift))
    return batch


def products(rng, symbolic):
    batch = Batch(f"products{symbolic:d}", symbolic=symbolic, atol=1e-5)
    for lead, m, k, n in [((), 3, 4, 5), ((2,), 1, 7, 3), ((2, 3), 2, 0, 2), ((), 0, 3, 1)]:
        a = rng.normal(size=lead + (m, k)).astype(np.float32)
        b = rng.normal(size=lead + (k, n)).astype(np.float32)
        w = rng.normal(size=(n, k)).astype(np.float32)
        bias = rng.normal(size=n).astype(np.float32)
        batch.check("matmul({}, {})", [a, b], a.astype(float) @ b)
        batch.check("linear({}, {})", [a, w], a.astype(float) @ w.T)
        batch.check("linear_bias({}, {}, {})", [a, w, bias], a.astype(float) @ w.T + bias)
    table = rng.normal(size=(5, 3)).astype(np.float32)
    for ids in [np.array([4, 0, -1, 5, 2]), np.array([[1, 1], [0, -100]]), np.array(3)]:
        ids = ids.astype(np.int32)
        inside = (ids >= 0) & (ids < 5)
        batch.check("embedding({}, {})", [table, ids],
                    np.where(inside[..., None], table[np.clip(ids, 0, 4)], 0))
        batch.check("one_hot({}, 4)", [ids], (ids[..., None] == np.arange(4)).astype(float))
    return batch


def rotate(x, positions, base, interleaved):
    """x is [..., D], a position for each vector; pairs as complex numbers."""
    x = x.astype(np.float64)
    half = x.shape[-1] // 2
    first, second = (x[..., ::2], x[..., 1::2]) if interleaved else (x[..., :half], x[..., half:])
    angle = np.asarray(positions, float)[..., None] * base ** (-np.arange(half) / max(half, 1))
    turned = (first + 1j * second) * np.exp(1j * angle)
    out = np.empty_like(x)
    if interleaved:
        out[..., ::2], out[..., 1::2] = turned.real, turned.imag
    else:
        out[..., :half], out[..., half:] = turned.real, turned.imag
    return out


def ropes(rng, symbolic):
    batch = Batch(f"rope{symbolic:d}", symbolic=symbolic, rtol=1e-4, atol=1e-5)
    for shape in [(5, 4), (2, 3, 8), (1, 2), (2, 1, 4, 6)]:
        x = rng.normal(size=shape).astype(np.float32)
        rows = np.arange(shape[-2])
        name = batch.input(x)
        if not symbolic:  # whether D is even is seen where it is known
            batch.check("rope({})", [name], rotate(x, rows, 1e4, False))
            batch.check("rope({}, base = 500.0, offset = 3)", [name],
                        rotate(x, rows + 3, 500, False))
            batch.check("rope_interleaved({})", [name], rotate(x, rows, 1e4, True))
            batch.check("rope_interleaved({}, offset = 2)", [name], rotate(x, rows + 2, 1e4, True))
            at = rng.integers(0, 9, shape[:-1]).astype(np.int32)
            batch.check("rope_at({}, {})", [name, at], rotate(x, at, 1e4, False))
            batch.check("rope_at_interleaved({}, {})", [name, at], rotate(x, at, 1e4, True))
    return batch


def losses(rng, symbolic):
    batch = Batch(f"losses{symbolic:d}", symbolic=symbolic)
    for shape in [(4, 6), (2, 3, 5), (1, 1), (7,)]:
        x = rng.normal(0, 3, shape).astype(np.float32)
        wide = x.astype(np.float64)
        target = rng.integers(0, shape[-1], shape[:-1]).astype(np.int32)
        if shape == (4, 6):
            target[:] = [5, -1, 2, 6]  # the second and the last do not count
        inside = (target >= 0) & (target < shape[-1])
        for p in (0.0, 0.1):
            want = np.zeros(shape[:-1])
            for place, row in each(wide):
                aim = np.full(row.size, p / row.size)
                if inside[place]:
                    aim[target[place]] += 1 - p
                    want[place] = -(aim * (row - log_sum(row))).sum()
            extra = f", smoothing = {p}" if p else ""
            batch.check(f"cross_entropy({{}}, {{}}{extra})", [x, target], want)
            batch.check(f"mean_cross_entropy({{}}, {{}}{extra})", [x, target],
                        want.sum() / max(inside.sum(), 1))
        log_p = by_row(x, lambda row: row - log_sum(row))
        log_q = by_row(rng.normal(size=shape), lambda row: row - log_sum(row))
        batch.check("kl_divergence({}, {})", [log_p, log_q],
                    (np.exp(log_p) * (log_p - log_q)).sum(-1))
        batch.check("mean({})", [x], wide.mean())
    none = np.array([-1, -1], np.int32)
    batch.check("mean_cross_entropy({}, {})", [np.ones((2, 3), np.float32), none], 0.0)
    never = np.array([[0.0, -np.inf]])
    batch.check("kl_divergence({}, {})", [never, np.log([[0.5, 0.5]])], [np.log(2)])
    return batch


def batches(rng):
    for part in (softmaxes, norms, products, ropes, losses):
        for symbolic in (False, True):
            batch = part(rng, symbolic)
            if batch.wanted:
                yield batch
