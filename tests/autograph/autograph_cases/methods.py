"""Cases of methods of all kinds, attributes and items."""

import headrace as tf
from autograph_cases.table import case


class Scaler:
    """A class with methods of every kind."""

    factor = 2

    def __init__(self, start):
        self.start = start
        self.total = 0

    def scale(self, x):
        if x > 0:
            return x * self.factor
        return x

    @classmethod
    def create(cls, x):
        if x > 0:
            return x + cls.factor
        return x

    @staticmethod
    def shift(x):
        if x > 0:
            return x + 1
        return x - 1

    @property
    def doubled(self):
        return self.start * 2

    def __call__(self, x):
        if x > 0:
            return x + self.start
        return self.start

    def accumulate(self, x):
        if x > 0:
            self.total += x
        else:
            self.total = -1
        return self.total

    def __hidden(self, x):
        if x > 0:
            return x * 1000
        return x

    def calls_hidden(self, x):
        return self.__hidden(x)


class Doubler(Scaler):
    """A subclass that calls its base."""

    def scale(self, x):
        if x > 1:
            return super().scale(x) + 100
        return super().scale(x)


@case(3, -3)
def method(x):
    return Scaler(1).scale(x)


@case(3, -3)
def class_method(x):
    return Scaler.create(x)


@case(3, -3)
def static_method(x):
    return Scaler.shift(x)


@case(3, -3)
def property_of_object(x):
    s = Scaler(4)
    return s.doubled if x > 0 else x


@case(3, -3)
def callable_object(x):
    return Scaler(10)(x)


@case(3, -3)
def super_method(x):
    return Doubler(0).scale(x)


@case(3, -3)
def attribute_in_branch(x):
    return Scaler(0).accumulate(x)


@case(3, -3)
def attribute_in_loop(x):
    s = Scaler(0)
    for i in tf.range(3):
        s.total += i * x
    return s.total


@case(3, -3)
def private_method(x):
    return Scaler(0).calls_hidden(x)


@case(3, -3)
def item_in_branch(x):
    d = {"a": x}
    if x > 0:
        d["a"] = x * 2
    return d["a"]


@case(3, -3)
def list_item_in_branch(x):
    v = [x, x]
    if x > 0:
        v[1] = x * 2
    else:
        v[0] = x * 3
    return v


@case(3, -3)
def nested_class(x):
    class Inner:
        def f(self, v):
            if v > 0:
                return v
            return v * 2

    return Inner().f(x)
