# Attention of all kinds: one query at a time, its keys collected in a list.
import numpy as np

from batch import Batch

RTOL, ATOL = 2e-5, 5e-6


def one_query(q, k, v, keys, scale, soft_cap=0.0, added=None, sink=None):
    """q [D], k [T, D], v [T, E]; `keys` are the places that q may see."""
    if len(keys) == 0:
        return np.zeros(v.shape[1])
    s = np.array([float(q @ k[j]) * scale for j in keys])
    if soft_cap:
        s = soft_cap * np.tanh(s / soft_cap)
    if added is not None:
        s = s + added[keys]
    top = max(s.max(), -np.inf if sink is None else sink)
    if top == -np.inf:
        return np.zeros(v.shape[1])
    p = np.exp(s - top)
    total = p.sum() + (0 if sink is None else np.exp(sink - top))
    alive = p > 0
    return (p[alive, None] * v[keys][alive]).sum(0) / total


def reference(q, k, v, scale=None, causal=False, window=0, soft_cap=0.0, offset=None, allowed=None,
              bias=None, slopes=None, sinks=None):
    """q [..., H, S, D], k and v [..., G, T, .]; allowed [S, T], bias [H, S, T]."""
    q, k, v = (a.astype(np.float64) for a in (q, k, v))
    *lead, heads, n_queries, depth = q.shape
    groups, n_keys = k.shape[-3], k.shape[-2]
    scale = depth**-0.5 if scale is None else scale
    offset = n_keys - n_queries if offset is None else offset
    out = np.zeros((*lead, heads, n_queries, v.shape[-1]))
    for place in np.ndindex(*lead):
        for h in range(heads):
            g = h // (heads // groups)
            for i in range(n_queries):
                at = i + offset
                keys = [j for j in range(n_keys)
                        if (not causal or j <= at) and (not window or j > at - window)
                        and (allowed is None or allowed[i, j])]
                added = np.zeros(n_keys)
                if bias is not None:
                    added = added + bias[h, i]
                if slopes is not None:
                    added = added - slopes[h] * (at - np.arange(n_keys))
                out[place][h, i] = one_query(
                    q[place][h, i], k[place][g], v[place][g], np.array(keys, int), scale, soft_cap,
                    added, None if sinks is None else float(sinks[h]))
    return out


def tensors(rng, lead, heads, groups, n_queries, n_keys, depth, width):
    normal = lambda *shape: rng.normal(size=shape).astype(np.float32)
    return (normal(*lead, heads, n_queries, depth), normal(*lead, groups, n_keys, depth),
            normal(*lead, groups, n_keys, width))


OPTIONS = [
    {},
    {"causal": True},
    {"window": 2},
    {"causal": True, "window": 3},
    {"soft_cap": 1.5},
    {"scale": 0.25, "causal": True, "offset": 0},
    {"causal": True, "window": 2, "soft_cap": 2.0},
    {"causal": True, "offset": -2},  # the first two queries see nothing
]


def written(options):
    return "".join(f", {name} = {str(value).lower()}" for name, value in options.items())


def plain(rng, symbolic):
    batch = Batch(f"attention{symbolic:d}", symbolic=symbolic, rtol=RTOL, atol=ATOL)
    for heads, n_queries, n_keys, depth, width in [(2, 5, 5, 4, 3), (1, 3, 6, 1, 2),
                                                   (3, 1, 4, 2, 1)]:
        q, k, v = tensors(rng, (), heads, heads, n_queries, n_keys, depth, width)
        names = [batch.input(a) for a in (q, k, v)]
        for options in OPTIONS:
            batch.check(f"attention({{}}, {{}}, {{}}{written(options)})", names,
                        reference(q, k, v, **options))
    q, k, v = tensors(rng, (2,), 2, 2, 4, 5, 3, 2)
    names = [batch.input(a) for a in (q, k, v)]
    allowed = rng.random((4, 5)) < 0.5
    allowed[1], allowed[2] = False, True
    batch.check("masked_attention({}, {}, {}, {})", names + [allowed],
                reference(q, k, v, allowed=allowed))
    ids, key_ids = np.array([0, 0, 1, 7]), np.array([0, 0, 0, 1, 1])
    own = ids[:, None] == key_ids
    for options in OPTIONS:
        batch.check(f"document_attention({{}}, {{}}, {{}}, {{}}, {{}}{written(options)})",
                    names + [ids.astype(np.int32), key_ids.astype(np.int32)],
                    reference(q, k, v, allowed=own, **options))
    none = tensors(rng, (), 1, 1, 3, 0, 2, 2)
    batch.check("attention({}, {}, {})", none, np.zeros((1, 3, 2)))
    masked = np.zeros((2, 3), np.float32)  # scores of -inf: the value there is not looked at
    masked[0, 1] = masked[1] = -np.inf
    values = np.array([[1, 2], [np.nan, np.inf], [3, 5]], np.float32)
    batch.check("attend({}, {})", [masked, values], [[2, 3.5], [0, 0]])
    return batch


def grouped(rng):
    batch = Batch("grouped", rtol=RTOL, atol=ATOL)
    for lead, heads, groups in [((), 4, 2), ((2,), 6, 2), ((1, 2), 3, 1), ((), 2, 2)]:
        q, k, v = tensors(rng, lead, heads, groups, 4, 5, 3, 2)
        names = [batch.input(a) for a in (q, k, v)]
        sinks, slopes = rng.normal(0, 2, (2, heads)).astype(np.float32)
        bias = rng.normal(0, 2, (heads, 4, 5)).astype(np.float32)
        bias[0, 1] = -np.inf
        bias[0, 2, :3] = -np.inf
        for options in OPTIONS if heads == 4 else OPTIONS[:4]:
            rest = written(options)
            batch.check(f"grouped_attention({{}}, {{}}, {{}}{rest})", names,
                        reference(q, k, v, **options))
            batch.check(f"grouped_attention_bias({{}}, {{}}, {{}}, {{}}{rest})", names + [bias],
                        reference(q, k, v, bias=bias, **options))
            batch.check(f"grouped_attention_sinks({{}}, {{}}, {{}}, {{}}{rest})", names + [sinks],
                        reference(q, k, v, sinks=sinks, **options))
            batch.check(f"grouped_attention_alibi({{}}, {{}}, {{}}, {{}}{rest})", names + [slopes],
                        reference(q, k, v, slopes=slopes, **{"causal": True, **options}))
        no_sink = np.full(heads, -np.inf, np.float32)
        batch.check("grouped_attention_sinks({}, {}, {}, {}, causal = true, offset = -3)",
                    names + [no_sink], reference(q, k, v, causal=True, offset=-3))
    for heads in (1, 8, 12):
        below = 2 ** int(np.log2(heads))
        first = [2 ** (-8 * (h + 1) / below) for h in range(below)]
        between = [2 ** (-8 * (h + 1) / (2 * below)) for h in range(2 * below)][::2]
        batch.check(f"alibi_slopes({heads})", [], first + between[:heads - below])
    return batch


def decoding(rng):
    batch = Batch("decoding", rtol=RTOL, atol=ATOL)
    for heads, groups, n_batch, page, n_pages, depth in [(4, 2, 3, 4, 2, 3), (1, 1, 4, 1, 5, 2),
                                                         (6, 3, 1, 3, 3, 1)]:
        room = page * n_pages
        lengths = np.array([room, 1, 0, room // 2 + 1][:n_batch], np.int32)
        q = rng.normal(size=(n_batch, heads, depth)).astype(np.float32)
        k, v = rng.normal(size=(2, n_batch, groups, room, depth)).astype(np.float32)
        for b in range(n_batch):  # what is not written yet must not be looked at
            k[b, :, lengths[b]:] = v[b, :, lengths[b]:] = np.nan
        # The same in pages, in a random order, with unused ones among them.
        pool = rng.permutation(n_batch * n_pages + 2).astype(np.int32)
        pages = pool[:n_batch * n_pages].reshape(n_batch, n_pages)
        in_pages = np.full((2, n_batch * n_pages + 2, page, groups, depth), np.nan, np.float32)
        for b in range(n_batch):
            for j in range(room):
                in_pages[0, pages[b, j // page], j % page] = k[b, :, j]
                in_pages[1, pages[b, j // page], j % page] = v[b, :, j]
        for b in range(n_batch):
            pages[b, -(-lengths[b] // page):] = -1
        for options in [{}, {"window": 2}, {"soft_cap": 1.0, "scale": 2.0}]:
            want = np.zeros(q.shape)
            for b in range(n_batch):
                n = lengths[b]
                want[b] = reference(q[b][:, None], k[b, :, :n], v[b, :, :n], **options)[:, 0]
            rest = written(options)
            batch.check(f"cached_attention({{}}, {{}}, {{}}, {{}}{rest})", [q, k, v, lengths], want)
            batch.check(f"paged_attention({{}}, {{}}, {{}}, {{}}, {{}}{rest})",
                        [q, in_pages[0], in_pages[1], pages, lengths], want)
    return batch


def batches(rng):
    yield plain(rng, False)
    yield plain(rng, True)
    yield grouped(rng)
    yield decoding(rng)
