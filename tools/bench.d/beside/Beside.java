// SPDX-License-Identifier: GPL-2.0
//
// How long lincheck takes for a history, for tools/bench-beside: prints what check.c does.
//
//	java Beside new FILE SECONDS		each check has a new verifier
//	java Beside again FILE SECONDS		one verifier, which knows the states of earlier checks
//	java Beside record OPERATIONS SECONDS	nanoseconds for an operation, and for a run without any
//
// To record is what the stress strategy does: it runs the operations of two threads, here such as do
// nothing, and keeps each one's result, and how many operations of each thread had returned when it
// was called.

import java.lang.reflect.Method;
import java.nio.file.*;
import java.util.*;
import org.jetbrains.kotlinx.lincheck.*;
import org.jetbrains.kotlinx.lincheck.annotations.Operation;
import org.jetbrains.kotlinx.lincheck.execution.*;
import org.jetbrains.kotlinx.lincheck.runner.*;
import org.jetbrains.kotlinx.lincheck.strategy.Strategy;
import org.jetbrains.kotlinx.lincheck.strategy.LincheckFailure;
import org.jetbrains.kotlinx.lincheck.verifier.VerifierState;
import org.jetbrains.kotlinx.lincheck.verifier.linearizability.LinearizabilityVerifier;

public class Beside {
	public static class Register extends VerifierState {
		private int x;

		public void write(int v) { x = v; }
		public int read() { return x; }
		@Override protected Object extractState() { return x; }
	}

	public static class Nothing extends VerifierState {
		@Operation public int nothing() { return 0; }
		@Override protected Object extractState() { return 0; }
	}

	private static final class Op {
		long call, ret;
		Actor actor;
		Result result;
	}

	private static final class History {
		final List<List<Op>> threads = new ArrayList<>();

		// Read operations of klin's text form: THREAD @OBJECT CALL RETURN METHOD [VALUE] [-> RESULT].
		History(String file) throws Exception {
			Method write = Register.class.getMethod("write", int.class);
			Method read = Register.class.getMethod("read");
			Map<String, List<Op>> byThread = new LinkedHashMap<>();

			for (String line : Files.readAllLines(Paths.get(file))) {
				String[] f = line.split("\\s+");
				if (f.length < 5 || f[0].equals("#"))
					continue;
				Op op = new Op();
				op.call = Long.parseLong(f[2]);
				op.ret = Long.parseLong(f[3]);
				if (f[4].equals("write")) {
					op.actor = new Actor(write, Arrays.asList((Object)Integer.valueOf(f[5])),
							     Collections.emptyList());
					op.result = VoidResult.INSTANCE;
				} else {
					op.actor = new Actor(read, Collections.emptyList(),
							     Collections.emptyList());
					op.result = new ValueResult(Integer.valueOf(f[6]));
				}
				byThread.computeIfAbsent(f[0], t -> new ArrayList<>()).add(op);
			}
			threads.addAll(byThread.values());
		}

		ExecutionScenario scenario() {
			List<List<Actor>> all = new ArrayList<>();
			for (List<Op> ops : threads) {
				List<Actor> actors = new ArrayList<>();
				for (Op op : ops)
					actors.add(op.actor);
				all.add(actors);
			}
			return new ExecutionScenario(Collections.emptyList(), all, Collections.emptyList());
		}

		// Each operation's clock: how many operations of each thread returned before its call.
		ExecutionResult results() {
			List<List<ResultWithClock>> all = new ArrayList<>();
			for (List<Op> ops : threads) {
				List<ResultWithClock> results = new ArrayList<>();
				int[] clock = new int[threads.size()];
				for (Op op : ops) {
					for (int t = 0; t < clock.length; t++) {
						List<Op> other = threads.get(t);
						while (clock[t] < other.size() && other.get(clock[t]).ret < op.call)
							clock[t]++;
					}
					results.add(new ResultWithClock(op.result, new HBClock(clock.clone())));
				}
				all.add(results);
			}
			return new ExecutionResult(Collections.emptyList(), all, Collections.emptyList());
		}
	}

	private static double median(List<Double> times) {
		List<Double> half = new ArrayList<>(times.subList(times.size() / 2, times.size()));
		Collections.sort(half);
		return half.get(half.size() / 2);
	}

	private static void check(String file, double seconds, boolean again) throws Exception {
		LinearizabilityVerifier verifier = null;
		List<Double> reading = new ArrayList<>(), checking = new ArrayList<>();
		long end = System.nanoTime() + (long)(seconds * 1e9);
		boolean right;

		do {
			long start = System.nanoTime();
			History h = new History(file);
			ExecutionScenario scenario = h.scenario();
			ExecutionResult results = h.results();
			reading.add((System.nanoTime() - start) / 1e6);
			if (verifier == null || !again)
				verifier = new LinearizabilityVerifier(Register.class);
			start = System.nanoTime();
			right = verifier.verifyResults(scenario, results);
			checking.add((System.nanoTime() - start) / 1e6);
		} while (checking.size() < 2001 && System.nanoTime() < end);
		System.out.printf(Locale.ROOT, "%s\t%.4f\t%.4f\n", right ? "right" : "wrong",
				  median(reading), median(checking));
	}

	private static ParallelThreadsRunner runner(int operations) throws Exception {
		Actor nothing = new Actor(Nothing.class.getMethod("nothing"), Collections.emptyList(),
					  Collections.emptyList());
		List<Actor> actors = new ArrayList<>(Collections.nCopies(operations, nothing));
		ExecutionScenario scenario = new ExecutionScenario(Collections.emptyList(),
			Arrays.asList(actors, actors), Collections.emptyList());
		Strategy strategy = new Strategy(scenario) {
			@Override public LincheckFailure run() { return null; }
		};
		return new ParallelThreadsRunner(strategy, Nothing.class, Collections.emptyList(), null);
	}

	private static double run(ParallelThreadsRunner runner) {
		long start = System.nanoTime();

		runner.run();
		return System.nanoTime() - start;
	}

	// The cost of an operation is the difference of runs with many and with few, which take turns.
	private static void record(int operations, double seconds) throws Exception {
		ParallelThreadsRunner few = runner(operations), many = runner(2 * operations);
		List<Double> ofFew = new ArrayList<>(), ofMany = new ArrayList<>();
		long end = System.nanoTime() + (long)(seconds * 1e9);

		do {
			ofFew.add(run(few));
			ofMany.add(run(many));
		} while (System.nanoTime() < end);
		double more = median(ofMany) - median(ofFew);
		System.out.printf(Locale.ROOT, "%.1f\t%.0f\n", more / operations, median(ofFew) - more);
	}

	public static void main(String[] args) throws Exception {
		double seconds = Double.parseDouble(args[2]);

		if (args[0].equals("record"))
			record(Integer.parseInt(args[1]), seconds);
		else
			check(args[1], seconds, args[0].equals("again"));
		System.exit(0);
	}
}
