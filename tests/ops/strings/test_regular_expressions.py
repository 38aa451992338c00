"""Regular expressions: two engines that agree, and patterns that must not take for ever."""

import time

import pytest

from headrace._src.ops.strings import regular_expressions
from headrace._src.ops.strings.regex_machine import is_ambiguous
from headrace._src.ops.strings.regular_expressions import Regex, Rewrite

TEXTS = [
    b"", b"a", b"abcabc", b"foo bar 123", "héllo wörld".encode(), b"ab\ncd\n", b"a-b_c.d", b"\xff\xc3a\xe9\x80",
    "aKſK s".encode(), b"x{2}[a]",
]  # fmt: skip
PATTERNS = [
    "a*", "", "(a)|(b)", "(?:ab|c)+", r"\w+", r"\W", ".", "[^a]", r"\bb|o\B", "(?i)k", "(?m)^.", "(?m)$", "(?s).+",
    "(a+?)(b*)", "(?U)a+", r"\pL+", r"[\d_.-]", "a{2}", "(.{1,2}){2}", "(a|ab)(c|bcd)*", r"^", r"\z", "x*|b", r"\C",
]  # fmt: skip


@pytest.mark.parametrize("pattern", PATTERNS)
def test_both_engines_agree(pattern, monkeypatch):
    usual = Regex(pattern.encode())
    monkeypatch.setattr(regular_expressions, "is_ambiguous", lambda tree: True)
    linear = Regex(pattern.encode())
    for rewrite in (Rewrite(rb"<\0>"), Rewrite(b"[]")):
        for text in TEXTS:
            assert usual.matches(text) == linear.matches(text)
            for everywhere in (True, False):
                got = linear.replace(text, rewrite, everywhere)
                assert usual.replace(text, rewrite, everywhere) == got


@pytest.mark.parametrize(
    "pattern", ["(a+)+b", "(a|a)*b", "(a|ab)*c", "(.*foo)+", "(a*)*b", "([a-z]+)*[A-Z]", "(?:(?:a|b)*c*)*d"]
)
def test_ambiguous_repetitions_end(pattern):
    regex = Regex(pattern.encode())
    begin = time.thread_time()  # of this thread: others may take any of the machine's
    assert not regex.matches(b"a" * 2000 + b"!")
    assert time.thread_time() - begin < 5


@pytest.mark.parametrize(
    "pattern", [r"<[^>]+>", r"(foo|bar)+", r"\d+(\.\d+)?", r"(\w+)=(\w+)(;(\w+)=(\w+))*", r"(?:[a-z]+-)*[a-z]+"]
)
def test_usual_patterns_stay_with_the_fast_engine(pattern):
    assert not is_ambiguous(regular_expressions._Parser(pattern).parse())


def test_nesting_has_an_end():
    with pytest.raises(regular_expressions.RegexSyntaxError):
        Regex(b"(" * 5000 + b"a" + b")" * 5000)
