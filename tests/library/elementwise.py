# Activations, losses of elements, random bits.
import math

import numpy as np

from batch import Batch

erf = np.vectorize(math.erf, otypes=[float])


def sigmoid(x):
    with np.errstate(over="ignore"):
        return 1 / (1 + np.exp(-x))


def gelu(x):
    return x * 0.5 * (1 + erf(x / math.sqrt(2)))


def softplus(x):
    return np.logaddexp(0, x)


ACTIVATIONS = {
    "relu": lambda x: np.where(x > 0, x, 0),
    "leaky_relu": lambda x: np.where(x > 0, x, 0.01 * x),
    "elu": lambda x: np.where(x > 0, x, np.expm1(np.minimum(x, 0))),
    "softplus": softplus,
    "gelu": gelu,
    "gelu_tanh": lambda x: x / 2 * (1 + np.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * x**3))),
    "silu": lambda x: x * sigmoid(x),
    "mish": lambda x: x * np.tanh(softplus(x)),
    "hard_sigmoid": lambda x: np.clip(x / 6 + 0.5, 0, 1),
    "hard_swish": lambda x: x * np.clip(x / 6 + 0.5, 0, 1),
}


def activations(rng):
    x = np.concatenate([rng.normal(0, 3, 40), [0, -0.0, 30, -30, 90, -90]]).astype(np.float32)
    other = rng.normal(0, 2, x.size).astype(np.float32)
    wide, other_wide = x.astype(np.float64), other.astype(np.float64)
    batch = Batch("activations")
    name, second = batch.input(x), batch.input(other)
    for function, reference in ACTIVATIONS.items():
        batch.check(function + "({}[i])", [name], reference(wide), points="[i]")
    batch.check("leaky_relu({}[i], 0.2)", [name], np.where(wide > 0, wide, 0.2 * wide),
                points="[i]")
    batch.check("elu({}[i], alpha = 2.0)", [name],
                np.where(wide > 0, wide, 2 * np.expm1(np.minimum(wide, 0))), points="[i]")
    batch.check("swiglu({}[i], {}[i])", [name, second], wide * sigmoid(wide) * other_wide,
                points="[i]")
    batch.check("geglu({}[i], {}[i])", [name, second], gelu(wide) * other_wide, points="[i]")
    batch.check("squared_error({}[i], {}[i])", [name, second], (wide - other_wide)**2, points="[i]")
    e = np.abs(wide - other_wide)
    batch.check("huber({}[i], {}[i])", [name, second], np.where(e <= 1, e * e / 2, e - 0.5),
                points="[i]")
    batch.check("huber({}[i], {}[i], delta = 2.5)", [name, second],
                np.where(e <= 2.5, e * e / 2, 2.5 * (e - 1.25)), points="[i]")
    t = (other > 0).astype(np.float32)
    batch.check("binary_cross_entropy({}[i], {}[i])", [name, t],
                np.logaddexp(0, wide) - wide * t, points="[i]")
    return batch


# ---- Philox4x32-10, in Python's integers --------------------------------------------------------

MASK = 0xFFFFFFFF


def philox(counter, key):
    a, b, c, d = (int(word) & MASK for word in counter)
    k, l = (int(word) & MASK for word in key)
    for _ in range(10):
        first, second = 0xD2511F53 * a, 0xCD9E8D57 * c
        a, b, c, d = (second >> 32) ^ b ^ k, second & MASK, (first >> 32) ^ d ^ l, first & MASK
        k, l = (k + 0x9E3779B9) & MASK, (l + 0xBB67AE85) & MASK
    return a, b, c, d


# The published answers of the reference implementation, Random123's kat_vectors.
KNOWN = [((0, 0, 0, 0), (0, 0), 0x6627E8D5),
         ((MASK, MASK, MASK, MASK), (MASK, MASK), 0x408F276D),
         ((0x243F6A88, 0x85A308D3, 0x13198A2E, 0x03707344), (0xA4093822, 0x299F31D0), 0xD16CFE09)]


def signed(words):
    return np.array(words, np.uint32).astype(np.int32)


def random_numbers(rng):
    for counter, key, word in KNOWN:
        assert philox(counter, key)[0] == word
    batch = Batch("random", rtol=1e-5, atol=1e-6)
    counters = np.array([c for c, _, _ in KNOWN], np.uint32).astype(np.int32)
    keys = np.array([k for _, k, _ in KNOWN], np.uint32).astype(np.int32)
    batch.check("random_bits({1}[i, 0], {0}[i, 0], {0}[i, 1], {0}[i, 2], {0}[i, 3], {1}[i, 1])",
                [counters, keys], signed([word for _, _, word in KNOWN]), points="[i]")
    batch.check("random_bits(5, i, j)", [],
                [[signed([philox((i, j, 0, 0), (5, 0))[0]])[0] for j in range(3)]
                 for i in range(4)], points="[i: 4, j: 3]")
    unit = np.array([(philox((i, 0, 0, 0), (9, 0))[0] >> 8) / 2**24 for i in range(50)])
    batch.check("uniform(9, i)", [], unit, points="[i: 50]")
    second = np.array([(philox((i, 0, 0, 0), (9, 1))[0] >> 8) / 2**24 for i in range(50)])
    batch.check("normal(9, i)", [],
                np.sqrt(-2 * np.log(unit + 2.0**-24)) * np.cos(2 * np.pi * second),
                points="[i: 50]")
    x = rng.normal(size=50).astype(np.float32)
    batch.check("dropout({}[i], 0.25, 9, i)", [x], np.where(unit < 0.25, 0, x / 0.75), points="[i]")
    batch.check("dropout({}[i], 0.0, 9, i)", [x], x, points="[i]")
    batch.check("dropout({}[i], 1.0, 9, i)", [x], 0 * x, points="[i]")
    return batch


def batches(rng):
    yield activations(rng)
    yield random_numbers(rng)
