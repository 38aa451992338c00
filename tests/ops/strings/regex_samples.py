"""Random regular expressions with texts for them, and what an engine makes of them."""

import hashlib
import random

CHARACTERS = ["a", "b", "c", "B", "0", "7", "_", " ", "-", ".", "é", "ß", "K", "日", "😀", "\n", "\t"]
STRAY = [b"\xff", b"\x80", b"\xc3", b"\xe2\x82", b"\xed\xa0\x80", b"\xf4\x90\x80\x80", b"\xe0\x80\x80", b"\x00"]
ATOMS = [
    ".", r"\d", r"\D", r"\w", r"\W", r"\s", r"\S", r"\pL", r"\PL", r"\pN", r"\p{Lu}", r"\p{^Greek}", r"\p{Han}",
    "[ab]", "[^ab]", "[a-c0-9]", "[^\\n]", "[[:alpha:]]", "[[:^digit:]]", r"[\w-]", r"[^\s]", "[éß-日]", r"[\pN_]",
    "[]a]", r"\x61", r"\x{e9}", r"\.", r"\-", r"\Qa.b\E", r"\n", r"\t", "[^a-z]",
]  # fmt: skip
PLACES = ["^", "$", r"\b", r"\B", r"\A", r"\z"]
REPEATS = ["*", "+", "?", "*?", "+?", "??", "{2}", "{1,3}", "{0,2}?", "{2,}", "{0}", "{1,2}"]
FLAGS = ["i", "s", "m", "U", "-s", "im", "i-s", "sU"]
REWRITES = [r"<\0>", r"[\1]", r"", r"x", r"\0\0", r"(\2|\1)", r"é"]


class Generator:
    """Random patterns.

    Args:
        seed: of the random numbers.
    """

    def __init__(self, seed):
        self.rng = random.Random(seed)

    def pattern(self, depth=3):
        """A pattern; one of twenty is spoilt, and most of these are none."""
        text = self._either(depth)
        if self.rng.random() < 0.05:
            at = self.rng.randrange(len(text) + 1)
            text = text[:at] + self.rng.choice("()[]{}*+?|\\^$-.:<>P,1") + text[at + self.rng.randrange(2) :]
        return text

    def _either(self, depth):
        count = self.rng.choice([1, 1, 1, 2, 2, 3])
        return "|".join(self._sequence(depth) for _ in range(count))

    def _sequence(self, depth):
        return "".join(self._item(depth) for _ in range(self.rng.choice([0, 1, 1, 2, 2, 3, 4])))

    def _item(self, depth):
        rng, chance = self.rng, self.rng.random()
        if depth and chance < 0.3:
            atom = self._group(depth - 1)
        elif chance < 0.38:
            return rng.choice(PLACES)
        elif chance < 0.4:
            atom = r"\C"
        elif chance < 0.65:
            atom = rng.choice(ATOMS)
        else:
            atom = rng.choice(CHARACTERS)
            atom = "\\" + atom if atom in "-." else atom
        return atom + rng.choice(REPEATS) if rng.random() < 0.4 else atom

    def _group(self, depth):
        kind = self.rng.random()
        begin = "(" if kind < 0.6 else "(?:" if kind < 0.85 else f"(?{self.rng.choice(FLAGS)}:"
        return f"{begin}{self._either(depth)})"

    def text(self):
        """A text: mostly of a few characters, sometimes with bytes that are none, rarely long."""
        rng = self.rng
        length = rng.choice([0, 1, 2, 3, 5, 8, 13, 20]) if rng.random() < 0.97 else rng.randrange(60, 400)
        few = [character.encode() for character in rng.sample(CHARACTERS, rng.choice([2, 3, 5]))]
        if rng.random() < 0.15:
            few += rng.sample(STRAY, 2)
        return b"".join(rng.choice(few) for _ in range(length))


def samples(seed, count, texts=5):
    """So many (pattern, texts, rewrite), as bytes."""
    generator = Generator(seed)
    for _ in range(count):
        pattern = generator.pattern()
        yield (
            pattern.encode(), [generator.text() for _ in range(texts)], generator.rng.choice(REWRITES).encode(),
        )  # fmt: skip


def outcome_of_tensorflow(tf, pattern: bytes, texts: list, rewrite: bytes):
    """What TensorFlow makes of a sample: for each text whether it matches, all and the first replaced; or an error."""
    try:
        matched = tf.strings.regex_full_match(texts, pattern).numpy().tolist()
    except tf.errors.InvalidArgumentError as error:
        return error.message.partition(", error: ")[2].partition(" [Op:")[0]
    everywhere, first = (
        tf.strings.regex_replace(texts, pattern, rewrite, replace_global=all_of_them).numpy().tolist()
        for all_of_them in (True, False)
    )
    return list(zip(matched, everywhere, first))


def digest(outcome):
    """What stands for an outcome in a record."""
    return hashlib.sha256(repr(outcome).encode()).hexdigest()[:10]
