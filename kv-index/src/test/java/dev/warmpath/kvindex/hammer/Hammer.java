package dev.warmpath.kvindex.hammer;

import dev.warmpath.kvindex.KvIndex;
import dev.warmpath.kvindex.proof.Side;
import dev.warmpath.kvindex.workload.Script;
import dev.warmpath.kvindex.workload.Step;
import dev.warmpath.kvindex.workload.Step.Arrive;
import dev.warmpath.kvindex.workload.Step.Leave;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.function.IntFunction;
import java.util.function.ToLongFunction;
import java.util.function.UnaryOperator;

/**
 * One thread does a script to an index over and over while others ask it: they may see only what
 * the model passed through between the beginning and the end of their query.
 *
 * <p>Immutable.
 *
 * @param newIndex makes an empty index for so many orphans an engine
 * @param silences how many queries the index has left unanswered so far
 * @param readers threads that ask
 * @param queries how many each reader makes; the writer goes on for as long
 */
record Hammer<I extends KvIndex>(
    IntFunction<I> newIndex,
    ToLongFunction<I> silences,
    int readers,
    int queries,
    Strictness strictness) {

  Verdict judge(Script script) throws InterruptedException, ExecutionException {
    Script lap = script.with(endless(script.steps()));
    Progress progress = new Progress(new Timeline(lap, strictness.clearsAtOnce()));
    I index = newIndex.apply(script.maxOrphans());
    ExecutorService threads = Executors.newFixedThreadPool(readers);
    try {
      List<Future<Verdict>> verdicts = new ArrayList<>();
      for (int i = 0; i < readers; i++) {
        Reader reader =
            new Reader(index, () -> silences.applyAsLong(index), progress, strictness.oneInstant());
        int seed = i;
        verdicts.add(threads.submit(() -> reader.judge(lap.questions(), seed, queries)));
      }
      write(index, lap, progress, verdicts);
      return all(verdicts);
    } finally {
      threads.shutdownNow();
    }
  }

  private static void write(
      KvIndex index, Script script, Progress progress, List<Future<Verdict>> readers) {
    Side<KvIndex> side = new Side<>(index, UnaryOperator.identity());
    for (int lap = 0; !readers.stream().allMatch(Future::isDone); lap++) {
      int[] slots = progress.lap(lap);
      for (int i = 0; i < script.steps().size(); i++) {
        Step step = script.steps().get(i);
        progress.begin(lap, i);
        side.apply(step);
        if (step instanceof Arrive arrive) {
          slots[arrive.engine()] = side.slots().get(arrive.engine());
        }
        progress.done(lap, i);
      }
    }
  }

  /** Ends as it began: without engines. */
  private static List<Step> endless(List<Step> steps) {
    List<Step> all = new ArrayList<>(steps);
    for (Step step : steps) {
      if (step instanceof Arrive arrive) {
        all.add(new Leave(arrive.engine()));
      }
    }
    return all;
  }

  private static Verdict all(List<Future<Verdict>> readers)
      throws InterruptedException, ExecutionException {
    Verdict all = Verdict.NONE;
    for (Future<Verdict> reader : readers) {
      all = all.and(reader.get());
    }
    return all;
  }
}
