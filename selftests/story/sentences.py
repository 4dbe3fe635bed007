# SPDX-License-Identifier: GPL-2.0
"""
What the sentences of a story claim.  Each form of a sentence has a function that looks at the
history and demands that the claim holds.

In a form, {A}, {B} and {C} stand for operations such as "t1's enq(5)", {M} and {N} for times or
numbers, {V} and {W} for values, {WORD} for one of a few words, and {TEXT} for anything else.
"""
import itertools
import re

import history

HEADLINES, FACTS, ROLES = [], [], []
SPECIAL = {"A": r"<(?P<A>\d+)>", "B": r"<(?P<B>\d+)>", "C": r"<(?P<C>\d+)>",
           "M": r"(?P<M>\d+)", "N": r"(?P<N>\d+)", "V": r"(?P<V>[^\s,;]+)",
           "W": r"(?P<W>[^\s,;]+)", "WORD": r"(?P<WORD>\w+)", "TEXT": r"(?P<TEXT>.+)"}

# Methods by what they do to the values that they name.
ADDS = {"enq", "push", "push_front", "push_back", "put", "add", "insert", "write"}
TAKES = {"deq", "pop", "pop_front", "pop_back", "get", "read", "remove"}


class Untrue(Exception):
    pass


def form(lists, text):
    """Register a function for sentences of the form @text."""
    parts = re.split(r"\{(\w+)\}", text)
    pattern = "".join(SPECIAL[p] if i % 2 else re.escape(p).replace(r"\ ", " ")
                      for i, p in enumerate(parts))

    def register(f):
        for each in lists if isinstance(lists, tuple) else (lists,):
            each.append((re.compile(pattern), f))
        return f
    # append() of a list, or of each list of a tuple
    return register


def demand(condition, what):
    if not condition:
        raise Untrue(what)


class Scene:
    """The operations that a story may speak of."""

    def __init__(self, model, ops, proof, cast):
        self.model, self.ops, self.proof, self.cast = model, ops, proof, cast
        self.failing = cast[0]
        self.full = len(cast) == 8

    def look(self, forms, text):
        """Look at a sentence: some reading of it must be true."""
        # Replace the names of operations by numbers, the longest first.
        named = []
        for name in sorted({op.name() for op in self.ops}, key=len, reverse=True):
            if name in text:
                text = text.replace(name, "<%d>" % len(named))
                named.append([op for op in self.ops if op.name() == name])
        for pattern, f in forms:
            m = pattern.fullmatch(text)
            if m:
                break
        else:
            raise Untrue("no form of sentences is `%s'" % text)
        groups = m.groupdict()
        ops = [k for k in ("A", "B", "C") if groups.get(k) is not None]
        choices = [named[int(groups[k])] for k in ops]
        error = None
        for chosen in itertools.product(*choices):
            words = {k: int(v) if k in "MN" else v for k, v in groups.items() if v is not None}
            words.update(zip(ops, chosen))
            try:
                f(self, **words)
                return
            except Untrue as e:
                error = e
        raise Untrue("`%s' is not true: %s" % (text, error))

    def look_at_cast(self, story):
        demand(len({id(op) for op in self.cast}) == len(self.cast), "an operation is cast twice")
        # What no order explains is no order of the whole history, either.
        if not self.full:
            demand(not history.orders(self.model, self.cast), "the cast alone has an order")
        # The person asks first who wrote the value that was seen.
        v = self.found(self.failing)
        writers = [op for op in self.ops if v in map(str, op.args) and op.method in ADDS]
        demand(not writers or self.full or any(op in self.cast for op in writers),
               "nobody who wrote %s is in the cast" % v)

    def look_at_role(self, op, role):
        for pattern, f in ROLES:
            m = pattern.fullmatch(role)
            if m:
                f(self, op, **m.groupdict())
                return
        raise Untrue("no form of roles is `%s'" % role)

    def look_at_headline(self, text):
        self.look(HEADLINES, text)

    def look_at_fact(self, text):
        self.look(FACTS, text)

    def look_at_allowed(self, allowed):
        pass

    # ---- what operations did ----

    def adds(self, v):
        return [op for op in self.ops if op.method in ADDS and v in map(str, op.args) and
                (op.ret is None or not op.res or op.res[0] != "full" and
                 (op.method not in ("put", "add", "insert") or op.res[0]))]

    def found(self, op):
        return str(self.model.found(op.res)) if op.ret is not None and op.res else None

    def takes(self, v):
        return [op for op in self.ops if op.method in TAKES and self.found(op) == v]

    def vague(self):
        """Pending operations, whose results nobody knows."""
        return [op for op in self.ops if op.method in TAKES and op.ret is None]


# ---- roles ----

@form((ROLES,), "added {V}")
@form((ROLES,), "wrote {V}")
def role_added(s, op, V):
    demand(V in map(str, op.args), "%s has not the argument %s" % (op.name(), V))


@form((ROLES,), "took {V}")
@form((ROLES,), "saw {V}")
@form((ROLES,), "took {V} later")
def role_took(s, op, V):
    demand(s.found(op) == V, "%s has not the result %s" % (op.name(), V))


@form((ROLES,), "found nothing")
def role_nothing(s, op):
    demand(op.ret is not None and s.model.found(op.res) is None,
           "%s found something" % op.name())


@form((ROLES,), "returned what no state allows")
def role_impossible(s, op):
    demand(op.ret is not None, "%s has not returned" % op.name())


# ---- times and orders ----

def returned(op, n):
    demand(op.ret == n, "%s returned at %s" % (op.name(), op.ret))


def called(op, n):
    demand(op.call == n, "%s was called at %s" % (op.name(), op.call))


@form(FACTS, "{A} returned at {N}, before {B} was called at {M}")
@form(FACTS, "{A} had returned at {N}, before {B} was called at {M}")
@form(FACTS, "{B} was called at {M}, after {A} had returned at {N}")
def fact_before(s, A, N, B, M):
    returned(A, N)
    called(B, M)
    demand(history.before(A, B), "they overlap")


@form(FACTS, "{A} returned at {N}")
def fact_returned(s, A, N):
    returned(A, N)


# ---- containers ----

@form(HEADLINES, "{A} took {V}, which was never added")
@form(HEADLINES, "{A} saw {V}, which was never added")
def never_added(s, A, V):
    role_took(s, A, V)
    demand(not s.adds(V), "%s was added" % V)


@form(FACTS, "No operation adds {V}, and the first state is empty")
def fact_never_added(s, V):
    demand(not s.adds(V), "%s was added" % V)
    demand(not s.model.init, "the first state is not empty")


@form(FACTS, "{A}, the {WORD} addition of {V}, was called at {M}")
def fact_addition(s, A, WORD, V, M):
    called(A, M)
    adds = s.adds(V)
    demand(A in adds and A.call == min(op.call for op in adds), "an earlier one is there")
    demand((WORD == "only") == (len(adds) == 1), "%d additions" % len(adds))


@form(HEADLINES, "{A} took {V} and returned at {N}, before {B} was called at {M}")
@form(HEADLINES, "{A} saw {V} and returned at {N}, before {B} was called at {M}")
def added_later(s, A, V, N, B, M):
    role_took(s, A, V)
    fact_before(s, A, N, B, M)
    demand(all(history.before(A, op) for op in s.adds(V)), "it may have been added before")


@form(HEADLINES, "{A} took {V} a second time; {B} had taken it by {N}")
def second_time(s, A, V, B, N):
    role_took(s, A, V)
    role_took(s, B, V)
    demand(history.before(B, A), "they overlap")
    returned(B, N)
    demand(len(s.adds(V)) <= 1, "it was added more than once")


@form(HEADLINES, "{A} and {B} both took {V}, which was added once")
def both_took(s, A, B, V):
    role_took(s, A, V)
    role_took(s, B, V)
    demand(A is not B, "they are one operation")
    demand(len(s.adds(V)) <= 1, "it was added more than once")


@form(HEADLINES, "{A} took {V}, which was taken {M} times but added {N} times")
def taken_times(s, A, V, M, N):
    demand(len(s.takes(V)) == M and len(s.adds(V)) == N and M > N, "the numbers are wrong")


@form(FACTS, "{V} was added once")
def fact_once(s, V):
    demand(len(s.adds(V)) == 1, "it was added %d times" % len(s.adds(V)))


@form(FACTS, "{V} was added less often than it was taken")
def fact_less(s, V):
    demand(len(s.adds(V)) < len(s.takes(V)), "it was not")


@form(FACTS, "No operation took {V}")
def fact_not_taken(s, V):
    demand(not s.takes(V), "it was taken")


def inside(s, v, op):
    """Was a value certainly inside during an operation?"""
    n = sum(history.before(a, op) for a in s.adds(v))
    m = sum(not history.before(op, t) for t in s.takes(v) + s.vague() if t is not op)
    demand(n > m, "%s may have been outside" % v)


@form(FACTS, "Too few operations can have taken {V} before")
def fact_too_few(s, V):
    inside(s, V, s.failing)


@form(HEADLINES, "{A} found nothing, while {V} was inside from {N} to {M}")
def found_nothing(s, A, V, N, M):
    role_nothing(s, A)
    inside(s, V, A)
    returned(A, M)
    demand(any(op.ret == N for op in s.adds(V)), "no addition returned at %d" % N)


@form(HEADLINES, "{A} took {V} while {W}, which is {TEXT}, was inside")
@form(HEADLINES, "{A} saw {V} while {W}, which is {TEXT}, was inside")
def inverted(s, A, V, W, TEXT):
    role_took(s, A, V)
    inside(s, W, A)
    v, w = s.adds(V), s.adds(W)
    demand({
        "added earlier": lambda: history.before(w[0], v[0]) and len(v) == len(w) == 1,
        "added later": lambda: history.before(v[0], w[0]) and len(v) == len(w) == 1,
        "smaller": lambda: int(W) < int(V), "greater": lambda: int(W) > int(V),
    }[TEXT](), "it is not %s" % TEXT)


@form(HEADLINES, "{A} returned what no state allows")
def impossible(s, A):
    # Try the states that operations of the history can reach, those of few operations first.
    states, todo = {s.model.init}, [s.model.init]
    while todo and len(states) < 300:
        after = [t for state in todo for op in s.ops
                 for _, t in s.model.step(state, op.method, op.args)]
        todo = sorted(set(after) - states, key=str)
        states.update(todo)
    demand(not any(res == A.res for state in states
                   for res, _ in s.model.step(state, A.method, A.args)), "a state allows it")
