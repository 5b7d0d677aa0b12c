# Running reductions, recurrences, mixtures of experts: loops over time and over experts.
import numpy as np

from batch import Batch, each
from elementwise import gelu, sigmoid


def running(x, f):
    """f of each prefix of each row."""
    out = np.zeros(x.shape)
    for place, row in each(x.astype(np.float64)):
        for t in range(row.size):
            out[place + (t,)] = f(row[:t + 1])
    return out


def cumulative(rng, symbolic):
    batch = Batch(f"cumulative{symbolic:d}", symbolic=symbolic)
    for shape in [(6,), (1,), (2, 5), (2, 1, 4), (3, 0)]:
        x = np.round(rng.normal(0, 2, shape), 1).astype(np.float32)
        if shape == (2, 5):
            x[1, 2] = np.nan
        name = batch.input(x)
        wide = x.astype(np.float64)
        batch.check("cumsum({})", [name], wide.cumsum(-1))
        batch.check("cumsum_exclusive({})", [name], running(x, lambda v: v[:-1].sum()))
        batch.check("cumsum_reverse({})", [name], wide[..., ::-1].cumsum(-1)[..., ::-1])
        batch.check("cumprod({})", [name], wide.cumprod(-1))
        # The first NaN wins; numpy's arg functions see it so too.
        batch.check("cummax({})", [name], (running(x, np.max), running(x, np.argmax)))
        batch.check("cummin({})", [name], (running(x, np.min), running(x, np.argmin)))
        batch.check("cumlogsumexp({})", [name], running(x, lambda v: np.log(np.exp(v).sum())))
    x = np.array([-np.inf, -np.inf, 1, 1000, 999], np.float32)
    batch.check("cumlogsumexp({})", [x], [-np.inf, -np.inf, 1, 1000, 1000 + np.log1p(np.exp(-1))])
    return batch


def recurrences(rng, symbolic):
    batch = Batch(f"recurrences{symbolic:d}", symbolic=symbolic, rtol=1e-4, atol=1e-5)
    normal = lambda *shape: rng.normal(size=shape).astype(np.float32)
    for lead, time, n, p in [((), 5, 3, 2), ((2,), 1, 1, 3), ((2, 2), 4, 2, 1)]:
        a, b = normal(*lead, time), normal(*lead, time)
        start = normal(*lead)
        for from_start in (False, True):
            want, h = np.zeros(a.shape), start.astype(np.float64) if from_start else 0.0
            for t in range(time):
                h = a[..., t] * h + b[..., t]
                want[..., t] = h
            if from_start:
                batch.check("linear_recurrence_from({}, {}, {})", [a, b, start], want)
            else:
                batch.check("linear_recurrence({}, {})", [a, b], want)
        x, log_decay = normal(*lead, time, p), -np.abs(normal(*lead, time))
        b, c = normal(*lead, time, n), normal(*lead, time, n)
        want, h = np.zeros(x.shape), np.zeros((*lead, n, p))
        for t in range(time):
            h = h * np.exp(log_decay[..., t, None, None]) + b[..., t, :, None] * x[..., t, None, :]
            want[..., t, :] = np.einsum("...n,...np->...p", c[..., t, :], h)
        batch.check("ssd({}, {}, {}, {})", [x, log_decay, b, c], want)
        dt, rate = np.abs(normal(*lead, time, p)), -np.abs(normal(p, n))
        want, h = np.zeros(x.shape), np.zeros((*lead, p, n))
        for t in range(time):
            step = dt[..., t, :, None]
            h = h * np.exp(step * rate) + step * b[..., t, None, :] * x[..., t, :, None]
            want[..., t, :] = (h * c[..., t, None, :]).sum(-1)
        batch.check("selective_scan({}, {}, {}, {}, {})", [x, dt, rate, b, c], want)
        # The delta rule in its matrix form: S' = alpha*(I - beta k k^T) S + beta k v^T.
        state, q, k, v = normal(*lead, n, p), normal(*lead, n), normal(*lead, n), normal(*lead, p)
        alpha, beta = rng.random((2, *lead)).astype(np.float32)
        forget = np.eye(n) - beta[..., None, None] * k[..., :, None] * k[..., None, :]
        new = alpha[..., None, None] * (forget @ state) \
            + beta[..., None, None] * k[..., :, None] * v[..., None, :]
        batch.check("gated_delta_step({}, {}, {}, {}, {}, {})", [state, q, k, v, alpha, beta],
                    (np.einsum("...n,...np->...p", q, new), new))
    return batch


def experts(rng, symbolic):
    batch = Batch(f"experts{symbolic:d}", symbolic=symbolic, rtol=1e-4, atol=1e-5)
    normal = lambda *shape: rng.normal(size=shape).astype(np.float32)
    for lead, width, inner, n_experts, k in [((5,), 3, 4, 6, 2), ((2, 3), 2, 1, 2, 1),
                                             ((), 2, 3, 3, 3)]:
        x, gate = normal(*lead, width), normal(*lead, k)
        into, up = normal(2, n_experts, inner, width)
        down = normal(n_experts, width, inner)
        expert = rng.integers(0, n_experts, (*lead, k)).astype(np.int32)
        expert.reshape(-1)[0] = -1
        plain, gated = np.zeros(x.shape), np.zeros(x.shape)
        for place in np.ndindex(*lead):
            for e, weight in zip(expert[place], gate[place]):
                if e >= 0:
                    row = x[place].astype(np.float64)
                    plain[place] += weight * (down[e] @ gelu(up[e] @ row))
                    inside = into[e] @ row
                    gated[place] += weight * (down[e] @ (inside * sigmoid(inside) * (up[e] @ row)))
        names = [batch.input(a) for a in (x, expert, gate)]
        batch.check("moe({}, {}, {}, {}, {})", names + [up, down], plain)
        batch.check("moe_swiglu({}, {}, {}, {}, {}, {})", names + [into, up, down], gated)
    return batch


def batches(rng):
    for part in (cumulative, recurrences, experts):
        for symbolic in (False, True):
            yield part(rng, symbolic)
