"""infiniop_numbers.py - dtypes and operators of InfiniOp in exact or double arithmetic.

Nothing here knows the library: numbers are read and rounded bit by bit, operators are computed
with math and fractions.
"""
import math
import struct
from fractions import Fraction

INF, NAN = math.inf, math.nan

# name: (number, bytes, kind); a kind that is not i, u or f is only moved
DTYPES = {
    "BYTE": (1, 1, "x"), "BOOL": (2, 1, "b"), "I8": (3, 1, "i"), "I16": (4, 2, "i"),
    "I32": (5, 4, "i"), "I64": (6, 8, "i"), "U8": (7, 1, "u"), "U16": (8, 2, "u"),
    "U32": (9, 4, "u"), "U64": (10, 8, "u"), "F8": (11, 1, "x"), "F16": (12, 2, "f"),
    "F32": (13, 4, "f"), "F64": (14, 8, "f"), "C16": (15, 2, "x"), "C32": (16, 4, "x"),
    "C64": (17, 8, "x"), "C128": (18, 16, "x"), "BF16": (19, 2, "f"),
}
FLOATS = ["F16", "F32", "F64", "BF16"]
INTS = ["I8", "I16", "I32", "I64", "U8", "U16", "U32", "U64"]
# of a float: bits of the fraction, least exponent, largest exponent
FORMATS = {"F16": (10, -14, 15), "BF16": (7, -126, 127), "F32": (23, -126, 127),
           "F64": (52, -1022, 1023)}
NATIVE = {"F16": "<e", "F32": "<f"}


def rounded(dtype, x):
    """x (a float or a Fraction) to nearest even in dtype, as a float."""
    if isinstance(x, float):
        if dtype == "F64" or x == 0 or math.isnan(x) or math.isinf(x):
            return x
        if dtype in NATIVE:             # Python's own conversion is to nearest even, and quick
            try:
                return struct.unpack(NATIVE[dtype], struct.pack(NATIVE[dtype], x))[0]
            except OverflowError:
                return math.copysign(INF, x)
    if x == 0:
        return 0.0
    mant, low, high = FORMATS[dtype]
    top, bottom = (x if isinstance(x, float) else Fraction(x)).as_integer_ratio()
    exp = abs(top).bit_length() - bottom.bit_length()
    if bottom << max(exp, 0) > abs(top) << max(-exp, 0):    # 2^exp > |x|
        exp -= 1
    unit = max(exp, low) - mant         # x is rounded to a multiple of 2^unit
    r, rest = divmod(top << max(-unit, 0), bottom << max(unit, 0))
    r += 2 * rest > bottom << max(unit, 0) or (2 * rest == bottom << max(unit, 0) and r % 2)
    if abs(r).bit_length() + unit > high + 1:
        return INF if x > 0 else -INF
    if r == 0:
        return 0.0 if x > 0 else -0.0
    return math.ldexp(r, unit)


def encode(dtype, x):
    number, width, kind = DTYPES[dtype]
    if kind == "f":
        if dtype == "F64":
            return struct.pack("<d", x)
        bits = struct.pack("<f", x)
        return bits if dtype == "F32" else bits[2:] if dtype == "BF16" else struct.pack("<e", x)
    if kind in "xb":
        return bytes(x)
    return (int(x) % 2 ** (8 * width)).to_bytes(width, "little")


def decode(dtype, raw):
    kind = DTYPES[dtype][2]
    if kind == "f":
        if dtype == "BF16":
            return struct.unpack("<f", b"\0\0" + raw)[0]
        return struct.unpack({"F16": "<e", "F32": "<f", "F64": "<d"}[dtype], raw)[0]
    if kind in "xb":
        return raw
    return int.from_bytes(raw, "little", signed=kind == "i")


def wrapped(dtype, i):
    return decode(dtype, encode(dtype, i))


def ulp(dtype, x):
    mant, low, high = FORMATS[dtype]
    exp = low if x == 0 or math.isinf(x) else max(math.frexp(x)[1] - 1, low)
    return math.ldexp(1, min(exp, high) - mant)


def near(dtype, got, want, ulps):
    """got is want rounded, or ulps away from want; ulps 0 is the very number, sign of 0 too."""
    if math.isnan(got) or (isinstance(want, float) and math.isnan(want)):
        return math.isnan(got) and isinstance(want, float) and math.isnan(want)
    best = rounded(dtype, want)
    if got == best and (ulps or math.copysign(1, got) == math.copysign(1, best)):
        return True
    if not ulps or math.isinf(got) or math.isinf(best):
        return False
    small = {"F32": 1e-8, "F64": 5e-16}.get(dtype, 0)   # where a difference crosses 0
    return abs(got - best) <= ulps * ulp(dtype, best) + small


# ---- functions of one number ----

def exp(x):
    return INF if x > 709 else math.exp(x)


def sigmoid(x):
    return 1 / (1 + exp(-x)) if x >= 0 else exp(x) / (1 + exp(x))


def defined(f):
    """f, NaN where it has no value."""
    def g(*v):
        try:
            return f(*v)
        except (ValueError, ZeroDivisionError):
            return NAN
        except OverflowError:
            return math.copysign(INF, v[0])
    return g


def tanhshrink(x):
    if abs(x) > 1 or x == 0 or x != x:
        return x - math.tanh(x)
    e = term = Fraction(1)              # exp(2x), far beyond the last digit
    for k in range(1, 40):
        term = term * 2 * Fraction(x) / k
        e += term
    return Fraction(x) - (e - 1) / (e + 1)


def erfinv(x):
    if abs(x) > 1 or math.isnan(x):
        return NAN
    if abs(x) == 1:
        return math.copysign(INF, x)
    a, low, high = abs(x), 0.0, 6.0
    for _ in range(200):
        mid = (low + high) / 2
        below = math.erf(mid) < a if a < 0.9 else math.erfc(mid) > 1 - a
        low, high = (mid, high) if below else (low, mid)
    return math.copysign(high if x else 0.0, x)


def digamma(x):
    if x != x:
        return NAN
    if x == 0:
        return math.copysign(INF, -x)
    if math.isinf(x):
        return x if x > 0 else NAN
    if x < 0 and x == math.floor(x):
        return NAN
    at, terms = Fraction(x), []         # upwards, past the poles, to where the series holds
    while at < 20:
        terms.append(float(-1 / at))
        at += 1
    x = float(at)
    s = 1 / (x * x)
    tail = s * (1 / 12 - s * (1 / 120 - s * (1 / 252 - s * (1 / 240 - s * (1 / 132)))))
    return math.fsum(terms + [math.log(x), -0.5 / x, -tail])


def clamp(x, low, high):
    return x if math.isnan(x) else min(max(x, low), high)


def floor(x):
    return x if math.isinf(x) or math.isnan(x) or x == 0 else math.copysign(
        float(math.floor(x)), x)


ALPHA, SCALE = 1.6732632423543772848170429916717, 1.0507009873554804934193349852946

# name: (function, ulps in F32, where inputs are drawn); 0 ulps is correctly rounded
UNARY = {
    "Relu": (lambda x: x if x > 0 or x != x else 0.0, 0, (-9, 9)),
    "Relu6": (lambda x: clamp(x, 0.0, 6.0), 0, (-9, 9)),
    "Gelu": (lambda x: x if x == INF else -0.0 if x == -INF else
             0.5 * x * math.erfc(-x / math.sqrt(2)), 3, (-4, 4)),
    "GeluTanh": (lambda x: x if x == INF else -0.0 if x == -INF else
                 x * sigmoid(2 * math.sqrt(2 / math.pi) * (x + 0.044715 * x * x * x)),
                 3, (-3, 4)),
    "QuickGelu": (lambda x: -0.0 if x == -INF else x * sigmoid(1.702 * x), 3, (-6, 6)),
    "Silu": (lambda x: -0.0 if x == -INF else x * sigmoid(x), 1.5, (-8, 8)),
    "Sigmoid": (sigmoid, 1.5, (-8, 8)),
    "Tanh": (math.tanh, 2, (-5, 5)),
    "Tanhshrink": (tanhshrink, 3, (-4, 4)),
    "Tan": (defined(math.tan), 2, (-1.5, 1.5)),
    "Sinh": (defined(math.sinh), 2, (-9, 9)),
    "Acos": (defined(math.acos), 2, (-1, 1)),
    "Asin": (defined(math.asin), 2, (-1, 1)),
    "Asinh": (math.asinh, 2, (-9, 9)),
    "Atanh": (lambda x: math.copysign(INF, x) if abs(x) == 1 else defined(math.atanh)(x), 2,
              (-0.99, 0.99)),
    "Erf": (math.erf, 2, (-3, 3)),
    "Erfc": (math.erfc, 2, (-3, 3)),
    "Erfinv": (erfinv, 3, (-0.99, 0.99)),
    "Log10": (lambda x: -INF if x == 0 else defined(math.log10)(x), 2, (0.01, 50)),
    "Log1p": (lambda x: -INF if x == -1 else defined(math.log1p)(x), 2, (-0.9, 20)),
    "Reciprocal": (lambda x: math.copysign(INF, x) if x == 0 else 1 / x if math.isinf(x) or x != x
                   else 1 / Fraction(x), 0, (-9, 9)),
    "HardSwish": (lambda x: x if x == INF else -0.0 if x == -INF else
                  x * clamp(x + 3, 0.0, 6.0) / 6, 1.5, (-5, 5)),
    "Selu": (lambda x: SCALE * (x if x > 0 else ALPHA * math.expm1(x)), 2, (-6, 6)),
    "Digamma": (digamma, 3, (-4.6, 9)),
    "Softsign": (lambda x: math.copysign(1.0, x) if math.isinf(x) else x / (1 + abs(x)), 1.5,
                 (-9, 9)),
    "Floor": (floor, 0, (-9, 9)),
}


# ---- functions of two ----

def exactly(f):
    """f in fractions; where a source is no number, in floats."""
    def g(a, b):
        if math.isfinite(a) and math.isfinite(b):
            r = f(Fraction(a), Fraction(b))
            return f(a, b) if r == 0 else r
        return f(a, b)
    return g


def product(a, b):
    if isinstance(a, float) and (math.isinf(a) or math.isinf(b)) and (a == 0 or b == 0):
        return NAN
    return a * b


def log_sum(a, b, base):
    if a != a or b != b:
        return NAN
    if abs(max(a, b)) == INF:
        return max(a, b)
    d = -abs(a - b)
    return max(a, b) + (math.log1p(exp(d)) if base else math.log1p(2.0 ** d) / math.log(2))


def floor_divide(a, b):
    if a != a or b != b or math.isinf(a) or b == 0:
        return NAN if a != a or b != b or (a == 0 and b == 0) or (math.isinf(a) and b != 0) \
            else math.copysign(INF, a) * math.copysign(1, b)
    if math.isinf(b):
        return -1.0 if a and (a < 0) != (b < 0) else math.copysign(0.0, a) * math.copysign(1, b)
    q = math.floor(Fraction(a) / Fraction(b))
    return Fraction(q) if q else math.copysign(0.0, math.copysign(1, a) * math.copysign(1, b))


def fmin(a, b):
    return b if a != a else a if b != b else min(a, b)


def quotient(a, b):
    return 0 if b == 0 else a // b


def swiglu(a, b):
    return product(a, -0.0 if b == -INF else b * sigmoid(b))


BINARY = {
    "Add": (exactly(lambda a, b: a + b), 0, (-9, 9)),
    "Sub": (exactly(lambda a, b: a - b), 0, (-9, 9)),
    "Mul": (exactly(product), 0, (-9, 9)),
    "SwiGLU": (swiglu, 2, (-6, 6)),
    "Fmod": (defined(lambda a, b: math.fmod(a, b)), 0, (-9, 9)),
    "Hypot": (math.hypot, 2, (-9, 9)),
    "LogAddExp": (lambda a, b: log_sum(a, b, True), 2, (-6, 6)),
    "LogAddExp2": (lambda a, b: log_sum(a, b, False), 2, (-6, 6)),
    "FloorDivide": (floor_divide, 0, (-9, 9)),
    "Fmin": (fmin, 0, (-9, 9)),
    "Prelu": (lambda x, w: x if x > 0 else exactly(product)(x, w), 0, (-9, 9)),
}
INT_BINARY = {"Add": lambda a, b: a + b, "FloorDivide": quotient, "Fmin": min}


def shifted(a, n, width):
    return a >> n if 0 <= n < width else -1 if a < 0 else 0
