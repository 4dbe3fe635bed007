# SPDX-License-Identifier: GPL-2.0
"""
What each shipped specification allows, said a second time and without klin: a state machine for
each, whose states are tuples.  step() gives all results and next states of a call.
"""
import copy
import itertools

import history
import machine

EMPTY, FULL, ABSENT = "empty", "full", "absent"
WORDS = 1 << 64
KEYS = (1, 2)   # of random operations


class Model:
    """
    A structure.  @methods: for each method the number of its arguments and its step, a function
    of state and arguments that gives a list of (results, next state); an empty list means that
    the call has to wait.  @key: the position of the argument by which klin splits an object.
    @nothing: the word under a key that nobody wrote, or ABSENT, in a map with keys.
    @found: gives the value that results name, or None for nothing.  @names: of the words that are
    the state, with `?' for one that is a truth value.  @flags: further methods whose result is one.
    @guess: the first states of some operations, if it is unknown, as it always is if @vague.
    """

    def __init__(self, name, init, methods, key=None, values=4, rare=(),
                 found=lambda res: None if res[0] in (EMPTY, ABSENT) else res[0], names=(),
                 flags=(), nothing=None, buffers=None, guess=None, domains=None, vague=False):
        self.nothing, self.vague = nothing, vague
        self.buffers, self.guess, self.domains = buffers, guess, domains or {}
        self.machine, self.error, self.fresh, self.crashes = False, False, True, False
        self.name, self.init, self.methods = name, init, methods
        self.key, self.values, self.rare, self.found = key, values, rare, found
        self.names, self.flags = names, flags

    def words(self, state):
        """The words of a state as klin prints them, by name."""
        if self.nothing is not None:
            return {self.names[0] % k: self.under(state, k) for k in KEYS}
        return {name.rstrip("?"): history.word(v) if name[-1] != "?" else "true" if v else "false"
                for name, v in zip(self.names, state)}

    def under(self, state, key):
        """The word under a key as klin prints it."""
        v = dict(state).get(key, self.nothing)
        return "nothing" if v == ABSENT else str(v)

    def step(self, state, method, args):
        return self.methods[method][1](state, *args)

    def variant(self, how):
        """
        The model for histories with store buffers, clock error, an unknown first state, or many
        operations that never returned.
        """
        model = copy.copy(self)
        model.machine = "tso" in how
        model.error = "error" in how
        model.fresh = not self.vague and "any" not in how
        model.crashes = "crashes" in how
        return model

    def firsts(self, ops):
        return [self.init] if self.fresh else self.guess(ops)

    def orders(self, ops, want=None, firsts=None):
        """Have the operations an order?  See history.orders() and machine.orders()."""
        search = machine.orders if self.machine else history.orders
        return search(self, ops, want, firsts or self.firsts([*ops, want] if want else ops))

    def random_ops(self, rng, obj):
        return (machine if self.machine else history).random_ops(rng, self, obj)


def replace(state, i, v):
    return state[:i] + (v,) + state[i + 1:]


def look(table, k, default):
    return dict(table).get(k, default)


def put(table, k, v):
    d = dict(table)
    d[k] = v
    return tuple(sorted(d.items()))


def drop(table, k):
    d = dict(table)
    d.pop(k, None)
    return tuple(sorted(d.items()))


def one(result, state):
    return [((result,), state)]


def none(state):
    return [((), state)]


# ---- unknown first states: all that operations can tell from each other ----

def found_words(ops):
    """The same without the arguments."""
    words = {v for op in ops for v in op.res or () if isinstance(v, int)}
    return words | {max(named_words(ops)) }


def guess_contents(most=0, last=False):
    """
    Sequences of values: at the end that removals take from, each that they may find; further
    values are all alike.  If @most values fit, their number matters, too.  klin begins with more
    than fit, too.
    """
    def guess(ops):
        n = sum(not op.args for op in ops)
        other = max(named_words(ops))
        firsts = [front for k in range(n + 1)
                  for front in itertools.product(sorted(found_words(ops)), repeat=k)]
        if most:
            firsts += [front + (other,) * k for front in firsts if len(front) == n
                       for k in range(1, most + 2)]
        return [front[::-1] for front in firsts] if last else firsts
    return guess


def guess_sorted(ops):
    return sorted({tuple(sorted(front)) for front in guess_contents()(ops)})


def guess_numbers(ops):
    """Numbers near those that operations tell, less what they add."""
    sums, told = {0}, {0} | {v for op in ops for v in op.res or () if isinstance(v, int)}
    for op in ops:
        sums |= {a + b for a in sums for b in op.args}
    return [(n,) for n in sorted({(w - a + k) % WORDS for w in told for a in sums
                                  for k in range(-len(ops) - 1, len(ops) + 2)})]


def guess_bools(n):
    return lambda ops: list(itertools.product((0, 1), repeat=n))


def guess_holders(ops):
    """A number, and a truth value beside it."""
    return [(n % WORDS, b) for n in range(-len(ops) - 1, len(ops) + 2) for b in (0, 1)]


def guess_table(nothing):
    """Tables of the keys that operations name."""
    def guess(ops):
        keys = sorted({op.args[0] for op in ops})
        words = [nothing] * (nothing == ABSENT) + sorted(named_words(ops) | {0})
        return [tuple((k, w) for k, w in zip(keys, found) if w != ABSENT)
                for found in itertools.product(words, repeat=len(keys))]
    return guess


def guess_set(ops):
    """Sets of what operations name."""
    words = sorted({v for op in ops for v in [*op.args, *(op.res or ())] if isinstance(v, int)})
    return [tuple(c) for n in range(len(words) + 1) for c in itertools.combinations(words, n)]


def guess_bag(ops):
    """Bags of what operations name, each some times."""
    words = sorted({op.args[0] for op in ops})
    most = max([r for op in ops for r in op.res or () if isinstance(r, int)], default=0)
    return [tuple(w for w, n in zip(words, found) for _ in range(n)) for found in
            itertools.product(range(max(len(ops), most) + 1), repeat=len(words))]


def guess_identifiers(ops):
    """Sets of identifiers up to the largest that is named, and the next ones: klin tells four."""
    top = max([v for op in ops for v in [*op.args, *(op.res or ())] if isinstance(v, int)],
              default=0)
    return [c + tuple(range(top + 1, top + 1 + k)) for n in range(top + 2)
            for c in itertools.combinations(range(top + 1), n) for k in range(5)]


# ---- containers ----

def take_first(s):
    return one(s[0], s[1:]) if s else one(EMPTY, s)


def take_last(s):
    return one(s[-1], s[:-1]) if s else one(EMPTY, s)


queue = Model("queue", (), {
    "enq": (1, lambda s, v: none(s + (v,))),
    "deq": (0, take_first),
    "peek": (0, lambda s: one(s[0] if s else EMPTY, s)),
}, guess=guess_contents())
stack = Model("stack", (), {
    "push": (1, lambda s, v: none(s + (v,))),
    "pop": (0, take_last),
}, guess=guess_contents(last=True))
pqueue = Model("pqueue", (), {
    "push": (1, lambda s, v: none(tuple(sorted(s + (v,))))),
    "pop": (0, take_first),
}, guess=guess_sorted)
deque = Model("deque", (), {
    "push_front": (1, lambda s, v: none((v,) + s)),
    "push_back": (1, lambda s, v: none(s + (v,))),
    "pop_front": (0, take_first),
    "pop_back": (0, take_last),
})
bounded_queue = Model("bounded_queue", (), {
    "enq": (1, lambda s, v: one(FULL, s) if len(s) == 4 else one(0, s + (v,))),
    "deq": (0, take_first),
}, guess=guess_contents(4))
kfifo = Model("kfifo", (), {
    "put": (1, lambda s, v: one(0, s) if len(s) == 8 else one(1, s + (v,))),
    "get": (0, lambda s: [((1, s[0]), s[1:])] if s else [((0, 0), s)]),
}, found=lambda res: res[1] if res[0] else None, flags=("put",), guess=guess_contents(8))
llist = Model("llist", (), {
    "push": (1, lambda s, v: none(s + (v,))),
    "pop": (0, lambda s: [((1, s[-1]), s[:-1])] if s else [((0, 0), s)]),
}, found=lambda res: res[1] if res[0] else None, guess=guess_contents(last=True))
stack_height = Model("stack_height", (), {
    "push": (1, lambda s, v: one(len(s) + 1, s + (v,))),
    "pop": (0, lambda s: [((s[-1] if s else EMPTY, len(s)), s[:-1])]),
})
pipe = Model("pipe", (), {
    "write": (1, lambda s, v: none(s + (v,))),
    "read": (0, take_first),
}, guess=guess_contents())
unix_dgram = Model("unix_dgram", (), {
    "send": pipe.methods["write"],
    "receive": pipe.methods["read"],
}, guess=guess_contents())


def bpf_push(s, v, most, replace):
    if len(s) == most and not replace:
        return one(FULL, s)
    return one(0, (s[1:] if len(s) == most else s) + (v,))


bpf_queue = Model("bpf_queue", (), {
    "push": (3, bpf_push),
    "pop": (0, take_first),
    "peek": (0, lambda s: one(s[0] if s else EMPTY, s)),
}, domains={"push": {1: (2,), 2: (0, 0, 1)}})
bpf_stack = Model("bpf_stack", (), {
    "push": (2, lambda s, v, most: one(FULL, s) if len(s) == most else one(0, s + (v,))),
    "pop": (0, take_last),
    "peek": (0, lambda s: one(s[-1] if s else EMPTY, s)),
}, domains={"push": {1: (3,)}})


def mq_send(s, v, priority, most):
    """Messages are pairs, those of high priority first."""
    if len(s) == most:
        return one(FULL, s)
    at = sum(p >= priority for p, _ in s)
    return one(0, s[:at] + ((priority, v),) + s[at:])


mqueue = Model("mqueue", (), {
    "send": (3, mq_send),
    "receive": (0, lambda s: one(s[0][1], s[1:]) if s else one(EMPTY, s)),
}, domains={"send": {1: (0, 1, 3), 2: (3,)}})


# ---- sets and maps ----

def set_add(s, k):
    return one(0, s) if k in s else one(1, tuple(sorted(s + (k,))))


def set_remove(s, k):
    return one(1, tuple(x for x in s if x != k)) if k in s else one(0, s)


def set_has(s, k):
    return one(int(k in s), s)


set_ = Model("set", (), {
    "add": (1, set_add), "remove": (1, set_remove), "has": (1, set_has),
    "insert": (1, set_add), "contains": (1, set_has),
}, key=0, values=2, flags=("remove",), guess=guess_set)


def bag_remove(s, v):
    if v not in s:
        return one(0, s)
    at = s.index(v)
    return one(1, s[:at] + s[at + 1:])


multiset = Model("multiset", (), {
    "add": (1, lambda s, v: none(tuple(sorted(s + (v,))))),
    "remove": (1, bag_remove),
    "contains": (1, set_has),
    "count": (1, lambda s, v: one(s.count(v), s)),
}, key=0, values=2, flags=("remove",), guess=guess_bag)

map_ = Model("map", (), {
    "put": (2, lambda s, k, v: none(put(s, k, v))),
    "get": (1, lambda s, k: one(look(s, k, ABSENT), s)),
    "remove": (1, lambda s, k: one(look(s, k, ABSENT), drop(s, k))),
    "has": (1, lambda s, k: one(int(look(s, k, ABSENT) != ABSENT), s)),
    "contains": (1, lambda s, k: one(int(look(s, k, ABSENT) != ABSENT), s)),
    "insert": (2, lambda s, k, v: one(1, put(s, k, v)) if look(s, k, ABSENT) == ABSENT
               else one(0, s)),
    "cas": (3, lambda s, k, a, b: one(1, put(s, k, b)) if look(s, k, ABSENT) == a
            else one(0, s)),
}, key=0, values=3, nothing=ABSENT, guess=guess_table(ABSENT))


def append(n):
    """append(k, old..., new..., other) writes new after old, and other after any other word."""
    def step(s, k, *words):
        was = look(s, k, 0)
        for i in range(0, 2 * n, 2):
            if was == words[i]:
                return none(put(s, k, words[i + 1]))
        return none(put(s, k, words[-1]))
    return (2 + 2 * n, step)


kv = Model("kv", (), {
    "put": map_.methods["put"], "get": map_.methods["get"], "remove": map_.methods["remove"],
    "append0": (2, lambda s, k, v: none(s)),
    "append": append(1), "append2": append(2), "append3": append(3),
}, key=0, values=3, rare=("append0", "append", "append2", "append3"), nothing=ABSENT,
    guess=guess_table(ABSENT))
array = Model("array", (), {
    "read": (1, lambda s, i: one(look(s, i, 0), s)),
    "write": (2, lambda s, i, v: none(put(s, i, v))),
}, key=0, values=3, nothing=0, names=("a[%d]",), buffers=machine.Buffers(
    plain={"write": lambda i, v: (i,)}, reads={"read"}), guess=guess_table(0))
xarray = Model("xarray", (), {
    "load": (1, lambda s, k: one(look(s, k, 0), s)),
    "store": (2, lambda s, k, v: one(look(s, k, 0), put(s, k, v))),
    "erase": (1, lambda s, k: one(look(s, k, 0), put(s, k, 0))),
    "cas": (3, lambda s, k, a, b: one(1, put(s, k, b)) if look(s, k, 0) == a else one(0, s)),
}, key=0, values=3, nothing=0, names=("at[%d]",), guess=guess_table(0))
rhashtable = Model("rhashtable", (), {
    "insert": (2, lambda s, k, v: one(1, put(s, k, v)) if look(s, k, 0) == 0 else one(0, s)),
    "remove": (1, lambda s, k: one(1, put(s, k, 0)) if look(s, k, 0) else one(0, s)),
    "lookup": (1, lambda s, k: one(look(s, k, 0), s)),
}, key=0, values=3, flags=("remove",), nothing=0, names=("at[%d]",), guess=guess_table(0))


# ---- words ----

def named_words(ops):
    """All words that operations name, and one more."""
    words = {v for op in ops for v in [*op.args, *(op.res or ())] if isinstance(v, int)}
    return words | {max(words, default=0) + 1}


def guess_words(ops):
    """Sums of what is added make further words."""
    words = named_words(ops)
    for op in ops:
        if op.method == "fetch_add":
            words |= {(w - op.args[0]) % WORDS for w in words}
    return [(w,) for w in sorted(words)]


def guess_pairs(ops):
    return [(a, b) for a in sorted(named_words(ops)) for b in sorted(named_words(ops))]


register = Model("register", (0,), {
    "read": (0, lambda s: one(s[0], s)),
    "write": (1, lambda s, v: none((v,))),
    "cas": (2, lambda s, a, b: one(1, (b,)) if s[0] == a else one(0, s)),
    "fetch_add": (1, lambda s, n: one(s[0], (s[0] + n,))),
}, rare=("fetch_add",), names=("x",), buffers=machine.Buffers(
    plain={"write": lambda v: (0,)}, reads={"read"}), guess=lambda ops: guess_words(ops))
pair = Model("pair", (0, 0), {
    "read": (0, lambda s: [(s, s)]),
    "write": (2, lambda s, a, b: none((a, b))),
}, names=("a", "b"), guess=guess_pairs)
seqlock = Model("seqlock", (0, 0), pair.methods, names=("x1", "x2"), buffers=machine.Buffers(
    plain={"write": lambda a, b: (0, 1)}, fences={"write"}, reads={"read"}), guess=guess_pairs)
counter = Model("counter", (0,), {
    "inc": (0, lambda s: one(s[0], ((s[0] + 1) % WORDS,))),
    "get": (0, lambda s: one(s[0], s)),
}, names=("n",), guess=guess_numbers)
refsum = Model("refsum", (1,), {
    "get": (0, lambda s: none(((s[0] + 1) % WORDS,))),
    "put": (0, lambda s: one(int(s[0] == 1), ((s[0] - 1) % WORDS,))),
}, names=("n",), guess=guess_numbers)
clock = Model("clock", (0,), {
    # The results that a person would try; any other is larger than these, or like one of them.
    "read": (0, lambda s: [((t,), (t,)) for t in range(s[0], 12)]),
}, names=("now",), guess=lambda ops: [
    (t,) for t in sorted(named_words(ops) | {0})])
coarse = Model("coarse", (0,), clock.methods, names=("now",), guess=clock.guess)


bpf_lpm = Model("bpf_lpm", (0,) * 5, {
    "update": (2, lambda s, i, v: none(replace(s, i, v))),
    "remove": (1, lambda s, i: none(replace(s, i, 0))),
    "lookup": (0, lambda s: one(next((v for v in reversed(s) if v), s[0]), s)),
}, names=tuple("at[%d]" % i for i in range(5)), values=3,
    domains={"update": {0: range(5)}, "remove": {0: range(5)}}, buffers=machine.Buffers(
        plain={"update": lambda i, v: (i,), "remove": lambda i: (i,)},
        fences={"update", "remove"}, reads={"lookup"}))


HASH_KEYS = 2
DONE, REFUSED, NONE, THERE = 0, 1, 2, 17


def hash_put(s, k, words):
    """The words under a key: whether it is there, and the first and the last word of its value."""
    return s[:3 * (k - 1)] + words + s[3 * k:]


def hash_update(s, k, a, b, flags):
    has = s[3 * (k - 1)]
    if flags & 1 and has:
        return one(THERE, s) + one(REFUSED, s)
    if flags & 2 and not has:
        return one(NONE, s) + one(REFUSED, s)
    return one(DONE, hash_put(s, k, (1, a, b))) + one(REFUSED, s)


def hash_remove(s, k):
    done = one(DONE, hash_put(s, k, (0, 0, 0))) if s[3 * (k - 1)] else one(NONE, s)
    return done + one(REFUSED, s)


def hash_slots(k, *args):
    return tuple(range(3 * (k - 1), 3 * k))


bpf_hash = Model("bpf_hash", (0, 0, 0) * HASH_KEYS, {
    "update": (4, hash_update),
    "remove": (1, hash_remove),
    "lookup": (1, lambda s, k: [(s[3 * (k - 1):3 * k], s)]),
}, key=0, values=3, names=tuple(
    name % (k + 1) for k in range(HASH_KEYS) for name in ("has[%d]?", "first[%d]", "last[%d]")),
    domains={"update": {3: (0, 0, 1, 2)}}, flags=("update", "remove", "lookup"),
    buffers=machine.Buffers(plain={"update": hash_slots, "remove": hash_slots},
                            fences={"update", "remove"}, reads={"lookup"},
                            stores={"update": (DONE,), "remove": (DONE,)}))


def guess_range(ops):
    """Words that comparisons can tell from each other."""
    words = sorted({0, 1} | {w + k for w in named_words(ops) for k in (0, 1)})
    return list(itertools.product(words, repeat=2))


ping_range = Model("ping_range", (1, 0), {
    "set": (2, lambda s, a, b: none((a, b) if a <= b else (1, 0))),
    "get": (0, lambda s: [(s, s)]),
    "may": (1, lambda s, group: one(int(s[0] <= group <= s[1]), s)),
}, names=("low", "high"), flags=("may",), vague=True, guess=guess_range,
    buffers=machine.Buffers(plain={"set": lambda a, b: (0, 1)}, fences={"set"},
                            reads={"get", "may"}))
port_range = Model("port_range", (1, 2), {
    "set": (2, lambda s, a, b: none((a, b))),
    "get": ping_range.methods["get"],
}, names=("low", "high"), vague=True, guess=guess_pairs,
    buffers=machine.Buffers(plain={"set": lambda a, b: (0, 1)}, fences={"set"}, reads={"get"}))
fig5 = Model("fig5", (0, 0, 0), {
    "write": (2, lambda s, a, b: none((a, b, s[2]))),
    "read": (0, lambda s: [(s[:2], s)]),
    "set_y": (1, lambda s, v: none(s[:2] + (v,))),
    "get_y": (0, lambda s: one(s[2], s)),
}, names=("x1", "x2", "y"), buffers=machine.Buffers(
    plain={"write": lambda a, b: (0, 1), "set_y": lambda v: (2,)}, fences={"write"},
    reads={"read", "get_y"}))
timekeeping = Model("timekeeping", (0,), clock.methods, names=("now",), guess=clock.guess)


# ---- locks ----

def lock_methods():
    return {
        "lock": (0, lambda s: none((1,)) if not s[0] else []),
        "trylock": (0, lambda s: one(0, s) if s[0] else one(1, (1,))),
        "unlock": (0, lambda s: none((0,)) if s[0] else []),
    }


lock = Model("lock", (0,), lock_methods(), names=("held?",), guess=guess_bools(1))
mutex = Model("mutex", (0,), lock_methods(), names=("held?",), guess=guess_bools(1))
# The state is (readers, writer).
rwlock = Model("rwlock", (0, 0), {
    "read_lock": (0, lambda s: none(((s[0] + 1) % WORDS, 0)) if not s[1] else []),
    "read_unlock": (0, lambda s: none((s[0] - 1, s[1])) if s[0] else []),
    "read_trylock": (0, lambda s: one(0, s) if s[1] else one(1, ((s[0] + 1) % WORDS, 0))),
    "write_lock": (0, lambda s: none((0, 1)) if s == (0, 0) else []),
    "write_unlock": (0, lambda s: none((s[0], 0)) if s[1] else []),
    "write_trylock": (0, lambda s: one(1, (0, 1)) if s == (0, 0) else one(0, s)),
}, names=("readers", "writer?"), buffers=machine.Buffers(
    plain={"write_unlock": lambda: (1,)},
    reads={("read_trylock", (0,)), ("write_trylock", (0,))}), guess=guess_holders)
rwsem = Model("rwsem", (0, 0), {
    **rwlock.methods,
    # Where others wait, a try may fail at any time.
    "read_trylock": (0, lambda s: one(0, s) + (
        [] if s[1] else one(1, ((s[0] + 1) % WORDS, 0)))),
    "write_trylock": (0, lambda s: one(0, s) + (one(1, (0, 1)) if s == (0, 0) else [])),
}, names=("readers", "writer?"), guess=guess_holders)
spinlock = Model("spinlock", (0,), {
    **lock_methods(), "unlock": (0, lambda s: none((0,))),
}, names=("held?",), buffers=machine.Buffers(
    plain={"unlock": lambda: (0,)}, reads={("trylock", (0,))}), guess=guess_bools(1))
spinlock_kernel = copy.copy(spinlock)
spinlock_kernel.name = "spinlock_kernel"
mntput = Model("mntput", (0, 0), {
    "put": (0, lambda s: one(0, s) + (one(1, (1, 0)) if not s[1] else [])),
    "legitimize": (0, lambda s: one(0, s) + ([] if s[0] else one(1, (0, (s[1] + 1) % WORDS)))),
}, names=("freed?", "refs"), guess=lambda ops: [(b, n) for n, b in guess_holders(ops)])
futex = Model("futex", (0, 0), {
    "wake": (0, lambda s: [((r,), (1, s[1])) for r in sorted({s[1], 1})]),
    "wait": (0, lambda s: one(0, s) if s[0] else one(1, (0, 1))),
}, names=("released?", "waits?"), guess=guess_bools(2))
semaphore = Model("semaphore", (1,), {
    "down": (0, lambda s: none((s[0] - 1,)) if s[0] else []),
    "up": (0, lambda s: none(((s[0] + 1) % WORDS,))),
    "try_down": (0, lambda s: one(1, (s[0] - 1,)) if s[0] else one(0, s)),
}, names=("n",), guess=guess_numbers)
eventsem = Model("eventsem", (0,), {
    "post": (1, lambda s, by: none(((s[0] + by) % WORDS,))),
    "take": (0, lambda s: one(1, (s[0] - 1,)) if s[0] else one(0, s)),
}, names=("n",), guess=guess_numbers)


def eventfd_read(s, semaphore):
    if not s[0]:
        return one(EMPTY, s)
    v = 1 if semaphore else s[0]
    return one(v, (s[0] - v,))


eventfd = Model("eventfd", (0,), {
    "write": (1, lambda s, v: one(0, s) if v > (WORDS - 2 - s[0]) % WORDS
              else one(1, ((s[0] + v) % WORDS,))),
    "read": (1, eventfd_read),
}, names=("n",), domains={"read": {0: (0, 1)}}, flags=("write",), found=lambda res: None,
    guess=guess_numbers)


def sem_op(s, sem, up, by):
    n = look(s, sem, 0)
    if not by:
        return one(int(n == 0), s)
    if not up and n < by:
        return one(0, s)
    n += by if up else -by
    return one(1, put(s, sem, n) if n else drop(s, sem))


sysv_sem = Model("sysv_sem", (), {
    "op": (3, sem_op),
}, key=0, domains={"op": {1: (0, 1), 2: (0, 1, 2)}}, flags=("op",), found=lambda res: None,
    nothing=ABSENT)


# ---- identifiers ----

def lowest(s, start=0):
    while start in s:
        start += 1
    return start


def ids(release):
    return {
        "alloc": (0, lambda s: one(lowest(s), tuple(sorted(s + (lowest(s),))))),
        release: (1, lambda s, i: none(tuple(x for x in s if x != i)) if i in s else []),
    }


ida = Model("ida", (), ids("release"), guess=guess_identifiers)
idr = Model("idr", (), ids("remove"), guess=guess_identifiers)
fd_table = Model("fd_table", (), {
    "alloc": (1, lambda s, n: one(lowest(s, n), tuple(sorted(s + (lowest(s, n),))))),
    "take": (1, lambda s, i: none(s if i in s else tuple(sorted(s + (i,))))),
    "close": (1, lambda s, i: none(tuple(x for x in s if x != i)) if i in s else []),
}, guess=guess_identifiers)

MODELS = {m.name: m for m in (
    queue, stack, pqueue, deque, bounded_queue, kfifo, llist, stack_height, pipe, set_,
    multiset, map_, kv, array, xarray, rhashtable, register, pair, seqlock, counter, refsum, clock,
    lock, mutex, rwlock, rwsem, spinlock, mntput, futex, semaphore, eventsem, ida, idr, fd_table,
    coarse, unix_dgram, bpf_queue, bpf_stack, mqueue, eventfd, sysv_sem,
    bpf_lpm, bpf_hash, ping_range, port_range, fig5, timekeeping, spinlock_kernel)}

# Models that the audit also runs with store buffers, clock error or unknown first states.
VARIANTS = (
    "register:crashes", "map:crashes", "array:crashes-error",
    "register:tso", "register:tso-error", "seqlock:tso-error", "array:tso-error",
    "spinlock:tso-error", "rwlock:tso-error", "bpf_lpm:tso", "register:any-error", "seqlock:any-tso", "pair:any",
    "queue:error", "stack:error", "bounded_queue:error", "set:error", "map:error",
    "register:error", "pair:error", "rwlock:error", "semaphore:error", "ida:error",
    "bpf_hash:tso-error", "ping_range:tso-error", "port_range:tso-error", "fig5:tso-error",
    *(name + ":any" for name, model in MODELS.items() if model.guess and name != "pair" and
      not model.vague),
)
