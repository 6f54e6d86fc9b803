"""Addresses that nobody should write, from a fixed seed, and a second reader of them."""

from __future__ import annotations

import math
import random
import re
from dataclasses import dataclass

LETTERS = "ABCDEFGHI"
NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", re.ASCII)
SEED = 1_000_000_000

NO_NUMBERS = """
NaN nan Infinity -Infinity ∞ 1e999 -1e999 0x10 0b1 0o7 1_000 1,5 ½ ٣ １６ % %ZZ %30 %E2%88 Vit
true null undefined [] {} 1e e5 . + --1 1.2.3 = 0.3=4 __proto__ toString
"""
NUMBERS = """
-0 +0 0 00 1 01 1. .5 -1 0.5 1.5 2 3 4 5 6 7 8 9 10 11 15 16 17 20 21 40 41 64 65 100 101 195 196 197 198 396
500 501 1000 1001 5000 5001 19110 19111 20000 20001 100000 100001 1e9 1000000001 1e15 1e16 1e300 -1e300
1.7976931348623157e308 5e-324 1e-300 1e-9 0.1 0.9 1.0000001 -1e-9 9007199254740993 -10.001 10.001 1E0
"""
#: What no number is written as, and no text.
JUNK = [
    *NO_NUMBERS.split(),
    *["", " ", "\0", "\n1", "\u200b1", "hinge ", "<img src=x onerror=alert(1)>", "٣" * 36, "😀" * 50],
    *["9" * 5000, "1" + "0" * 400, "A" * 20_000, "1." * 20_000],
]
#: What is a number, and often none that can be taken.
EDGES = [*NUMBERS.split(), "0." + "0" * 3000 + "1", "0" * 3000 + "1"]
NO_KEYS = "__proto__ constructor toString Q0 d0 %44 β gone2"
UNKNOWN = ["", " ", *NO_KEYS.split(), "😀" * 60, "x" * 5000]


@dataclass
class Rule:
    """What a state must satisfy once the rules before hold, and words of the sentence where it does not."""

    holds: object
    words: str


def whole(key: str, least: int, most: float = math.inf) -> Rule:
    return Rule(lambda s: s[key].is_integer() and least <= s[key] <= most, f"{key} must be a whole number")


def between(key: str, least: float = -math.inf, most: float = math.inf, named: str = "") -> Rule:
    return Rule(lambda s: least <= s[key] <= most, f"{named or key} must be a finite number")


def atoms(D: float, C: float, q: float) -> int:
    """Ways to give L - 1 random sets a type (n, r), order aside."""
    D, C = int(D), int(C)
    types = 1 if q == 0 else C + 1 if q == 1 else math.comb(C + 2, 2)
    return math.comb(D // C - 2 + types, D // C - 1)


def majority(s: dict) -> tuple[int, int]:
    """Tokens of the two kinds among twenty, as JavaScript rounds."""
    return math.floor(20 * s["relevant"] + 0.5), math.floor(20 * s["confusion"] + 0.5)


def taken(s: dict) -> list[int]:
    return [int(k) for k in s["gone"].split(".") if k]


seed = whole("seed", 0, SEED)
equal_sets = Rule(lambda s: s["D"] % s["C"] == 0, "does not divide D")
law = [
    whole("D", 1, 1000),
    whole("C", 1),
    equal_sets,
    between("q", 0, 1),
    Rule(lambda s: s.get("degree", 3) >= 3 and s.get("degree", 3) % 1 == 0, "degree must be a whole number"),
    Rule(lambda s: s.get("degree", 3) in (3, 5, 7, 9), "degree must be 3, 5, 7 or 9"),
    Rule(lambda s: s.get("linear", 0) >= 0, "linear must be a finite number"),
    Rule(lambda s: atoms(s["D"], s["C"], s["q"]) <= 20_000, "Choose fewer patches"),
]  # fmt: skip

RULES: dict[str, list[Rule]] = {
    "counting": [whole("D", 2, 1000), whole("C", 1), equal_sets, between("q", 0, 1), seed],
    "paint": [
        Rule(lambda s: all(s["sets"].count(one) == 4 for one in LETTERS), "nine sets must have 4 patches"),
        between("q", 0, 1),
        seed,
    ],
    "descent": [
        *law,
        between("diagonal", -1000, 1000, "The diagonal"),
        between("alpha", -1000, 1000),
        between("rate", 0),
        between("score_rate", 0),
        whole("steps", 0),
        Rule(lambda s: s["steps"] <= 100_000, "A page can take 100,000 steps"),
    ],
    "valleys": [
        Rule(lambda s: s["D"] <= 16, "D must be at most 16"),
        law[0], law[1], law[2], law[3],
        Rule(lambda s: 1 < s["C"] < s["D"], "C must be from 2 to half of D"),
        between("diagonal", -10, 10),
        between("gamma", -3, 3),
        between("rho", -3, 3),
        Rule(lambda s: s["q"] > 0, "q must be above 0"),
    ],
    "shuffle": [
        whole("piece", 0),
        whole("together", 0),
        whole("links", 1),
        Rule(lambda s: s["links"] <= 196 * 195 // 2, "links must be at most 19,110"),
        Rule(lambda s: s["piece"] <= 196, "There are 196 pieces; piece"),
        Rule(lambda s: s["together"] <= 100, "together goes from 0, the heap, to 100"),
        seed,
    ],
    "look": [
        whole("steps", 1, 5000),
        whole("neurons", 1, 500),
        seed,
        whole("patterns", 3),
        between("relevant", 0, 1),
        between("confusion", 0, 1),
        between("rate", 0, 10),
        Rule(lambda s: abs(s["label"]) == 1, "The label is 1 or -1"),
        Rule(lambda s: s["patterns"] <= 10, "The patterns are basis vectors"),
        Rule(lambda s: majority(s)[1] < majority(s)[0], "α* (relevant) must give more tokens"),
        Rule(lambda s: sum(majority(s)) <= 20, "an input has only 20"),
        Rule(lambda s: all(1 <= k <= 20 for k in taken(s)), "tokens 1 to 20; gone names others"),
        Rule(lambda s: len(set(taken(s))) == len(taken(s)), "gone must name each token once"),
        Rule(lambda s: len(taken(s)) < 20, "gone names all tokens 1 to 20"),
    ],
    "epochs": [
        whole("patch", 1),
        whole("epoch", 0),
        Rule(lambda s: s["patch"] <= 64, "There are 64 patches; patch"),
        Rule(lambda s: s["epoch"] <= 40, "The record has 40 epochs; epoch"),
    ],
}  # fmt: skip

#: The fields that are texts: their form, and what the page calls it.
TEXTS = {
    "sets": (r"[A-I]{36}", "row of 36 letters from A to I"),
    "encodings": (r"vit|deit", "network: vit or deit"),
    "loss": (r"hinge|logistic", "loss: hinge or logistic"),
    "removed": (r"after|before", "moment: after or before"),
    "gone": (r"(\d{1,2}(\.\d{1,2})*)?", "list of tokens such as 3.5.7"),
}


def expected(name: str, defaults: dict, address: str) -> dict | str:
    """The state that an address names, or words of the sentence with which it must be refused."""
    state = {key: value if key in TEXTS else float(value) for key, value in defaults.items()}
    given = set()
    for part in filter(None, address.removeprefix("#").split("&")):
        key, _, text = part.partition("=")
        if key not in state:
            return f"The address names “{key[:40]}”; known are {', '.join(state)}."
        if key in given:
            return f"The address gives {key} twice"
        given.add(key)
        pattern, what = TEXTS.get(key, (NUMBER, "number"))
        fits = re.fullmatch(pattern, text, re.ASCII) if key in TEXTS else NUMBER.fullmatch(text)
        if not fits or (key not in TEXTS and not math.isfinite(float(text))):
            return f"The address gives {key} as “{text[:40]}”, which is no {what}."
        state[key] = text if key in TEXTS else float(text)
    return next((rule.words for rule in RULES[name] if not rule.holds(state)), state)


def sound(name: str, rng: random.Random) -> dict[str, str]:
    """A setting within the rules, as texts."""
    D, C = rng.choice([(8, 2), (12, 3), (12, 4), (16, 4), (16, 8), (10, 5)])
    a = rng.randint(4, 12)
    setting = {
        "D": D,
        "C": C,
        "N": rng.randint(1, 20_000),
        "q": rng.choice([1, rng.uniform(0.01, 1), rng.random()]),
        "seed": rng.choice([0, 1, rng.randrange(SEED)]),
        "steps": rng.randint(1, 5000),
        "degree": rng.choice([3, 5, 7, 9]),
        "linear": 10 ** rng.uniform(-9, 2),
        "alpha": rng.gauss(0, 1),
        "diagonal": rng.uniform(-10, 10),
        "rate": 10 ** rng.uniform(-9, 1),
        "score_rate": 10 ** rng.uniform(-9, 3),
        "gamma": rng.uniform(-3, 3),
        "rho": rng.uniform(-3, 3),
        "sets": "".join(rng.sample(LETTERS * 4, 36)),
        "encodings": rng.choice(["vit", "deit"]),
        "links": rng.randint(1, 19110),
        "piece": rng.randint(0, 196),
        "together": rng.randint(0, 100),
        "relevant": a / 20,
        "confusion": rng.randint(0, a - 1) / 20,
        "patterns": rng.randint(3, 10),
        "loss": rng.choice(["hinge", "logistic"]),
        "removed": rng.choice(["after", "before"]),
        "label": rng.choice([1, -1]),
        "neurons": rng.randint(1, 500),
        "gone": ".".join(map(str, rng.sample(range(1, 21), rng.randint(0, 19)))),
        "patch": rng.randint(1, 64),
        "epoch": rng.randint(0, 40),
    }
    return {key: str(value) for key, value in setting.items()}


def bent(text: str, key: str, rng: random.Random) -> str:
    """Another value: a number at an edge or of any size, no number, or a text with something wrong in it."""
    if key == "gone" and rng.random() < 0.7:
        return (
            ".".join(str(rng.randint(0, 22)) for _ in range(rng.randint(1, 4)))
            if rng.random() < 0.8
            else ".".join(str(k + 1) for k in rng.sample(range(20), 20))
        )
    if key == "sets" and rng.random() < 0.7:
        return "".join(
            rng.choices(LETTERS + rng.choice(["", "J", "a", "Α"]), k=rng.choice([36, 36, 36, 35, 37]))
        )
    way = rng.random()
    if way < 0.5:
        return rng.choice(EDGES)
    if way < 0.65:
        return repr(rng.choice([1, 1, -1]) * 10 ** rng.uniform(-320, 308))
    if way < 0.9:
        return rng.choice(JUNK)
    at = rng.randrange(len(text) + 1)
    return text[:at] + rng.choice("0%e.-+ AI&=#é") + text[at + rng.randint(0, 1) :]


def addresses(name: str, keys: list[str], count: int) -> list[str]:
    """So many addresses of an explorable: sound ones, and with a value, a key or a letter that is wrong."""
    rng = random.Random(f"addresses of {name}")
    found = []
    for _ in range(count):
        setting = sound(name, rng)
        parts = [[key, setting[key]] for key in keys if rng.random() < 0.8]
        for _ in range(rng.choice([0, 1, 1, 1, 2])):
            if parts and rng.random() < 0.85:
                part = rng.choice(parts)
                part[1] = bent(part[1], part[0], rng)
        way = rng.random()
        if way < 0.06 and parts:
            parts.append(list(rng.choice(parts)))
        elif way < 0.1:
            parts.insert(rng.randint(0, len(parts)), [rng.choice(UNKNOWN), "1"])
        elif way < 0.14:
            rng.shuffle(parts)
        address = rng.choice(["#", "#", "#", "", "#&"]) + "&".join("=".join(part) for part in parts)
        if rng.random() < 0.1:
            at = rng.randrange(len(address) + 1)
            address = (
                address[:at]
                + rng.choice(["&&", "=", "%", "#", "&", "\u202e", "?", "0"])
                + address[at + rng.randint(0, 3) :]
            )
        found.append(address)
    return found
