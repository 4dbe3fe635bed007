# SPDX-License-Identifier: GPL-2.0
"""Random histories of a model, and a search for an order of their operations."""


def word(v):
    """A value as klin prints it: a large number is a negative one."""
    return str(v - (1 << 64)) if isinstance(v, int) and v >= 1 << 63 else str(v)


def words(res):
    """Results as klin prints them."""
    return "" if not res else word(res[0]) if len(res) == 1 else \
        "(%s)" % ", ".join(map(word, res))


class Op:
    """
    An operation; @ret is None while its return was not seen, and @line its place in the file.  The
    times of different threads may differ by @error.  Its thread's stores had left the store buffer
    by @drain, if that is known.
    """

    def __init__(self, thread, method, args, res, call, ret):
        self.thread, self.method, self.args, self.res = thread, method, args, res
        self.call, self.ret, self.line, self.error, self.drain = call, ret, None, 0, None
        self.any = False        # it may have had any results

    def text(self):
        """The operation as klin prints it."""
        text = "%s(%s)" % (self.method, ", ".join(map(str, self.args)))
        if self.ret is None or not self.res:
            return text
        return "%s -> %s" % (text, words(self.res))

    def name(self):
        return "t%d's %s" % (self.thread, self.text())

    def row(self, obj):
        words = ["t%d" % self.thread, "@%d" % obj, str(self.call),
                 "-" if self.ret is None else str(self.ret), self.method, *map(str, self.args)]
        if self.ret is not None and self.res:
            words += ["->", *map(str, self.res)]
        if self.drain is not None:
            words.append("drain=%d" % self.drain)
        return " ".join(words)


def before(a, b):
    """Did a certainly return before b was called?"""
    if a.ret is None:
        return False
    return a.ret + (a.error if a.thread != b.thread else 0) < b.call


def outcomes(model, state, op):
    """The states after the operation with its results; those of any results if it is pending."""
    for res, after in model.step(state, op.method, op.args):
        if op.ret is None or op.any or res == op.res:
            yield after


def orders(model, ops, want=None, firsts=None):
    """
    Search the orders of the operations.  Return: True if one has all that returned.  With @want,
    an operation that is not in @ops, its possible results in all those orders instead: as a set.
    The first state is one of @firsts, or the model's.
    """
    n = len(ops)
    preds = [sum(1 << j for j in range(n) if before(ops[j], ops[i])) for i in range(n)]
    must = sum(1 << i for i in range(n) if ops[i].ret is not None)
    full = (1 << n) - 1
    results = set()
    if want is not None:
        first = sum(1 << i for i in range(n) if before(ops[i], want))
        last = sum(1 << i for i in range(n) if before(want, ops[i]))
    seen = set()
    todo = [(0, first, None) for first in firsts or [model.init]]
    while todo:
        done, state, got = todo.pop()
        if (done, state, got) in seen:
            continue
        seen.add((done, state, got))
        if done & must == must and (want is None or got is not None):
            if want is None:
                return True
            results.add(got)
        if want is not None and got is None and done & first == first:
            for res, after in model.step(state, want.method, want.args):
                todo.append((done, after, res))
        for i in range(n):
            bit = 1 << i
            if done & bit or preds[i] & ~done & full:
                continue
            if want is not None and got is None and last & bit:
                continue
            for after in outcomes(model, state, ops[i]):
                todo.append((done | bit, after, got))
    return False if want is None else results


def random_args(rng, model, method, serial, top):
    """Arguments of a call: serial numbers, or random ones up to @top."""
    domains = model.domains.get(method, {})
    return tuple(rng.choice(domains[i]) if i in domains else rng.randint(1, 2) if i == model.key else
                 serial if top == 50 else rng.randint(1, top)
                 for i in range(model.methods[method][0]))


def random_first(rng, model, top):
    """The state before a run, after some operations that nobody saw, and their number."""
    state, serial = model.init, 0
    while not model.fresh and rng.random() < 0.7:
        serial += 1
        method = rng.choice(list(model.methods))
        nexts = model.step(state, method, random_args(rng, model, method, serial, top))
        state = rng.choice(nexts)[1] if nexts else state
    return state, serial


def random_ops(rng, model, obj):
    """A short run of the model."""
    nthreads = rng.randint(2, 4)
    free, last, ops = [0] * nthreads, 0, []
    names = list(model.methods)
    top = rng.choice((2, model.values, 50))
    state, serial = random_first(rng, model, top)
    for _ in range(rng.randint(3, 9)):
        last += rng.randint(1, 9) * 3
        thread = rng.randrange(nthreads)
        method = rng.choice(names)
        if method in model.rare and rng.random() < 0.8:
            continue
        serial += 1
        args = random_args(rng, model, method, serial, top)
        nexts = model.step(state, method, args)
        # Now and then somebody breaks the rules, such as an unlock without a lock.
        if not nexts and (rng.random() < 0.85):
            continue
        res, state = rng.choice(nexts) if nexts else ((), state)
        call = max(free[thread] + 1, last - rng.randint(1, 30))
        if call >= last:
            last = call + 1
        ret = last + rng.randint(1, 30)
        free[thread] = ret
        ops.append(Op(10 * obj + thread, method, args, res, call, ret))
    return ops


def finish(rng, model, ops, obj, error):
    """Give each operation times of its own, by clocks that differ, and change something."""
    # Unique times: an operation that ends just when another begins is not worth an argument.
    taken = set()
    for op in sorted(ops, key=lambda o: o.call):
        for field in ("call", "ret"):
            # The object makes the time unique in the file, so that klin's order is known.
            t = getattr(op, field) * 1000000 + obj
            while t in taken:
                t += 1000
            taken.add(t)
            setattr(op, field, t)
        if op.drain is not None:
            op.drain = max(op.drain * 1000000 + obj, op.ret) + 500
    ahead = {op.thread: rng.randint(0, error // 1000) * 1000 for op in ops}
    for op in ops:
        op.error = error
        op.call += ahead[op.thread]
        op.ret += ahead[op.thread]
        if op.drain is not None:
            op.drain += ahead[op.thread]
    for op in {op.thread: op for op in ops}.values():
        if rng.random() < 0.1:
            op.ret = op.drain = None
    for i, op in enumerate(rng.sample(ops, min(3, len(ops)) if model.crashes else 0)):
        # Each has a thread of its own, since nothing comes after it.
        op.thread += 5 * (i + 1)
        op.ret = None
    if ops and rng.random() < 0.9:
        spoil(rng, model, ops)


def spoil(rng, model, ops):
    """Change a result, exchange the results of two operations, or leave an operation out."""
    op = rng.choice(ops)
    how = rng.random()
    if how < 0.3 and model.machine and op.ret is not None:
        op.drain = None if op.drain else op.ret + 500
        return
    if how < 0.15:
        ops.remove(op)
        return
    if how < 0.3:
        other = rng.choice([o for o in ops if o.method == op.method])
        op.res, other.res = other.res, op.res
        op.args, other.args = other.args, op.args
        return
    if not op.res:
        return
    candidates = {r for o in ops if o.method == op.method for r in [o.res] if r}
    candidates |= {r for o in ops for r, _ in model.step(model.init, op.method, op.args)}
    words = [a for o in ops for a in o.args] + [7]
    i = rng.randrange(len(op.res))
    flags = all(o.res[i] in (0, 1) for o in ops if o.method == op.method and o.res)
    if flags:
        candidates.add(op.res[:i] + (1 - op.res[i],) + op.res[i + 1:])
    elif isinstance(op.res[i], int) or rng.random() < 0.3:
        candidates.add(op.res[:i] + (rng.choice(words),) + op.res[i + 1:])
    candidates.discard(op.res)
    if candidates:
        op.res = rng.choice(sorted(candidates, key=str))
