"""Regular expressions: two engines that find the same, TensorFlow's answers, and linear time for every pattern."""

import hashlib
import pathlib
import random
import re
import subprocess
import sys
import time

import numpy as np
import pytest
import regex_engines as engines
import regex_samples as samples
from evaluation import evaluate
from families import rows_of

import headrace as tf
from headrace._src.ops.strings import regex_machine, regular_expressions
from headrace._src.ops.strings.regex_costs import Costs, _Steps
from headrace._src.ops.strings.regex_parsing import Parser
from headrace._src.ops.strings.regex_trees import for_searching
from headrace._src.ops.strings.regular_expressions import Regex, RegexSyntaxError, Rewrite

ROOT = pathlib.Path(__file__).parents[3]
ANSWERS = ROOT / "tests" / "golden" / "regex_answers.txt"
TEXTS = [
    b"", b"a", b"abcabc", b"foo bar 123", "héllo wörld".encode(), b"ab\ncd\n", b"a-b_c.d", b"\xff\xc3a\xe9\x80",
    "aKſK s".encode(), b"x{2}[a]", b"<b>bold</b> <i>", b"\xed\xa0\x80\xf4\x90\x80\x80\xe0\x80\x80",
]  # fmt: skip
PATTERNS = [
    "a*", "", "(a)|(b)", "(?:ab|c)+", r"\w+", r"\W", ".", "[^a]", r"\bb|o\B", "(?i)k", "(?m)^.", "(?m)$", "(?s).+",
    "(a+?)(b*)", "(?U)a+", r"\pL+", r"[\d_.-]", "a{2}", "(.{1,2}){2}", "(a|ab)(c|bcd)*", r"^", r"\z", "x*|b", r"\C",
    "<.*?>", "<(.+?)>", "(a*)*", "(|a)+", "(a|b*)*", r"\p{Kawi}|\pN", "()", "(?:)*", "[^[:^alpha:]]",
]  # fmt: skip


def both(pattern, text, rewrite=rb"<\0>"):
    """What is found as users find it, after comparing it with the machine."""
    found = engines.outcome(Regex, pattern.encode(), [text], rewrite)
    assert engines.outcome(engines.machine_only, pattern.encode(), [text], rewrite) == found
    return found


@pytest.mark.parametrize("pattern", PATTERNS)
def test_both_engines_agree(pattern):
    for rewrite in (rb"<\0>", b"[]"):
        for text in TEXTS:
            both(pattern, text, rewrite)


def test_both_engines_agree_on_random_patterns():
    for pattern, texts, rewrite in samples.samples("both", 100, texts=3):
        found = engines.outcome(Regex, pattern, texts, rewrite)
        assert engines.outcome(engines.machine_only, pattern, texts, rewrite) == found, pattern


def test_answers_of_tensorflow():
    """A digest of each answer is recorded; `scripts/regex` shows the answers themselves."""
    seed, count, *digests = ANSWERS.read_text().split()
    assert len(digests) == int(count)
    for sample, digest in zip(samples.samples(int(seed), int(count)), digests):
        assert samples.digest(engines.outcome(Regex, *sample)) == digest, sample


REGEX_ROWS = [row for name in ("strings", "strings_ragged") for row in rows_of(name) if "regex" in row.code]


def test_rows_give_the_same_by_the_machine_alone(monkeypatch):
    """What they must give is compared with TensorFlow's answers in `tests/ops/test_rows.py`."""
    assert len(REGEX_ROWS) > 50
    usual = [evaluate(tf, row) for row in REGEX_ROWS]
    monkeypatch.setattr(regular_expressions, "_cached", engines.machine_only)
    for row, expected in zip(REGEX_ROWS, usual):
        found = evaluate(tf, row)
        assert found.keys() == expected.keys(), row
        assert found.get("error") == expected.get("error"), row
        for (_, one), (_, two) in zip(found.get("values", ()), expected.get("values", ()), strict=True):
            np.testing.assert_array_equal(one, two, err_msg=row.code)


@pytest.mark.slow
def test_the_command():
    done = subprocess.run(
        [sys.executable, ROOT / "scripts" / "regex", "--patterns", "40"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert ": 0 differences" in done.stdout


# Linear time.

HARD = {
    "(a+)+b": b"a" * 3000,
    "(a|a)*b": b"a" * 3000,
    "(a|ab)*c": b"ab" * 1500,
    "(.*foo)+": b"fo" * 1500,
    "(a*)*b": b"a" * 3000,
    "([a-z]+)*[A-Z]": b"a" * 3000,
    "(?:(?:a|b)*c*)*d": b"abc" * 1000,
    "(.*)(.*)c": b"a" * 3000,
    ".*foo.*": b"fo" * 15_000,
    "<[^>]+>": b"<" * 30_000,
    r"\s+$": b" " * 30_000 + b"x",
    "(?s)a.*z|a": b"a" * 20_000,
    ".*?x(?:.*y)?": b"x" * 20_000,
    "a?" * 40 + "a" * 40: b"a" * 39,
    "(a|b|ab)" * 40 + "c": b"ab" * 20,
    r"(?:\b|\B)" * 40 + "x": b"ab" * 20,
    r"(\w+\s*)+!": b"word " * 1000,
    r"(?i)(é|É|e)*x": "éÉe".encode() * 1000,
    r"\C*\C*x": b"\xff" * 3000,
    "(a{1,30}){1,30}b": b"a" * 500,
    ".*" * 12 + "x": b"a" * 1000,
    "(" * 3000 + "a" + ")*" * 3000: b"a" * 10,
}


@pytest.mark.parametrize("pattern", HARD, ids=lambda pattern: pattern[:20])
def test_no_pattern_takes_longer_than_linear_time(pattern):
    begin = time.thread_time()  # of this thread: others may take any of the machine's
    regex = Regex(pattern.encode())
    regex.matches(HARD[pattern])
    regex.replace(HARD[pattern], Rewrite(b"-"), True)
    assert time.thread_time() - begin < 10


def test_all_matches_of_a_text_take_one_walk(monkeypatch):
    walked = []
    step = regex_machine._State.step
    monkeypatch.setattr(regex_machine._State, "step", lambda *args: walked.append(1) or step(*args))
    for pattern in ("(?s)a.*z|a", "(?s)a(?:.*z)?", "a|[a-y]*z"):
        walked.clear()
        regex = engines.machine_only(pattern.encode())
        assert regex.replace(b"a" * 500, Rewrite(b"-"), True) == b"-" * 500
        assert len(walked) <= 1000  # each character once, and the end of each match


@pytest.mark.parametrize("block", [1, 2, 3, 7])
def test_texts_of_several_blocks(monkeypatch, block):
    expected = [engines.outcome(Regex, pattern.encode(), TEXTS, rb"<\1\0>") for pattern in PATTERNS]
    monkeypatch.setattr(regex_machine, "_BLOCK", block)
    for pattern, found in zip(PATTERNS, expected):
        assert engines.outcome(engines.machine_only, pattern.encode(), TEXTS, rb"<\1\0>") == found


def test_states_that_do_not_fit(monkeypatch):
    expected = [engines.outcome(Regex, pattern.encode(), TEXTS, rb"<\1\0>") for pattern in PATTERNS]
    monkeypatch.setattr(regex_machine, "_MOST_STATES", 2)
    monkeypatch.setattr(regex_machine, "_MOST_CHARACTERS", 2)
    for pattern, found in zip(PATTERNS, expected):
        assert engines.outcome(engines.machine_only, pattern.encode(), TEXTS, rb"<\1\0>") == found


# What `re` takes.


class Backtracking:
    """Tries alternatives as `re` does, and counts."""

    def __init__(self, text):
        self.text = text
        self.steps = 0

    def ends(self, node, at):
        """The places at which a part can end, in the order in which they are tried."""
        kind = node[0]
        self.steps += 1
        if kind == "class":
            if at < len(self.text) and any(low <= ord(self.text[at]) <= high for low, high in node[1]):
                yield at + 1
        elif kind == "group":
            yield from self.ends(node[2], at)
        elif kind == "sequence":
            yield from self._sequence(node[1], at)
        elif kind == "either":
            for item in node[1]:
                yield from self.ends(item, at)
        elif kind == "repeat":
            yield from self._repeat(node, at, 0)
        else:
            yield at  # a place: as if it always held, which only makes for more to try

    def _sequence(self, items, at):
        if not items:
            yield at
            return
        for end in self.ends(items[0], at):
            yield from self._sequence(items[1:], end)

    def _repeat(self, node, at, count):
        _, inner, low, high, greedy, _ = node
        if not greedy and count >= low:
            yield at
        if high is None or count < high:
            for end in self.ends(inner, at):
                if end > at or count < low:
                    yield from self._repeat(node, end, count + 1)
        if greedy and count >= low:
            yield at


@pytest.mark.parametrize("seed", range(4))
def test_costs_are_upper_bounds(seed):
    """The steps of trying everything that can be tried, for random patterns, compared with what is said beforehand."""
    generator = samples.Generator(seed)
    compared = 0
    while compared < 100:
        try:
            tree = Parser(generator.pattern().replace(r"\C", ".")).parse()
        except RegexSyntaxError:
            continue
        steps = _Steps()
        prepared = steps.prepared(tree)
        for _ in range(3):
            text = "".join(generator.rng.choice("ab0 ") for _ in range(generator.rng.randrange(20)))
            _, most = steps.of(prepared, len(text))
            if most > 20_000:
                continue  # that is for the machine
            tried = Backtracking(text)
            for _ in tried.ends(tree, 0):
                pass
            # Groups, sequences and repetitions count here, too: as many as there are classes, times how deep they are.
            assert tried.steps <= 12 * (most + 1), tree
            compared += 1


@pytest.mark.parametrize(
    ("pattern", "text"),
    [
        (r"<[^>]+>", "<p>text</p> " * 1000),
        ("<.*?>", "<p>text</p> " * 1000),
        ("(foo|bar)+", "foobar baz " * 1000),
        (r"\d+(\.\d+)?", "3.14 and 2.71 " * 1000),
        (r"(\w+)=(\w+)(;(\w+)=(\w+))*", "a=b;c=d e " * 1000),
        (r"(?:[a-z]+-)*[a-z]+", "well-known words " * 1000),
        (r"\s+", "a  b " * 1000),
        (r"^\s+|\s+$", "  words and words " * 1000),
        (r"[!\"#$%&()*+,./:;<=>?@\[\]^_`{|}~']", "it's: (a) test! " * 1000),
        (r"https?://\S+", "see http://example.com/a?b=c or not " * 1000),
        (r"[\w.]+@[\w.]+\.\w+", "joe.doe@mail.example.com wrote " * 1000),
        (r"\b(a|an|the|and|of)\b", "the end of an era " * 1000),
    ],
)
def test_usual_patterns_stay_with_the_fast_engine(pattern, text):
    tree = Parser(pattern).parse()
    assert Costs(for_searching(tree), 3).allows_search(text)
    assert Costs(tree, 3).allows_match(text[:20])


LEADING = [
    ".*foo", ".*fo.*", r"\w+o\w*f", r"\s+$", "(?m)\\s+$", ".*?f(?:.*o)?", "(o*)f.*", "(?s).*(f)(.*)o", ".+?f.*?o",
]  # fmt: skip


@pytest.mark.parametrize("pattern", LEADING)
def test_patterns_that_begin_with_a_repetition(pattern, monkeypatch):
    """Looked for from few places, they are found in the same ones."""
    monkeypatch.setattr(regular_expressions, "ATTEMPTS", 1000)
    form = Regex(pattern.encode()).of_characters
    assert form.search_costs.leading_class is not None
    rng = random.Random(pattern)
    for size in range(60):
        text = "".join(rng.choice("fo \n_") for _ in range(size))
        few, all_places = regular_expressions._FewPlaces(form, text).search, form.machine.scan(text).search
        for at in range(size + 1):
            one, two = few(at), all_places(at)
            assert (one and one.span()) == (two and two.span()), (text, at)


def test_patterns_that_begin_with_a_repetition_are_looked_for_from_few_places():
    costs = Costs(Parser(".*fo.*").parse(), 3)
    text = "f" * 400
    assert not costs.allows_search(text)
    assert costs.allows_guarded_search(text)
    assert not costs.allows_guarded_search("f\n" * 4000 + "f" * 4000)
    assert both(".*fo.*", text.encode() + b"o")[0][1] == b"<" + text.encode() + b"o>"


def test_lazy_ends_are_searched_for_directly():
    text = b"<a<b>c>d>"
    for pattern in ("<.*?>", "<(.*?)>", "<.+?>", "<(.{2,}?)>", "<.*?[>c]"):
        assert for_searching(Parser(pattern).parse()) != Parser(pattern).parse()
        assert both(pattern, text)[0][0] is (re.fullmatch(pattern, text.decode()) is not None)


# Syntax.


def test_nesting_and_size_have_an_end():
    assert Regex(b"(" * 3000 + b"a" + b")" * 3000).matches(b"a")
    with pytest.raises(RegexSyntaxError, match="pattern too large"):
        Regex(rb"\pL{1000}" * 10)
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"Invalid pattern: a\*\*, error: bad repetition"):
        tf.strings.regex_replace("a", "a**", "")


def test_digests_tell_answers_apart():
    assert samples.digest("a") == hashlib.sha256(b"'a'").hexdigest()[:10] != samples.digest("b")
