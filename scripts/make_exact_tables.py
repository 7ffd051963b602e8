#!/usr/bin/env python3
"""Prints src/core/exact_tables.h: the constants of src/core/exact_math.cc and its neighbours, rounded from 1500 bits.

    scripts/make_exact_tables.py > src/core/exact_tables.h

Needs mpmath.
"""

from mpmath import cos, erfc, exp, floor, ldexp, log, mp, mpf, pi, sin, sqrt

mp.prec = 1500
HIGH_BITS = 26  # a number of so few bits times another has an exact product


def rounded(x, bits):
    """x to `bits` significant bits, to nearest."""
    if x == 0:
        return mpf(0)
    mantissa, exponent = mp.frexp(x)
    return ldexp(mp.nint(ldexp(mantissa, bits)), exponent - bits)


def number(x):
    return float(x).hex().replace("0000000000000p", "p").replace("0x0.0p+0", "0")


def trimmed(text):
    """Hexadecimal digits without zeros at their end."""
    if "p" not in text:
        return text
    digits, exponent = text.split("p")
    if "." in digits:
        digits = digits.rstrip("0").rstrip(".")
    return digits + "p" + exponent


def parts(x, *bits):
    """x as a sum of numbers of so many bits, and one of 53."""
    found = []
    for count in (*bits, 53):
        part = rounded(x - sum(found), count)
        found.append(part)
    return [trimmed(number(part)) for part in found]


def table(kind, name, comment, rows):
    print(f"// {comment}")
    print(f"inline constexpr {kind} {name}[] = {{")
    print(wrapped(["{" + ", ".join(row) + "}" for row in rows], "    "))
    print("};\n")


def wrapped(values, indent):
    lines, line = [], indent
    for value in values:
        if len(line) + len(value) + 2 > 118:
            lines.append(line.rstrip())
            line = indent
        line += value + ", "
    lines.append(line.rstrip())
    return "\n".join(lines)


def powers():
    table("TwoParts", "kPowers", "2^(i / 128).", [parts(mpf(2) ** (mpf(i) / 128), HIGH_BITS) for i in range(128)])


def logarithms():
    rows = []
    for i in range(129):
        inverse = rounded(1 / (1 + mpf(i) / 128), 20)
        carried = i >= 54  # the number counts as half of it, times 2
        value = -log(inverse) - (log(2) if carried else 0)
        high = rounded(value, 53)
        rows.append([trimmed(number(inverse)), trimmed(number(high)), trimmed(number(value - high))])
    table("Reciprocal", "kReciprocals", "1 / (1 + i / 128) in 20 bits, and minus its log; from i = 54 on that log minus "
          "log 2.", rows)


def sines():
    rows = [parts(sin(mpf(i) / 32), HIGH_BITS) + parts(cos(mpf(i) / 32), HIGH_BITS) for i in range(27)]
    table("SineCosine", "kSines", "Sine and cosine of i / 32.", rows)


def two_over_pi():
    words = [int(floor(ldexp(2 / pi, 32 * (i + 1)))) & 0xFFFFFFFF for i in range(40)]
    print("// The bits of 2 / pi, 32 a word.")
    print("inline constexpr std::uint32_t kTwoOverPi[] = {")
    print(wrapped([f"0x{word:08X}" for word in words], "    "))
    print("};\n")


DEGREE = 13


def interpolated(function, centre, half, degree):
    """The coefficients in x - centre of the polynomial through a function at Chebyshev's nodes."""
    count = degree + 1
    nodes = [half * cos(pi * (2 * n + 1) / (2 * count)) for n in range(count)]
    divided = [function(centre + node) for node in nodes]
    for order in range(1, count):
        for n in range(count - 1, order - 1, -1):
            divided[n] = (divided[n] - divided[n - 1]) / (nodes[n] - nodes[n - order])
    coefficients = [mpf(0)] * count
    for n in range(count - 1, -1, -1):  # Horner over Newton's form
        for power in range(count - 1, 0, -1):
            coefficients[power] = coefficients[power - 1] - nodes[n] * coefficients[power]
        coefficients[0] = divided[n] - nodes[n] * coefficients[0]
    return coefficients


def erfc_pieces():
    pieces = [(mpf(i) / 8, mpf(i + 1) / 8) for i in range(8)]
    for octave in range(5):
        width = mpf(2) ** octave / 8
        pieces += [(2**octave + i * width, 2**octave + (i + 1) * width) for i in range(8)]
    rows = []
    for begin, end in pieces[:46]:
        centre, half = (begin + end) / 2, (end - begin) / 2
        coefficients = interpolated(lambda x: exp(x * x) * erfc(x), centre, half, DEGREE)
        first = rounded(coefficients[0], 53)
        rest = [coefficients[0] - first, *coefficients[1:]]
        rows.append([trimmed(number(centre)), trimmed(number(first)),
                     "{" + ", ".join(trimmed(number(c)) for c in rest) + "}"])
    print("// exp(x^2) erfc(x) between i / 8 and (i + 1) / 8 up to 1, then in eight pieces an octave.")
    print("inline constexpr ErfcPiece kErfcPieces[] = {")
    for centre, first, rest in rows:
        print(f"    {{{centre}, {first},")
        print(wrapped(rest[1:-1].split(", "), "      ").replace("      ", "     {", 1).rstrip(",") + "}},")
    print("};\n")


def erf_terms():
    terms = [2 / sqrt(pi) * (-1) ** n / (mp.factorial(n) * (2 * n + 1)) for n in range(12)]
    print("// erf(x) / x in powers of x^2 behind the constant, which is in two parts.")
    print("inline constexpr TwoParts kErfFirst = {" + ", ".join(parts(terms[0], HIGH_BITS)) + "};")
    print("inline constexpr double kErfTerms[] = {")
    print(wrapped([trimmed(number(term)) for term in terms[1:]], "    "))
    print("};\n")


def constants():
    step = log(2) / 128
    for name, value, bits in (("kLogTwo", log(2), [42]), ("kExpStep", step, [35]),
                              ("kHalfPi", pi / 2, [33, 33, 33]), ("kHalfPiSum", pi / 2, [53])):
        values = parts(value, *bits)
        print(f"inline constexpr double {name}[] = {{" + ", ".join(values) + "};")
    print(f"inline constexpr double kStepsPerUnit = {trimmed(number(128 / log(2)))};")
    print(f"inline constexpr double kTwoOverPiRounded = {trimmed(number(2 / pi))};")
    print()


print("""// Printed by scripts/make_exact_tables.py: change that.
#pragma once

#include <cstdint>

// clang-format off
// NOLINTBEGIN(modernize-use-std-numbers)

namespace qkv::core::exact {

/// A number as a sum; `high` has 26 bits, so that its product with another such is exact.
struct TwoParts {
  double high;
  double low;
};

struct Reciprocal {
  double inverse;
  double log_high;
  double log_low;
};

struct SineCosine {
  double sin_high;
  double sin_low;
  double cos_high;
  double cos_low;
};

/// first + rest[0] + u (rest[1] + u (rest[2] + ...)) with u = x - centre.
struct ErfcPiece {
  double centre;
  double first;
  double rest[%d];
};
""" % (DEGREE + 1))
print("// log 2, log 2 / 128 and pi / 2, each as a sum: whole numbers times the short parts are exact.")
constants()
powers()
logarithms()
sines()
two_over_pi()
erfc_pieces()
erf_terms()
print("}  // namespace qkv::core::exact\n// NOLINTEND(modernize-use-std-numbers)")
