"""Random functions with nested control flow over integers, as source text."""

import random

_NAMES = ("a", "b", "c", "x")
_HEAD = """
class Holder:
    pass

def f(x):
    a, b, c = 1, 2, x
    o, d = Holder(), {"k": 3}
    o.v = 4
    def add(n):
        nonlocal a
        if n > b:
            a = (a + n) % 17
        return a + 1
    def read():
        return a + b if c > 3 else o.v
"""


class Program:
    """Writes one function, `f(x)`; all its loops end.

    Args:
        seed: Determines the function.
        python: Whether it is for Python values only, and may raise and catch exceptions, and leave names unbound.
    """

    def __init__(self, seed: int, python: bool = False):
        self.random = random.Random(seed)
        self.counters = 0
        self.python = python
        lines = [_HEAD.strip("\n"), *self.block(1, depth=0, loop=False)]
        lines.append(f"    return a * 100 + b * 10 + {self.name()}, c, o.v, d['k']")
        self.source = "\n".join(lines) + "\n"

    def name(self):
        return self.random.choice(_NAMES)

    def expression(self):
        kind = self.random.randrange(12)
        if kind > 7:
            return self.random.choice(("o.v", "d['k']", "read()", f"(lambda n: n + a)({self.name()})"))
        if kind < 2:
            return str(self.random.randrange(-3, 8))
        if kind < 4:
            return self.name()
        if kind == 4:
            return f"({self.name()} - {self.name()})"
        if kind == 5:
            return f"({self.name()} if {self.test()} else {self.name()})"
        return f"({self.name()} {self.random.choice(('+', '-'))} {self.random.randrange(1, 4)})"

    def test(self):
        kind = self.random.randrange(6)
        if kind == 0:
            return f"({self.test()} and {self.test()})"
        if kind == 1:
            return f"({self.test()} or {self.test()})"
        if kind == 2:
            return f"not {self.test()}"
        if kind == 3:
            return f"{self.name()} < {self.expression()} <= {self.random.randrange(0, 9)}"
        return f"{self.name()} {self.random.choice(('<', '>', '==', '!=', '<=', '>='))} {self.expression()}"

    def odd(self, pad):
        """Statements that may raise, or leave a name without value."""
        return (
            f"if {self.test()}: raise KeyError(1)",
            f"if {self.test()}: u = {self.expression()}",
            "a = u",
            f"if {self.test()}: del u",
            f"b = (w := {self.expression()}) + 1",
            f"c = sum([w := p for p in (a, b, {self.expression()}) if p > 3])",
            f"with contextlib.suppress(KeyError):\n{pad}    if {self.test()}: raise KeyError\n{pad}    a = 5",
            f"c = {self.name()} if {self.test()} else w",
        )

    def block(self, indent, depth, loop):
        lines = []
        for _ in range(self.random.randrange(1, 4)):
            lines += self.statement(indent, depth, loop)
        return lines

    def statement(self, indent, depth, loop):
        pad = "    " * indent
        kind = self.random.randrange(14) if depth < 4 else self.random.randrange(5)
        if kind < 4:
            # Modulo keeps the numbers small.
            target = self.random.choice((*_NAMES, "o.v", "d['k']"))
            if self.random.random() < 0.2:
                return [f"{pad}{target} = add({self.name()})"]
            if self.python and self.random.random() < 0.2:
                return [f"{pad}{self.random.choice(self.odd(pad))}"]
            return [f"{pad}{target} = ({self.expression()} + {self.expression()}) % 17"]
        if kind == 4:
            leave = self.random.randrange(4)
            if leave == 0 and depth > 0:
                return [f"{pad}return {self.expression()}, {self.expression()}, a, b"]
            if leave < 3 and loop:
                return [pad + ("break" if leave == 1 else "continue")]
            return [f"{pad}{self.name()} += {self.random.randrange(3)}"]
        if kind < 9:
            lines = [f"{pad}if {self.test()}:", *self.block(indent + 1, depth + 1, loop)]
            if self.random.random() < 0.3:
                lines += [f"{pad}elif {self.test()}:", *self.block(indent + 1, depth + 1, loop)]
            if self.random.random() < 0.5:
                lines += [f"{pad}else:", *self.block(indent + 1, depth + 1, loop)]
            return lines
        if kind == 9 and self.python and self.random.random() < 0.7:
            return [
                f"{pad}try:", *self.block(indent + 1, depth + 1, loop),
                f"{pad}except {self.random.choice(('KeyError', 'NameError', '(KeyError, NameError)'))}:",
                *self.block(indent + 1, depth + 1, loop),
                *([f"{pad}else:", *self.block(indent + 1, depth + 1, loop)] if self.random.random() < 0.5 else []),
                *([f"{pad}finally:", f"{pad}    b = (b + c) % 17"] if self.random.random() < 0.5 else []),
            ]  # fmt: skip
        if kind == 9:
            return [
                f"{pad}try:", *self.block(indent + 1, depth + 1, loop),
                f"{pad}finally:", f"{pad}    a = (a + 1) % 17",
            ]  # fmt: skip
        self.counters += 1
        counter = f"n{self.counters}"
        body = self.block(indent + 1, depth + 1, True)
        if kind < 12:
            lines = [
                f"{pad}{counter} = {self.random.randrange(1, 5)}",
                f"{pad}while {counter} > 0 and {self.test()}:",
                f"{pad}    {counter} -= 1", *body,
            ]  # fmt: skip
        else:
            counts = (f"tf.range({self.random.randrange(4)})", f"tf.range({self.name()} % 5)", "range(3)")
            lines = [f"{pad}for {counter} in {self.random.choice(counts)}:", *body]
            if self.random.random() < 0.5:
                lines.append(f"{pad}    b = (b + {counter}) % 17")
        if self.random.random() < 0.3:
            lines += [f"{pad}else:", *self.block(indent + 1, depth + 1, loop)]
        return lines
