# SPDX-License-Identifier: GPL-2.0
"""
What the sentences of a story claim.  Each form of a sentence has a function that looks at the
history and demands that the claim holds.

In a form, {A}, {B} and {C} stand for operations such as "t1's enq(5)", {M} and {N} for times or
numbers, {V} and {W} for values, {WORD} for one of a few words, and {TEXT} and {OTHER} for
anything else.
"""
import copy
import itertools
import re

import history
import machine

HEADLINES, FACTS, ROLES = [], [], []
SPECIAL = {"A": r"<(?P<A>\d+)>", "B": r"<(?P<B>\d+)>", "C": r"<(?P<C>\d+)>",
           "M": r"(?P<M>\d+)", "N": r"(?P<N>\d+)", "V": r"(?P<V>[^\s,;]+)",
           "W": r"(?P<W>[^\s,;]+)", "WORD": r"(?P<WORD>\w+)", "TEXT": r"(?P<TEXT>.+)",
           "OTHER": r"(?P<OTHER>.+)"}

# Methods by what they do to the values that they name.
ADDS = {"enq", "push", "push_front", "push_back", "put", "add", "insert", "write", "send", "set",
        "set_y", "update"}
READS = {"read", "get", "get_y", "has", "contains", "count", "peek", "load", "lookup", "may"}
TAKES = {"deq", "pop", "pop_front", "pop_back", "get", "read", "receive", "remove"}
# Methods whose result is a truth value or a number of things.
FLAGS = {"cas", "insert", "add", "has", "contains", "count", "trylock", "read_trylock",
         "write_trylock", "try_down", "take"}


class Untrue(Exception):
    pass


def form(forms, text):
    """Register a function in the list @forms, for sentences of the form @text."""
    parts = re.split(r"\{(\w+)\}", text)
    pattern = "".join(SPECIAL[p] if i % 2 else re.escape(p).replace(r"\ ", " ")
                      for i, p in enumerate(parts))

    def register(f):
        forms.append((re.compile(pattern), f))
        return f
    return register


def demand(condition, what):
    if not condition:
        raise Untrue(what)


class Scene:
    """The operations that a story may speak of."""

    def __init__(self, model, ops, proof, cast):
        self.model, self.ops, self.proof, self.cast = model, ops, proof, cast
        self.failing = cast[0]
        self.firsts = model.firsts(ops)
        # The operations of the counterexample may have lost their returns.
        self.by_index = {op.index: op for op in [*ops, *proof]}
        self.full = len(cast) == 8

    def orders(self, ops, want=None):
        return self.model.orders(ops, want, self.firsts)

    def look(self, forms, text):
        """Look at a sentence: some reading of it must be true."""
        # Replace the names of operations by numbers, the longest first.
        named = []
        for name in sorted({op.name() for op in self.ops}, key=len, reverse=True):
            if name in text:
                text = text.replace(name, "<%d>" % len(named))
                named.append([op for op in self.ops if op.name() == name])
        if forms is HEADLINES and re.match(r"<\d+> is torn: ", text):
            return self.look_at_torn(text, named)
        self.named = named
        halves = text.split("; ") if forms is HEADLINES else []
        if len(halves) == 2 and re.search(" had taken effect before| times after ", halves[1]):
            self.read(forms, halves[0], named)
            text = halves[1]
        return self.read(forms, text, named)

    def read(self, forms, text, named):
        """Look at a sentence in which operations are numbers in @named."""
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

    def look_at_torn(self, text, named):
        """Each word that was seen comes from the operation that is named, or from the first state."""
        for word in text.split(" is torn: ")[1].split(", "):
            m = re.fullmatch(r"(\w+ = \w+) (comes|may come) from (.*)", word)
            self.agree(self.states_before(self.failing), m[1])
            if m[3] == "the first state":
                self.agree(self.firsts, m[1])
            elif m[3] != "no known operation":
                demand(any(self.words_of(op, m[1]) for op in named[int(m[3][1:-1])]),
                       "%s is not from there" % m[1])
            if m[2] == "comes":
                others = [op for op in self.ops if self.words_of(op, m[1]) and
                          not history.before(self.failing, op)]
                demand(len({id(op) for op in others}) <= 1, "%s may come from others" % m[1])

    def words_of(self, op, text):
        name, v = text.split(" = ")
        states = [after for state in self.reachable()
                  for after in history.outcomes(self.model, state, op) if after != state]
        return states and all(self.model.words(t)[name] == v for t in states)

    def model_after(self, op, state):
        return list(history.outcomes(self.model, state, op))

    def look_at_cast(self, story):
        self.roles = [j["role"] for j in story["cast"]]
        demand(len({id(op) for op in self.cast}) == len(self.cast), "an operation is cast twice")
        # If no order explains the proof, none of the whole history does.
        if not self.full and story["reason"] != "no_order":
            # With store buffers a story does not say why each writer's store does not matter.
            cast = [op for op, j in zip(self.cast, story["cast"])
                    if not self.model.machine or not j["role"].startswith("was called with")]
            demand(not self.orders(cast), "the cast alone has an order")
        # The person asks first who wrote the value that was seen: nobody who was called later.
        v = self.found(self.failing)
        writers = [op for op in self.writers(v) if not history.before(self.failing, op)]
        # An operation of a multiset names the value itself.
        if story["reason"] == "impossible_result" or self.model.name == "multiset":
            return
        demand(not writers or self.full or any(op in self.cast for op in writers),
               "nobody who wrote %s is in the cast" % v)

    def writers(self, v):
        """The operations that may have left a value, besides the one that saw it."""
        writers = self.adds(v)
        if v is not None and self.is_word():
            # A value that no argument makes, such as that of a counter, has no writer.
            named = [op for op in self.ops if op is not self.failing and
                     len(op.args) > (self.model.key is not None)]
            writers += [op for op in named if any(after == v != before for before, after in
                                                  self.word_steps(op))]
        return writers

    def look_at_role(self, op, role):
        for pattern, f in ROLES:
            m = pattern.fullmatch(role)
            if m:
                f(self, op, **m.groupdict())
                return
        raise Untrue("no form of roles is `%s'" % role)

    def look_at_headline(self, text, spec, obj):
        where, _, rest = text.partition(": ")
        words = where.split()
        demand(words[:2] == [spec, "@%x" % obj], "`%s' is not about %s @%x" % (text, spec, obj))
        if len(words) > 2:
            demand(words[2] == "key" and len(words) == 4 and all(
                str(op.args[self.model.key]) == words[3] for op in self.cast), "wrong key")
        self.look(HEADLINES, rest)

    def look_at_fact(self, text):
        self.look(FACTS, text)

    def reachable(self):
        """States that the operations can reach from the first one, those of few of them first."""
        states, todo = set(self.firsts), self.firsts
        while todo and len(states) < 300:
            after = [t for state in todo for op in self.ops
                     for _, t in self.model.step(state, op.method, op.args)]
            todo = sorted(set(after) - states, key=str)
            states.update(todo)
        return states

    def word_steps(self, op):
        """The words before and after an operation, for all words that somebody names."""
        model = self.model
        words = {v for o in self.ops for v in [*o.args, *(o.res or ())] if isinstance(v, int)}
        if model.nothing is None:
            return {(str(w), str(after[0])) for w in words | {first[0] for first in self.firsts}
                    for after in history.outcomes(model, (w,), op)}
        key = op.args[model.key]
        states = [()] + [((key, w),) for w in words]
        return {(model.under(state, key), model.under(after, key)) for state in states
                for after in history.outcomes(model, state, op)}

    def first_words(self):
        """The first words, as klin prints them."""
        key = self.failing.args[self.model.key] if self.is_keyed() else None
        return {self.model.under(first, key) if self.is_keyed() else str(first[0])
                for first in self.firsts}

    def is_word(self):
        """Is the state one word, or one for each key?"""
        return self.is_keyed() or len(self.model.names) == 1 and self.model.names[0][-1] != "?"

    def is_keyed(self):
        return self.model.nothing is not None

    def may_leave(self, V, x, e):
        """
        Operations that may change the word to @V before @e, and after @x if this is no None: those
        that are possible at a word which operations may have left between.
        """
        between = [op for op in self.ops if op is not x and op is not e and
                   not history.before(e, op) and not (x and history.before(op, x))]
        if not self.is_word():
            adds = ("add", "insert")
            return [op for op in between if op.args == e.args and op.method in (
                adds if (e.res == (1,)) != (e.method in adds) else ("remove",)) and
                (op.ret is None or op.res == (1,))]
        steps = [(op, before, after) for op in between for before, after in self.word_steps(op)
                 if before != after]
        words = {after for _, after in self.word_steps(x)} if x else set(self.first_words())
        while True:
            more = {after for _, before, after in steps if before in words and after != V} - words
            if not more:
                break
            words |= more
        return [op for op, before, after in steps if before in words and after == V]

    def finds(self, op, V):
        """Demand that the operation is possible at the word only."""
        demand({before for before, _ in self.word_steps(op)} == {V} and op.ret is not None,
               "%s did not find %s" % (op.name(), V))

    def leaves(self, op, V):
        """Demand that the operation may leave the word."""
        demand(V in {after for _, after in self.word_steps(op)}, "%s does not" % op.name())

    def shows(self, op, V):
        """Demand that the word is there after the operation, which returned."""
        demand({after for _, after in self.word_steps(op)} == {V} and op.ret is not None,
               "%s does not show %s" % (op.name(), V))

    def denies(self, op, V):
        demand(V not in {before for before, _ in self.word_steps(op)} and op.ret is not None,
               "%s is possible there" % op.name())

    def states_before(self, op):
        return [state for state in self.reachable()
                for _ in history.outcomes(self.model, state, op)]

    def states_after(self, op):
        return [after for state in self.reachable()
                for after in history.outcomes(self.model, state, op)]

    def agree(self, states, text):
        """Do all the states have the words, `low = 1, high = 2', or `1' for the only one?"""
        if " = " not in text:
            text = "%s = %s" % (self.model.names[0].rstrip("?"), text)
        wanted = dict(word.split(" = ") for word in text.split(", "))
        demand(all(self.model.words(state).get(k) == v for state in states
                   for k, v in wanted.items()), "%s: not in all of %s" % (text, states[:5]))

    def look_at_order(self, order):
        """Run the order, and look at the operation that stops it."""
        ops = [self.by_index[i] for i in order["operations"]]
        known = "left out" not in order["sentence"]
        states = set(self.firsts) if known else self.reachable()
        for i, op in enumerate(ops):
            demand(op in self.proof, "%s is not in the counterexample" % op.name())
            demand(not any(history.before(op, earlier) for earlier in ops[:i]),
                   "%s is too late in the order" % op.name())
            states = {after for state in states
                      for after in history.outcomes(self.model, state, op)}
        demand(states or not known, "the order is not possible")
        stop = self.by_index[order["stopped_by"]]
        demand(stop not in ops, "the order has %s" % stop.name())
        possible = {res for state in states
                    for res, _ in self.model.step(state, stop.method, stop.args)}
        demand(stop.res not in possible, "%s can come next" % stop.name())
        text = order["sentence"]
        demand("%s cannot come next" % stop.name() in text, text)
        demand(all(op.name() in text for op in ops[-4:]), text)
        if "; the result could be " in text and known:
            told = set(text.split("; the result could be ")[1].split(" or "))
            # The state is one of several if an operation has no known result.
            vague = any(op.ret is None for op in ops)
            right = {history.words(res) for res in possible}
            demand(told == right or vague and told <= right or "others" in told or
                   "?" in told, "`%s': %s were possible" % (text, possible))

    def right(self, op, among=None):
        """
        Let the operation return anything, and try all orders up to its return, or of the
        operations @among.
        """
        others = [o for o in among or self.ops
                  if o.index != op.index and (among or not history.before(op, o))]
        return {history.words(res) for res in self.orders(others, op)}

    def right_at_most(self, op):
        """The same if operations that change nothing may return anything; else if all others may."""
        changing = {o.method for o in self.ops for state in self.reachable()
                    for _, after in self.model.step(state, o.method, o.args) if after != state}
        # A cas(1, 1) happens to change nothing; the method may change the state.
        changing |= {"cas"}
        for fixed in (changing, ()):
            others = []
            for o in self.ops:
                if o.index != op.index and not history.before(op, o):
                    others.append(copy.copy(o))
                    others[-1].any = o.method not in fixed
            right = {history.words(res) for res in self.orders(others, op)}
            if right:
                break
        return right

    def look_at_allowed(self, allowed):
        op = next(o for o in self.ops if o.index == allowed["operation"])
        alone = allowed["sentence"].startswith("By the counterexample alone, ")
        right = self.right(op, self.proof if alone else None)
        # A `?' is a word that some first state has.
        told = {r for r in allowed["results"] if "?" not in r}
        every = told == set(allowed["results"])
        demand(not (alone and (allowed["all"] or allowed["exact"])), "it is about the whole")
        # If operations before the counterexample are left out, any first state comes before it.
        if alone and (not every or any("..." in t or "?" in t for t in allowed["states"]) or any(
                op.index not in {p.index for p in self.proof} and history.before(op, p)
                for op in self.ops for p in self.proof)):
            return
        if every and (allowed["all"] or " could only have " in allowed["sentence"]):
            # A method without results is not possible, or there were no violation.
            demand(told >= right - {""}, "%s were allowed, told are %s" % (right, told))
        if every and " could at most have " in allowed["sentence"]:
            right = self.right_at_most(op)
            demand(told >= right, "%s were allowed at most, told are %s" % (right, told))
        elif allowed["exact"] or alone:
            demand(told <= right, "%s were allowed, told are %s" % (right, told))
        demand(op.name().split(" -> ")[0] in allowed["sentence"] or
               allowed["sentence"].startswith("What would have been right is not known"),
               allowed["sentence"])
        demand(all(r in allowed["sentence"] for r in told), allowed["sentence"])

    # ---- what operations did ----

    def adds(self, v):
        key = self.model.key
        return [op for op in self.ops if op.method in ADDS and
                v in [str(a) for i, a in enumerate(op.args) if (i != key or len(op.args) == 1) and
                      i not in self.model.domains.get(op.method, ())] and
                (op.ret is None or not op.res or op.res[0] != "full" and
                 (op.method not in ("put", "add", "insert") or op.res[0]))]

    def found(self, op):
        """The value that an operation saw, as text; None if its result is a truth value."""
        if self.model.name == "multiset":
            return str(op.args[0]) if op.ret is not None and op.res and op.res[0] else None
        if op.method in FLAGS or op.method in self.model.flags:
            return None
        return str(self.model.found(op.res)) if op.ret is not None and op.res else None

    def takes(self, v):
        return [op for op in self.ops if op.method in TAKES and self.found(op) == v]

    def vague(self):
        """Pending operations, whose results nobody knows."""
        return [op for op in self.ops if op.method in TAKES and op.ret is None]


# ---- roles ----

@form(ROLES, "added {V}")
@form(ROLES, "wrote {V}")
def role_added(s, op, V):
    if s.is_keyed():
        s.leaves(op, V)
        return
    if s.model.names:
        s.agree(s.states_after(op), V)
        return
    demand(V in map(str, op.args), "%s has not the argument %s" % (op.name(), V))


@form(ROLES, "took {V}")
@form(ROLES, "saw {V}")
@form(ROLES, "succeeded on {V}")
@form(ROLES, "took {V} later")
def role_took(s, op, V):
    if s.is_keyed():
        s.finds(op, V)
    elif s.model.names:
        s.agree(s.states_before(op), V)
    else:
        demand(s.found(op) == V, "%s has not the result %s" % (op.name(), V))


@form(ROLES, "found nothing")
def role_nothing(s, op):
    if s.is_keyed():
        s.finds(op, "nothing")
        return
    demand(op.ret is not None and s.model.found(op.res) is None,
           "%s found something" % op.name())


@form(HEADLINES, "{A} fits into no order of {WORD} {N} operations")
@form(HEADLINES, "{A} fits into no order of the last {N} operations")
def no_order(s, A, N, WORD="these"):
    demand(N == len(s.proof), "the counterexample has %d" % len(s.proof))
    demand(WORD == "these", WORD)


@form(HEADLINES, "{A} fits into no order of {WORD} {N} operations; only {TEXT} was right")
def no_order_but(s, A, N, WORD, TEXT):
    no_order(s, A, N, WORD)
    only_right(s, A, TEXT)


@form(HEADLINES, "{A} fits into no order of the last {N} operations; only {TEXT} was right")
def no_order_of_last(s, A, N, TEXT):
    no_order_but(s, A, N, "these", TEXT)


def no_order_since(claim, look):
    """Register the forms of a headline that says what the value has to be."""
    def told(s, A, N, V, TEXT=None):
        no_order(s, A, N)
        look(s, A, V)
        if TEXT:
            only_right(s, A, TEXT)

    for which in ("these", "the last"):
        start = "{A} fits into no order of %s {N} operations, since the value %s {V} there" % (
            which, claim)
        form(HEADLINES, start)(told)
        form(HEADLINES, start + "; only {TEXT} was right")(told)


no_order_since("cannot be", lambda s, op, V: s.finds(op, V))
no_order_since("must be", lambda s, op, V: s.denies(op, V))


@form(HEADLINES, "{A} is not possible after {B}, which had returned at {N}")
def not_possible_after(s, A, B, N):
    returned(B, N)
    demand(history.before(B, A), "they overlap")
    demand({(p.thread, p.call) for p in s.proof} == {(A.thread, A.call), (B.thread, B.call)},
           "the counterexample has other operations")


@form(HEADLINES, "{A} is not possible after {B}, which had returned at {N}; only {TEXT} was right")
def not_possible_but(s, A, B, N, TEXT):
    not_possible_after(s, A, B, N)
    only_right(s, A, TEXT)


@form(HEADLINES, "{A} is not possible")
def not_possible(s, A):
    demand(not s.model.methods[A.method][0] or len(s.proof) == 1, "it is not alone")


@form(HEADLINES, "{A} is not possible; only {TEXT} was right")
def only_right(s, A, TEXT):
    demand(s.right(A) == {TEXT}, "%s were right" % s.right(A))


@form(ROLES, "fits into no order")
def role_failing(s, op):
    demand(op is s.failing, "it is another operation")


@form(ROLES, "ends the counterexample")
def role_ends(s, op):
    demand(op.index in {p.index for p in s.proof}, "it is not in the counterexample")


@form(ROLES, "was called with {V}")
def role_called_with(s, op, V):
    sizes = s.model.domains.get(op.method, ())
    demand(V in [str(a) for i, a in enumerate(op.args) if i not in sizes],
           "%s was not" % op.name())


@form(ROLES, "returned before")
def role_before(s, op):
    demand(history.before(op, s.failing), "it did not")


@form(ROLES, "was called later")
def role_later(s, op):
    demand(history.before(s.failing, op), "it was not")


@form(ROLES, "overlaps")
def role_overlaps(s, op):
    demand(not history.before(op, s.failing) and not history.before(s.failing, op),
           "it does not")


@form(ROLES, "returned what no state allows")
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

# ---- words and sets ----

@form(HEADLINES, "{A} saw {V}, which no operation writes")
@form(HEADLINES, "{A} succeeded on {V}, which no operation writes")
@form(HEADLINES, "{A} found {V}, which no operation adds")
def never_written(s, A, V):
    demand(V in map(str, A.res) or V in map(str, A.args), "%s did not" % A.name())
    if s.is_keyed():
        s.finds(A, V)
        demand(not any(V == after for op in s.ops if op is not A and not history.before(A, op)
                       for before, after in s.word_steps(op) if before != after),
               "it was written")
        demand(str(s.model.nothing) != V, "it is the first word")
    elif s.model.name == "set":
        demand(not any(op.method in ("add", "insert") and op.res != (0,) and
                       str(op.args[0]) == V for op in s.ops), "it was added")
    else:
        demand(not any(s.words_of(op, "%s = %s" % (s.model.names[0].rstrip("?"), V))
                       for op in s.ops), "it was written")


@form(FACTS, "The first state is empty")
def first_empty(s):
    demand(s.firsts == [()], "it is %s" % (s.firsts,))


@form(FACTS, "The first value is {V}")
def first_word(s, V):
    demand(s.first_words() == {V}, "it is %s" % s.first_words())


@form(ROLES, "found {V}")
@form(ROLES, "removed {V}")
def role_key(s, op, V):
    demand(V in map(str, op.args), "%s is about another key" % op.name())


@form(ROLES, "did not find {V}")
def role_missed(s, op, V):
    role_key(s, op, V)
    demand(op.res == (0,) or s.model.name == "set", "%s did" % op.name())


@form(HEADLINES, "{A} found {V}, which {B} had {WORD} by {N}")
@form(HEADLINES, "{A} did not find {V}, which {B} had {WORD} by {N}")
def presence(s, A, V, B, WORD, N):
    returned(B, N)
    demand(history.before(B, A), "they overlap")
    demand(str(A.args[0]) == str(B.args[0]) == V, "another key")
    demand({"added": B.method in ("add", "insert") and B.res == (1,),
            "removed": B.method == "remove" and B.res == (1,),
            "found": B.method in ("has", "contains") and B.res == (1,) or
            B.method == "remove" and B.res == (1,) or B.method in ("add", "insert")}[WORD],
           "%s had not" % B.name())


@form(HEADLINES, "{A} found {V}, which {B} had not found by {N}")
def presence_not(s, A, V, B, N):
    returned(B, N)
    demand(history.before(B, A), "they overlap")


@form(HEADLINES, "{A} took {V}, which was gone: {B} had taken it by {N}")
@form(HEADLINES, "{A} saw {V}, which was gone: {B} had taken it by {N}")
def saw_gone_value(s, A, V, B, N):
    role_took(s, A, V)
    role_took(s, B, V)
    returned(B, N)
    demand(history.before(B, A), "they overlap")
    demand(sum(history.before(t, A) for t in s.takes(V) if t.method != "contains" and
               t.method != "count") >= sum(not history.before(A, a) for a in s.adds(V)),
           "it may be inside")


# ---- room ----

@form(ROLES, "added a value")
@form(ROLES, "took a value")
@form(ROLES, "may have added a value")
@form(ROLES, "may have taken a value")
def role_room(s, op):
    demand(op.ret is None or op.res in ((), (0,), (1,)) or s.model.found(op.res) is not None,
           "%s did not" % op.name())


def inside_at(s, A):
    """The numbers of values that may be inside when an operation takes effect."""
    return {len(state) for state in states_at(s, A)}


@form(ROLES, "was refused")
@form(ROLES, "was accepted")
def role_push(s, op):
    demand(op is s.failing and op.ret is not None, "%s is not the one" % op.name())


@form(HEADLINES, "{A} found no room, while at most {N} of {M} values were inside")
@form(HEADLINES, "{A} found room, while at least {N} of {M} values were inside")
def room(s, A, N, M):
    refused = A.res[0] == "full" or s.model.name == "kfifo" and A.res == (0,)
    numbers = inside_at(s, A)
    demand(all(n <= N < M if refused else n >= N >= M for n in numbers), "%s are" % numbers)


@form(HEADLINES, "{A} did not find {V}, which was inside from {N} to {M}")
def missed(s, A, V, N, M):
    role_missed(s, A, V)
    returned(A, M)
    inside(s, V, A)
    demand(any(op.ret == N for op in s.adds(V)), "no addition returned at %d" % N)


# ---- counts ----

def states_at(s, A, after=None):
    """
    The states in which an operation may take effect, whatever comes after it; with @after, only
    where that operation took effect before.
    """
    if s.model.machine:
        return machine.views_at(s.model, s.ops, A, s.firsts, after)
    ops = [op for op in s.ops if op is not A and not history.before(A, op)]
    todo, seen, states = {(first, frozenset()) for first in s.firsts}, set(), set()
    while todo:
        node = todo.pop()
        seen.add(node)
        state, done = node
        left = [op for op in ops if op.index not in done]
        if not any(history.before(op, A) for op in left) and \
           (after is None or after.index in done):
            states.add(state)
        todo |= {(after_op, done | {op.index}) for op in left
                 if not any(history.before(other, op) for other in left)
                 for after_op in history.outcomes(s.model, state, op)} - seen
    return states


def shows_words(s, state, text):
    """Has a state the words: `a = 1, b = 2' or `a = 1 to 3 and b = false'?"""
    for word in re.split(", | and ", text):
        name, _, v = word.partition(" = ")
        low, _, high = v.partition(" to ")
        is_now = s.model.words(state)[name]
        if not (is_now == low or high and int(low) <= int(is_now) <= int(high)):
            return False
    return True


@form(HEADLINES, "{A} is wrong, since {TEXT} while it ran")
def wrong_count(s, A, TEXT):
    states = states_at(s, A)
    for state in states:
        demand(any(shows_words(s, state, t) for t in TEXT.split(" or ")),
               "it may be %s" % s.model.words(state))
        demand(not list(history.outcomes(s.model, state, A)), "it is possible in %s" % (state,))
    # Where the others have no order by themselves, there is no such state.
    for t in TEXT.split(" or "):
        demand(not states or any(shows_words(s, state, t) for state in states),
               "it was never %s" % t)


def was_there(s, A, TEXT):
    """Was a word there before A: at first, or since an operation certainly wrote it?"""
    return any(shows_words(s, first, TEXT) for first in s.firsts) or any(
        s.words_of(op, TEXT) for op in s.ops if history.before(op, A))


@form(HEADLINES, "{A} saw {TEXT}, which was gone: {OTHER} while it ran")
def saw_gone_word(s, A, TEXT, OTHER):
    saw_missing_word(s, A, TEXT, OTHER)
    demand(was_there(s, A, TEXT), "it never was there")


@form(HEADLINES, "{A} saw {TEXT}, which was not there: {OTHER} while it ran")
@form(HEADLINES, "{A} saw {TEXT}, which were never there together: {OTHER} while it ran")
def saw_missing_word(s, A, TEXT, OTHER):
    role_saw(s, A, TEXT)
    wrong_count(s, A, OTHER)
    demand(not any(shows_words(s, state, TEXT) for state in states_at(s, A)), "they may be there")


def could_only_see(s, A, V, TEXT):
    demand(history.words(A.res) == V, "it did not see %s" % V)
    states = states_at(s, A)
    possible = {history.words(res) for state in states
                for res, _ in s.model.step(state, A.method, A.args)}
    demand(possible == set(TEXT.split(" or ")), "it could see %s" % possible)
    demand(V not in possible, "it could see %s" % V)


def is_nowhere(s, A, V):
    demand(not any(V in map(str, state) for state in states_at(s, A)), "it was there")


def names(s, op, v):
    """May an operation store a value?"""
    domains = s.model.domains.get(op.method, {})
    return op.method not in READS and v in [str(a) for i, a in enumerate(op.args)
                                            if i not in domains]


@form(HEADLINES, "{A} saw {V}, which was gone: it could only see {TEXT}")
def returned_gone(s, A, V, TEXT):
    returned_missing(s, A, V, TEXT)
    demand(any(V in map(str, first) for first in s.firsts) or any(
        V in s.model.words(after).values() for op in s.ops if history.before(op, A)
        for after in s.states_after(op)), "it never was there")


@form(HEADLINES, "{A} saw {V}, which was not there: it could only see {TEXT}")
def returned_missing(s, A, V, TEXT):
    could_only_see(s, A, V, TEXT)
    is_nowhere(s, A, V)


@form(HEADLINES, "{A} saw {V}, though it could only see {TEXT}")
def returned_hidden(s, A, V, TEXT):
    could_only_see(s, A, V, TEXT)


@form(HEADLINES, "{A} saw {V}, which no operation wrote before: it could only see {TEXT}")
def returned_unwritten(s, A, V, TEXT):
    could_only_see(s, A, V, TEXT)
    demand(not any(V in map(str, first) for first in s.firsts), "it was there at first")
    demand(not any(names(s, op, V) for op in s.ops if not history.before(A, op)),
           "it was written")


@form(ROLES, "returned {V}")
def role_returned(s, op, V):
    demand(op.ret is not None and history.words(op.res) == V, "%s did not" % op.name())


@form(HEADLINES, "{A} is not possible in any order of the operations called before {N}")
def never_in_order(s, A, N):
    returned(A, N)
    for state in states_at(s, A):
        demand(not list(history.outcomes(s.model, state, A)), "it is possible in %s" % (state,))


@form(HEADLINES, "{A} is not possible in any order of the operations called before {N}; only "
      "{TEXT} was right")
def never_in_order_but(s, A, N, TEXT):
    never_in_order(s, A, N)
    demand(s.right(A) == set(TEXT.split(" or ")), "%s were right" % s.right(A))


@form(HEADLINES, "{A} took {V}, which was not next: only {TEXT} was right")
@form(HEADLINES, "{A} saw {V}, which was not next: only {TEXT} was right")
def not_next(s, A, V, TEXT):
    role_took(s, A, V)
    never_in_order_but(s, A, A.ret, TEXT)


@form(HEADLINES, "{A} found nothing, while a value was inside: only {TEXT} was right")
def nothing_while_inside(s, A, TEXT):
    role_nothing(s, A)
    never_in_order_but(s, A, A.ret, TEXT)
    demand(all(states_at(s, A)), "it may be empty")


def steps_at(s, A):
    """What any result would do: (state, result, state after) for each state."""
    return [(state, res, after) for state in states_at(s, A)
            for res, after in s.model.step(state, A.method, A.args)]


@form(HEADLINES, "{A} took hold while it was held: {TEXT} while it ran")
@form(HEADLINES, "{A} released what nobody held: {TEXT} while it ran")
@form(HEADLINES, "{A} took a permit, though none was left: {TEXT} while it ran")
def took_hold(s, A, TEXT):
    wrong_count(s, A, TEXT)
    demand(all(state == after for state, _, after in steps_at(s, A)), "another result is possible")


@form(HEADLINES, "{A} failed, though it could have succeeded: {TEXT} while it ran")
def failed_while_free(s, A, TEXT):
    wrong_count(s, A, TEXT)
    demand(A.res == (0,), "it did not fail")
    demand(all(res == (1,) and state != after for state, res, after in steps_at(s, A)),
           "it could not")


@form(HEADLINES, "{A} skipped {V}, which was free")
def skipped(s, A, V):
    demand(int(V) < A.res[0], "it is not less")
    only_right(s, A, V)


@form(ROLES, "left or saw {WORD} = {V}")
def role_left_or_saw(s, op, WORD, V):
    demand(history.before(op, s.failing), "it came later")
    left = {s.model.words(after)[WORD] for state in states_at(s, op)
            for after in history.outcomes(s.model, state, op)}
    demand(left <= {V}, "it left %s" % left)


@form(FACTS, "{N} earlier operation counts, too")
@form(FACTS, "{N} earlier operations count, too")
def fact_more_count(s, N):
    # The cast is full of those that do, so there are more.
    changing = [op for op in s.ops if op not in s.cast and
                any(after != state for state in s.reachable()
                    for _, after in s.model.step(state, op.method, op.args))]
    demand(s.full and 0 < N <= len(changing), "there are at most %d" % len(changing))


@form(ROLES, "needs another state")
@form(ROLES, "takes hold")
@form(ROLES, "takes a permit")
@form(ROLES, "releases")
@form(ROLES, "failed")
@form(ROLES, "counts")
@form(ROLES, "may count")
def role_counts(s, op):
    wrong = [o for o, role in zip(s.cast, s.roles) if role == "is not possible after the other"]
    demand(op is s.failing or any(not history.before(o, op) for o in wrong or [s.failing]),
           "it came later")


# ---- one operation after another ----

@form(HEADLINES, "{A} went back: {B} had returned at {N}")
def went_back(s, A, B, N):
    returned(B, N)
    demand(history.before(B, A) and A.res < B.res, "it did not")


@form(HEADLINES, "{A} gave {V} a second time; {B} had given it by {N}")
def given_again(s, A, V, B, N):
    returned(B, N)
    demand(A is not B and history.before(B, A), "they overlap")
    gave_both(s, A, B, V)


@form(HEADLINES, "{A} and {B} both gave {V}")
def gave_both(s, A, B, V):
    demand(A.res == B.res == (int(V),), "they did not")
    for x, e in ((B, A), (A, B)):
        demand(history.before(e, x) or not any(
            V in map(str, op.args) for op in s.ops if op is not A and op is not B and
            not history.before(op, x) and not history.before(e, op)),
            "somebody may have given it back")


@form(HEADLINES, "{A} is not possible in the first state, and no operation was called before {N}")
@form(HEADLINES, "{A} is not possible in any state that the operations called before {N} can make")
def never_possible(s, A, N):
    returned(A, N)
    ops = [op for op in s.ops if op is not A and not history.before(A, op)]
    todo, seen = {(first, frozenset()) for first in s.firsts}, set()
    while todo:
        node = todo.pop()
        seen.add(node)
        state, done = node
        demand(not list(history.outcomes(s.model, state, A)), "it is possible in %s" % (state,))
        todo |= {(after, done | {op.index}) for op in ops if op.index not in done
                 for after in history.outcomes(s.model, state, op)} - seen


@form(ROLES, "may have come before")
def role_maybe_before(s, op):
    demand(not history.before(s.failing, op), "it came later")


def may_be_between(s, B, A):
    return [op for op in s.ops if op is not A and op is not B and not history.before(op, B) and
            not history.before(A, op)]


def excludes(s, B, A):
    """Demand that A is impossible after B, whatever came between."""
    ops = may_be_between(s, B, A)
    first = [op for op in s.ops if op is not A and op is not B and history.before(op, B)]
    todo, seen = {(first, frozenset(), False) for first in s.firsts}, set()
    while todo:
        node = todo.pop()
        seen.add(node)
        state, done, after_b = node
        if not after_b:
            todo |= {(after, done, True) for after in history.outcomes(s.model, state, B)} - seen
            todo |= {(after, done | {op.index}, False) for op in first + ops
                     if op.index not in done
                     for after in history.outcomes(s.model, state, op)} - seen
            continue
        demand(not list(history.outcomes(s.model, state, A)),
               "%s is possible in %s" % (A.name(), state))
        todo |= {(after, done | {op.index}, True) for op in ops if op.index not in done
                 for after in history.outcomes(s.model, state, op)} - seen


@form(HEADLINES, "{A} is not possible after {B}, which had returned at {N}, whatever came between")
def cannot_follow(s, A, B, N):
    returned(B, N)
    demand(history.before(B, A), "they overlap")
    demand(may_be_between(s, B, A), "nothing could come between")
    # Either no order of these operations allows it, or no order of the history.
    try:
        excludes(s, B, A)
    except Untrue:
        never_in_order(s, A, A.ret)


@form(HEADLINES, "{A} is not possible after {B}, which had returned at {N}, with nothing between")
def cannot_follow_at_once(s, A, B, N):
    returned(B, N)
    demand(history.before(B, A), "they overlap")
    demand(not may_be_between(s, B, A), "something could come between")
    if s.model.machine:
        never_in_order(s, A, A.ret)
    else:
        excludes(s, B, A)


@form(HEADLINES, "{A} is not possible after {B}, which had returned at {N}, whatever came between; "
      "only {TEXT} was right")
def cannot_follow_but(s, A, B, N, TEXT):
    cannot_follow(s, A, B, N)
    only_right(s, A, TEXT)


@form(HEADLINES, "{A} is not possible after {B}, which had returned at {N}, with nothing between; "
      "only {TEXT} was right")
def cannot_follow_at_once_but(s, A, B, N, TEXT):
    cannot_follow_at_once(s, A, B, N)
    only_right(s, A, TEXT)


@form(HEADLINES, "{A} and {B} cannot both be right: neither can follow the other, whatever came "
      "between")
def exclude_each_other(s, A, B):
    demand(not history.before(A, B) and not history.before(B, A), "they do not overlap")
    for x, e in ((A, B), (B, A)):
        states = states_at(s, e, x)
        demand(not any(list(history.outcomes(s.model, state, e)) for state in states),
               "%s is possible in %s" % (e.name(), states))


@form(ROLES, "is not possible")
@form(ROLES, "is not possible after the other")
@form(ROLES, "came before")
@form(ROLES, "may have come between")
def role_in_order(s, op):
    """The headline says of which other operation."""


# ---- the word under a key ----

def between(s, B, A, N):
    returned(B, N)
    demand(history.before(B, A), "they overlap")


@form(HEADLINES, "{A} found nothing, although {B} had put {V} there by {N}")
def nothing_there(s, A, B, V, N):
    between(s, B, A, N)
    s.finds(A, "nothing")
    s.shows(B, V)


@form(HEADLINES, "{A} found nothing, although {B} had seen another value by {N}")
@form(HEADLINES, "{A} found nothing, although {B} had found a value there by {N}")
def nothing_now(s, A, B, N):
    between(s, B, A, N)
    s.finds(A, "nothing")
    s.denies(B, "nothing")


@form(HEADLINES, "{A} saw {V}, which {B} had removed by {N}")
@form(HEADLINES, "{A} succeeded on {V}, which {B} had removed by {N}")
@form(HEADLINES, "{A} saw {V}, although {B} had found nothing by {N}")
@form(HEADLINES, "{A} succeeded on {V}, although {B} had found nothing by {N}")
def saw_removed(s, A, B, V, N):
    between(s, B, A, N)
    s.finds(A, V)
    s.shows(B, "nothing")


@form(HEADLINES, "{A} is wrong, since the value was {V} from {M} to {N}")
@form(HEADLINES, "{A} is wrong, since nothing was there from {M} to {N}")
def unchanged(s, A, M, N, V="nothing"):
    returned(A, N)
    s.denies(A, V)
    shown = [op for op in s.cast if op.ret == M]
    demand(len(shown) == 1 and history.before(shown[0], A), "nobody returned at %s" % M)
    s.shows(shown[0], V)


@form(HEADLINES, "{A} is wrong, since the value was {V} until {N}")
@form(HEADLINES, "{A} is wrong, since nothing was there until {N}")
def never_changed(s, A, N, V="nothing"):
    returned(A, N)
    s.denies(A, V)
    demand(s.first_words() == {V}, "the first is another")


@form(ROLES, "found a value")
@form(ROLES, "found another value than {V}")
def role_denies(s, op, V="nothing"):
    s.denies(op, V)


@form(ROLES, "may have left {V}")
def role_may_leave(s, op, V):
    if s.is_word():
        s.leaves(op, V)
    else:
        demand(V in map(str, op.args), "%s is about another key" % op.name())


@form(ROLES, "left nothing")
def role_left_nothing(s, op):
    s.leaves(op, "nothing")


@form(HEADLINES, "{A} and {B} both put a value where there was none")
def both_put(s, A, B):
    demand(A is not B, "they are one operation")
    for op in (A, B):
        s.finds(op, "nothing")


@form(HEADLINES, "{A} saw {V}, which {B} had overwritten by {N}")
@form(HEADLINES, "{A} succeeded on {V}, which {B} had overwritten by {N}")
def overwritten(s, A, V, B, N):
    returned(B, N)
    demand(history.before(B, A), "they overlap")
    if s.is_word():
        s.finds(A, V)
        demand(V not in {after for _, after in s.word_steps(B)}, "%s may leave it" % B.name())
        return
    demand(V in map(str, A.res) or V in map(str, A.args), "%s did not" % A.name())


@form(HEADLINES, "{A} saw {V}, although {B} had seen another value by {N}")
@form(HEADLINES, "{A} succeeded on {V}, although {B} had seen another value by {N}")
def seen_other(s, A, V, B, N):
    returned(B, N)
    demand(history.before(B, A), "they overlap")
    if s.is_word():
        s.finds(A, V)
        s.denies(B, V)
        return
    demand(V in map(str, A.res) or V in map(str, A.args), "%s did not" % A.name())
    demand(V not in map(str, B.res), "%s saw it" % B.name())


@form(HEADLINES, "{A} saw {V}, which no operation can have written")
@form(HEADLINES, "{A} succeeded on {V}, which no operation can have written")
def cannot_have_written(s, A, V):
    s.finds(A, V)
    demand(V not in s.first_words(), "it is the first")
    demand(not s.may_leave(V, None, A), "somebody can")


@form(HEADLINES, "{A} succeeded on {V} and returned at {N}, before {B} was called at {M}")
@form(HEADLINES, "{A} found nothing and returned at {N}, before {B} was called at {M}")
@form(HEADLINES, "{A} found {V} and returned at {N}, before {B} was called at {M}")
@form(HEADLINES, "{A} did not find {V} and returned at {N}, before {B} was called at {M}")
def written_later(s, A, N, B, M, V="nothing"):
    fact_before(s, A, N, B, M)
    if s.is_word():
        s.finds(A, V)
        demand(V not in s.first_words(), "it is the first")
    demand(not s.may_leave(V, None, A), "it may have been left before")
    if s.is_word():
        s.leaves(B, V)


@form(FACTS, "{A} needs {V}, which the value cannot have been between them")
@form(FACTS, "{A} needs {V}, which the value cannot have been before")
def needs(s, A, V):
    demand({before for before, after in s.word_steps(A) if before != after} == {V},
           "%s does not need %s" % (A.name(), V))


@form(ROLES, "needs {V} first")
def role_needs(s, op, V):
    needs(s, op, V)


@form(FACTS, "Between {A}, called at {M}, and {B}, called at {N}, only {TEXT} can have {WORD} {V}")
@form(FACTS, "Before {B}, called at {N}, only {TEXT} can have {WORD} {V}")
def only_between(s, B, N, TEXT, WORD, V, A=None, M=None):
    called(B, N)
    if s.is_word():
        s.finds(B, V)
    if A:
        called(A, M)
        demand(history.before(A, B), "they overlap")
        demand(not s.is_word() or V not in {after for _, after in s.word_steps(A)},
               "%s may leave it" % A.name())
    else:
        demand(not s.is_word() or V not in s.first_words(), "%s is the first" % V)
    named = {op.name() for i in re.findall(r"<(\d+)>", TEXT) for op in s.named[int(i)]}
    can = {op.name() for op in s.may_leave(V, A, B)}
    demand(can <= named, "so can %s" % sorted(can - named))


@form(HEADLINES, "{A} had taken effect before, since {B} {TEXT} by {N}")
def spent(s, A, B, TEXT, N):
    returned(B, N)
    demand(history.before(B, s.failing), "it ended too late")
    others = [op for op in s.ops if op is not A and not history.before(B, op)]
    demand(not s.orders(others), "%s does not need it" % B.name())
    s.look_at_role(B, TEXT)


@form(HEADLINES, "it was {WORD} {N} times after {TEXT}, but only {M} operations can have {OTHER} "
      "it in time")
def came_back(s, WORD, N, TEXT, M, OTHER):
    demand(N > M > 1, "the numbers do not contradict")


@form(ROLES, "saw another value")
def role_other(s, op):
    demand(op.ret is not None, "%s has not returned" % op.name())


# ---- states of some words ----

@form(ROLES, "saw values of different writes")
@form(ROLES, "saw values that were gone")
@form(ROLES, "left or saw other values")
@form(ROLES, "left the values that were seen")
def role_words(s, op):
    demand(op.ret is not None or op.method not in READS, "%s saw nothing" % op.name())


@form(ROLES, "changed {TEXT}")
def role_changed(s, op, TEXT):
    if s.is_keyed():
        s.finds(op, TEXT)
        return
    s.agree([state for state in s.states_before(op)
             if state not in s.model_after(op, state)], TEXT)


@form(ROLES, "left {TEXT}")
@form(ROLES, "made it {TEXT}")
def role_left(s, op, TEXT):
    s.agree(s.states_after(op), TEXT)


@form(ROLES, "saw {TEXT}")
def role_saw(s, op, TEXT):
    s.agree(s.states_before(op), TEXT)


@form(HEADLINES, "{A} and {B} both changed {TEXT}")
@form(HEADLINES, "{A} and {B} both changed the value from {V}")
def both_changed(s, A, B, TEXT=None, V=None):
    demand(A is not B, "they are one operation")
    for op in (A, B):
        role_changed(s, op, TEXT or V)


@form(HEADLINES, "{A} and {B} both {WORD} {V}")
def both_added(s, A, B, WORD, V):
    demand(A is not B and str(A.args[0]) == str(B.args[0]) == V, "not of one key")
    demand(A.res == B.res == (1,), "one of them changed nothing")
    demand((WORD == "removed") == (A.method == B.method == "remove"), WORD)


@form(FACTS, "No operation {WORD} {V} between them")
@form(FACTS, "No operation makes it {TEXT} again")
@form(FACTS, "No operation makes it {TEXT} between them")
@form(FACTS, "The value can have been {V} only once")
@form(FACTS, "No operation changes it between them")
@form(FACTS, "No operation changes it before")
@form(FACTS, "No operation left these values together")
def supported(s, **words):
    """The cast alone has no order, and it has all operations that could matter here."""


@form(HEADLINES, "{N} operations {WORD} {V}, which can have been {TEXT} {M} times")
@form(HEADLINES, "{N} operations put a value where there was none, which can have been so {M} times")
@form(HEADLINES, "{N} operations changed the value from {V}, which it can have been {M} times")
@form(HEADLINES, "{N} operations changed {TEXT}, which can have been so {M} times")
def changed_times(s, N, M, **words):
    demand(N > M, "the numbers do not contradict")


@form(HEADLINES, "{A} saw what {B} had left, although {C} showed other values by {N}")
def saw_gone(s, A, B, C, N):
    returned(C, N)
    demand(history.before(B, C) and history.before(C, A), "they overlap")
    demand(set(s.states_after(B)) & set(s.states_before(A)), "%s did not" % A.name())
    demand(not set(s.states_after(C)) & set(s.states_before(A)), "%s saw them" % C.name())


@form(FACTS, "The first state had gone by {N}, with {A}")
def first_gone(s, N, A):
    if not s.model.machine or A.ret == N:
        returned(A, N)
    else:
        demand(machine.left_before(s.model, s.ops, A, s.failing) and
               any(N in (op.ret, op.drain) for op in s.cast), "its store may wait")


@form(HEADLINES, "{A} saw {TEXT} of the first state, which had gone by {N}, with {B}")
def saw_first(s, A, TEXT, N, B):
    role_saw(s, A, TEXT)
    first_gone(s, N, B)
    demand(history.before(B, A), "they overlap")
    demand(all(not list(history.outcomes(s.model, first, B)) or first not in s.states_after(B)
               for first in s.firsts if shows_words(s, first, TEXT)),
           "%s leaves the first state" % B.name())


@form(HEADLINES, "{A} saw {TEXT}, which no operation wrote before")
def saw_unwritten(s, A, TEXT):
    role_saw(s, A, TEXT)
    for word in TEXT.split(", "):
        name, v = word.split(" = ")
        demand(not any(s.model.words(after).get(name) == v for op in s.ops
                       if op is not A and not history.before(A, op) for state in s.reachable()
                       if s.model.words(state).get(name) != v
                       for after in history.outcomes(s.model, state, op)), "it was written")


@form(HEADLINES, "{A} saw {TEXT}, which no operation wrote before; the first state had gone by "
                 "{N}, with {B}")
def saw_unwritten_later(s, A, TEXT, N, B):
    saw_unwritten(s, A, TEXT)
    saw_first(s, A, TEXT, N, B)


# ---- containers, again ----

@form(HEADLINES, "{A} took {V}, which was never added")
@form(HEADLINES, "{A} saw {V}, which was never added")
def never_added(s, A, V):
    role_took(s, A, V)
    demand(not s.adds(V), "%s was added" % V)


@form(FACTS, "No operation adds {V}, and the first state is empty")
def fact_never_added(s, V):
    demand(not s.adds(V), "%s was added" % V)
    demand(s.firsts == [()], "the first state is not empty")


@form(FACTS, "{A}, the {WORD} addition of {V}, was called at {M}")
def fact_addition(s, A, WORD, V, M):
    called(A, M)
    adds = s.adds(V)
    demand(A in adds and A.call == min(op.call for op in adds), "an earlier one is there")
    demand((WORD == "only") == (len(adds) == 1), "%d additions" % len(adds))


@form(HEADLINES, "{A} took {V} and returned at {N}, before {B} was called at {M}")
@form(HEADLINES, "{A} saw {V} and returned at {N}, before {B} was called at {M}")
def added_later(s, A, V, N, B, M):
    if s.is_word():
        written_later(s, A, N, B, M, V)
        return
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
    states = s.reachable()
    demand(not any(res == A.res for state in states
                   for res, _ in s.model.step(state, A.method, A.args)), "a state allows it")


# ---- store buffers ----

def same_thread(A, B):
    demand(A.thread == B.thread, "they are of different threads")


def store_left(s, A, B, N):
    """The store of B had left by N, which is before A."""
    demand(any(N in (op.ret, op.drain) and op.thread == B.thread for op in s.cast),
           "nothing happened at %d" % N)
    demand(machine.left_before(s.model, s.ops, B, A), "the store of %s may wait" % B.name())


def overwrites(s, A, TEXT, B):
    role_saw(s, A, TEXT)
    name, v = TEXT.split(" = ")
    demand(all(s.model.words(after)[name] != v for after in s.states_after(B)),
           "%s may leave it" % B.name())


@form(HEADLINES, "{A} saw {TEXT}, which {B} had overwritten: its store had left the store "
      "buffer by {N}")
def overwritten_in_memory(s, A, TEXT, B, N):
    overwrites(s, A, TEXT, B)
    store_left(s, A, B, N)


@form(HEADLINES, "{A} saw {TEXT}, which {B} of the same thread had overwritten by {N}")
def overwritten_by_own(s, A, TEXT, B, N):
    between(s, B, A, N)
    same_thread(A, B)
    overwrites(s, A, TEXT, B)


@form(HEADLINES, "{A} saw {TEXT}, although {B} of the same thread had seen {OTHER} by {N}")
@form(HEADLINES, "{A} saw {TEXT}, although {B} had seen {OTHER} in memory by {N}")
def saw_another(s, A, TEXT, B, OTHER, N):
    between(s, B, A, N)
    role_saw(s, A, TEXT)
    role_saw(s, B, OTHER)
    demand(TEXT != OTHER, "it is the same")


def forbids(s, A, TEXT):
    """A is not possible with any of the words."""
    for word in TEXT.split(" or "):
        name, v = word.split(" = ")
        demand(all(s.model.words(state)[name] != v for state in s.states_before(A)),
               "%s is possible at %s" % (A.name(), word))


@form(HEADLINES, "{A} is wrong, since it found {TEXT}: the store of {B} had left the store buffer "
      "by {N}")
def forbidden_in_memory(s, A, TEXT, B, N):
    forbids(s, A, TEXT)
    store_left(s, A, B, N)
    role_left(s, B, TEXT.split(" or ")[0])


@form(HEADLINES, "{A} is wrong, since it found {TEXT}: {B} of the same thread had stored by {N}")
def forbidden_by_own(s, A, TEXT, B, N):
    between(s, B, A, N)
    same_thread(A, B)
    forbids(s, A, TEXT)
    role_left(s, B, TEXT.split(" or ")[0])


@form(HEADLINES, "{A} is wrong, since it found {TEXT}: {B} of the same thread had seen {OTHER} by "
      "{N}")
@form(HEADLINES, "{A} is wrong, since it found {TEXT}: {B} had seen {OTHER} in memory by {N}")
def forbidden_by_sight(s, A, TEXT, B, OTHER, N):
    between(s, B, A, N)
    forbids(s, A, TEXT)
    role_saw(s, B, OTHER)
    demand(TEXT.split(" or ")[0] == OTHER, "it saw %s" % OTHER)


@form(HEADLINES, "{A} is wrong, since it found {TEXT}: no other value was stored before")
def forbidden_at_first(s, A, TEXT):
    forbids(s, A, TEXT)
    for state in states_at(s, A):
        words = s.model.words(state)
        demand(any(words[w.split(" = ")[0]] == w.split(" = ")[1] for w in TEXT.split(" or ")),
               "it may find %s" % words)


@form(FACTS, "A locked instruction finds and changes memory")
def fact_locked(s):
    for op in [op for op, role in zip(s.cast, s.roles) if role.startswith("changed")]:
        demand(s.model.buffers.is_barrier(op.method, op.res) and
               not s.model.buffers.waits(op.method), "%s is none" % op.name())


@form(ROLES, "stored {TEXT}")
def role_stored(s, op, TEXT):
    role_left(s, op, TEXT)


@form(ROLES, "may have stored {TEXT}")
def role_may_have_stored(s, op, TEXT):
    name, v = TEXT.split(" = ")
    # It may store the word that it found, whether this word can be there or not.
    slots = [i for i, n in enumerate(s.model.names) if n.rstrip("?") == name]
    states = [machine.with_word(s.model, state, i, a) for state in s.reachable() for i in slots
              for a in op.args] + list(s.reachable())
    demand(any(s.model.words(after)[name] == v for state in states
               for after in history.outcomes(s.model, state, op)),
           "%s cannot leave it" % op.name())


@form(ROLES, "began with an empty store buffer")
def role_fence(s, op):
    demand(s.model.buffers.is_barrier(op.method, op.res), "%s did not" % op.name())


@form(ROLES, "was followed by a drain")
def role_drain(s, op):
    demand(op.drain is not None, "%s was not" % op.name())


@form(FACTS, "The drain after {A} was at {N}")
def fact_drain(s, A, N):
    demand(A.drain == N, "it was at %s" % A.drain)


@form(FACTS, "The drain after {A} was at {N}; {B} of the same thread had returned at {M}, before "
      "it was called")
def fact_later_drain(s, A, N, B, M):
    fact_drain(s, A, N)
    same_thread(A, B)
    between(s, B, A, M)


@form(FACTS, "{A} began with an empty store buffer, and returned at {N}; {B} of the same thread "
      "had returned at {M}, before it was called")
def fact_fence(s, A, N, B, M):
    role_fence(s, A)
    returned(A, N)
    same_thread(A, B)
    between(s, B, A, M)


@form(FACTS, "{A} leaves nothing in the store buffer, and returned at {N}")
def fact_through(s, A, N):
    role_fence(s, A)
    returned(A, N)
    demand(not s.model.buffers.waits(A.method), "it may")


@form(FACTS, "{A} and then {B} are of one thread, whose stores leave in order")
def fact_in_order(s, A, B):
    same_thread(A, B)
    demand(history.before(A, B), "they overlap")


@form(FACTS, "A thread sees its own stores at once")
def fact_own(s):
    """So it does, by the definition of the machine."""


def look_at_waited(model, ops, firsts, waited):
    """A store that was in the buffer when another operation saw another word."""
    store, reader = ([op for op in ops if op.index == waited[k]][0] for k in ("store", "seen_by"))
    words = re.fullmatch("Only the store buffer explains it: in the order that was found, %s saw "
                         "(.*) while the store of %s was still in the buffer" %
                         (re.escape(reader.name()), re.escape(store.name())), waited["sentence"])
    demand(words, waited["sentence"])
    Scene(model, ops, ops, [reader]).look_at_role(reader, "saw " + words[1])
    demand(not history.orders(model, ops, firsts=firsts), "there is an order without buffers")
    demand(machine.orders(model, ops, None, firsts, (store, reader)), "no order has the store wait")
