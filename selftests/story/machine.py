# SPDX-License-Identifier: GPL-2.0
"""
A machine with store buffers that runs a model, and a search for an order of operations and flushes.

Each thread has a buffer of entries.  An entry has the stores of one operation, and leaves at any
time, the oldest first.  A thread sees the newest stores in its own buffer, else memory.
"""
import history


class Buffers:
    """
    Where the stores of a model wait.  @plain: for each method whose stores wait in the buffer, the
    words that they are to, as a function of its arguments.  @fences: those of them that begin with
    an empty buffer.  @reads: methods, or pairs of a method and results, that leave the buffer
    alone.  All others are locked instructions: they find the buffer empty, and leave it empty.
    @stores: results with which a method stores, if it does not with all.
    """

    def __init__(self, plain, fences=(), reads=(), stores=None):
        self.plain, self.fences, self.reads = plain, set(fences), set(reads)
        self.stores = stores or {}

    def waits(self, method):
        return method in self.plain

    def is_barrier(self, method, res):
        """Does it begin with an empty buffer?"""
        if method in self.plain:
            return method in self.fences
        return method not in self.reads and (method, res) not in self.reads


def word(model, state, slot):
    return dict(state).get(slot, model.nothing) if model.nothing is not None else state[slot]


def with_word(model, state, slot, v):
    if model.nothing is not None:
        return tuple(sorted({**dict(state), slot: v}.items()))
    return state[:slot] + (v,) + state[slot + 1:]


def view(model, memory, entries):
    """Memory as the thread with these entries sees it."""
    for _, stores in entries:
        for slot, v in stores:
            memory = with_word(model, memory, slot, v)
    return memory


def steps(model, memory, entries, number, method, args):
    """All (results, memory, entries) after a call; its entry has the number."""
    buffers = model.buffers
    found = []
    for res, after in model.step(view(model, memory, entries), method, args):
        if buffers.is_barrier(method, res):
            if entries:
                continue
            if not buffers.waits(method):
                found.append((res, after, entries))
                continue
        if buffers.waits(method) and res == buffers.stores.get(method, res):
            stores = tuple((slot, word(model, after, slot))
                           for slot in buffers.plain[method](*args))
            found.append((res, memory, entries + ((number, stores),)))
        else:
            found.append((res, memory, entries))
    return found


def flush(model, memory, entries):
    return view(model, memory, entries[:1]), entries[1:]


def must_have_left(ops, w, b):
    """Have the stores of w left the buffer before b is called, as a drain says?"""
    return any(y.thread == w.thread and y.call >= w.call and y.drain is not None and
               max(y.drain, y.ret) + y.error < b.call for y in ops)


def orders(model, ops, want=None, firsts=None, waits=None):
    """
    Search the orders of operations and flushes.  Return: True if one has all operations that
    returned.  With @want, an operation that is not in @ops, its possible results instead: as a
    set.  With @waits, a pair of operations, the store of the first one is in its buffer when the
    second one takes effect.
    """
    todo_ops = ops if want is None else [*ops, want]
    n = len(todo_ops)
    threads = sorted({op.thread for op in todo_ops})
    line = [threads.index(op.thread) for op in todo_ops]
    preds = [sum(1 << j for j in range(n) if history.before(todo_ops[j], todo_ops[i]))
             for i in range(n)]
    left = [{j for j in range(n) if must_have_left(todo_ops, todo_ops[j], todo_ops[i])}
            for i in range(n)]
    must = sum(1 << i for i in range(n) if todo_ops[i].ret is not None)
    empty = tuple(() for _ in threads)
    todo = [(0, first, empty, None) for first in firsts or [model.init]]
    seen, results = set(todo), set()

    def add(node):
        if node not in seen:
            seen.add(node)
            todo.append(node)

    while todo:
        done, memory, all_entries, got = todo.pop()
        if done & must == must:
            if want is None:
                return True
            results.add(got)
        for t, entries in enumerate(all_entries):
            if entries:
                after, rest = flush(model, memory, entries)
                add((done, after, all_entries[:t] + (rest,) + all_entries[t + 1:], got))
        waiting = {i for entries in all_entries for i, _ in entries}
        for i, op in enumerate(todo_ops):
            if done >> i & 1 or preds[i] & ~done or left[i] & waiting or \
               waits and op is waits[1] and todo_ops.index(waits[0]) not in waiting:
                continue
            t = line[i]
            for res, after, entries in steps(model, memory, all_entries[t], i, op.method,
                                             op.args):
                if op is want:
                    pass
                elif op.ret is not None and res != op.res:
                    continue
                add((done | 1 << i, after, all_entries[:t] + (entries,) + all_entries[t + 1:],
                     res if op is want else got))
    return False if want is None else results


def left_before(model, ops, w, a):
    """
    Try all orders in time, whatever the results.  Return: True if the stores of w, which comes
    before a, are in memory whenever a takes effect.
    """
    ops = [op for op in ops if op.ret is not None and not history.before(a, op)]
    n, threads = len(ops), sorted({op.thread for op in ops})
    preds = [sum(1 << j for j in range(n) if history.before(ops[j], ops[i])) for i in range(n)]
    left = [{j for j in range(n) if must_have_left(ops, ops[j], ops[i])} for i in range(n)]
    todo = [(0, tuple(() for _ in threads))]
    seen = set(todo)
    if not history.before(w, a):
        return False
    while todo:
        done, all_entries = todo.pop()
        nexts = [(done, all_entries[:t] + (entries[1:],) + all_entries[t + 1:])
                 for t, entries in enumerate(all_entries) if entries]
        waiting = {i for entries in all_entries for i in entries}
        for i, op in enumerate(ops):
            t = threads.index(op.thread)
            if done >> i & 1 or preds[i] & ~done or left[i] & waiting or \
               model.buffers.is_barrier(op.method, op.res) and all_entries[t]:
                continue
            if op is a and ops.index(w) in waiting:
                return False
            entries = all_entries[t] + (i,) * model.buffers.waits(op.method)
            nexts.append((done | 1 << i, all_entries[:t] + (entries,) + all_entries[t + 1:]))
        for node in nexts:
            if node not in seen:
                seen.add(node)
                todo.append(node)
    return True


def views_at(model, ops, a, firsts, after=None):
    """
    What the thread of an operation can see when the operation takes effect, whatever comes after
    it; with @after, only where that operation took effect before.
    """
    ops = [op for op in ops if op is not a and not history.before(a, op)]
    line, threads = [op.thread for op in ops], sorted({op.thread for op in [*ops, a]})
    preds = [{j for j, x in enumerate(ops) if history.before(x, op)} for op in ops]
    left = [{j for j in range(len(ops)) if must_have_left([*ops, a], ops[j], op)} for op in ops]
    first = {j for j, x in enumerate(ops) if history.before(x, a)}
    gone = {j for j in range(len(ops)) if must_have_left([*ops, a], ops[j], a)}
    todo = [(frozenset(), memory, tuple(() for _ in threads)) for memory in firsts]
    seen, views = set(todo), set()
    while todo:
        done, memory, buffers = todo.pop()
        waiting = {i for entries in buffers for i, _ in entries}
        if first <= done and not gone & waiting and \
           (after is None or after in [ops[i] for i in done]):
            views.add(view(model, memory, buffers[threads.index(a.thread)]))
        nexts = []
        for t, entries in enumerate(buffers):
            if entries:
                memory_then, rest = flush(model, memory, entries)
                nexts.append((done, memory_then, buffers[:t] + (rest,) + buffers[t + 1:]))
        for i, op in enumerate(ops):
            if i in done or not preds[i] <= done or left[i] & waiting:
                continue
            t = threads.index(line[i])
            nexts += [(done | {i}, memory_then, buffers[:t] + (entries,) + buffers[t + 1:])
                      for res, memory_then, entries in steps(model, memory, buffers[t], i,
                                                             op.method, op.args)
                      if op.ret is None or res == op.res]
        for node in nexts:
            if node not in seen:
                seen.add(node)
                todo.append(node)
    return views


def random_ops(rng, model, obj):
    """A short run of the machine."""
    nthreads = rng.randint(2, 4)
    free, last, ops, newest = [0] * nthreads, 0, [], {}
    names = [m for m in model.methods if m not in model.rare]
    top = rng.choice((2, model.values, 50))
    memory, buffers = history.random_first(rng, model, top)[0], [()] * nthreads
    eager, drains = rng.random(), rng.random()
    for serial in range(1, rng.randint(4, 8)):
        last += rng.randint(1, 9) * 3
        for t in range(nthreads):
            while buffers[t] and rng.random() < eager:
                memory, buffers[t] = flush(model, memory, buffers[t])
            if not buffers[t] and t in newest and rng.random() < drains:
                newest[t].drain = max(newest[t].ret, last)
        thread = rng.randrange(nthreads)
        method = rng.choice(names)
        args = history.random_args(rng, model, method, serial, top)
        nexts = steps(model, memory, buffers[thread], serial, method, args)
        if not nexts and buffers[thread]:
            while buffers[thread]:
                memory, buffers[thread] = flush(model, memory, buffers[thread])
            nexts = steps(model, memory, buffers[thread], serial, method, args)
        if not nexts and rng.random() < 0.85:
            continue
        res, memory, buffers[thread] = rng.choice(nexts) if nexts else \
            ((), memory, buffers[thread])
        call = max(free[thread] + 1, last - rng.randint(1, 30))
        last = max(last, call + 1)
        ret = last + rng.randint(1, 30)
        free[thread] = ret
        ops.append(history.Op(10 * obj + thread, method, args, res, call, ret))
        newest[thread] = ops[-1]
    return ops
