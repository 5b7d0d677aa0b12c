# The largest elements, orders, and the routing of tokens.
import numpy as np

from batch import Batch


def order_of(x, sign):
    """The stable order along the last axis, NaN first."""
    return np.argsort(np.where(np.isnan(x), -np.inf, sign * x.astype(np.float64)), axis=-1,
                      kind="stable").astype(np.int32)


def orders(rng):
    batch = Batch("orders")
    for shape in [(6,), (1,), (2, 5), (2, 1, 12), (0, 3)]:
        x = np.round(rng.normal(0, 2, shape)).astype(np.float32)  # with ties
        if shape == (2, 5):
            x[1, 2], x[1, 4], x[0, 0], x[0, 1] = np.nan, np.nan, -np.inf, np.inf
        name = batch.input(x)
        down, up = order_of(x, -1), order_of(x, 1)
        batch.check("argsort({})", [name], up)
        batch.check("argsort_descending({})", [name], down)
        batch.check("sort({})", [name], np.take_along_axis(x, up, -1))
        k = min(3, shape[-1])
        best = down[..., :k]
        batch.check(f"top_k({{}}, {k})", [name], (np.take_along_axis(x, best, -1), best))
    x = np.array([[4.0, 2.0]], np.float32)  # fewer than k
    batch.check("top_k({}, 4)", [x], (np.array([[4, 2, -np.inf, -np.inf]], np.float32),
                                      np.array([[0, 1, -1, -1]], np.int32)))
    return batch


def routes(rng, symbolic):
    batch = Batch(f"routes{symbolic:d}", symbolic=symbolic)
    for shape in [(7, 8), (1, 2), (2, 3, 5)]:
        logits = rng.normal(0, 2, shape).astype(np.float32)
        logits[0] = logits[0].flat[0]  # a tie of all
        p = np.exp(logits.astype(np.float64) - logits.max(-1, keepdims=True))
        best = order_of(p, -1)[..., :2]
        weight = np.take_along_axis(p, best, -1)
        batch.check("route({}, 2)", [batch.input(logits)],
                    (best, weight / weight.sum(-1, keepdims=True)))
    return batch


def batches(rng):
    yield orders(rng)
    for symbolic in (False, True):
        yield routes(rng, symbolic)
