package dev.warmpath.kvindex.hammer;

import dev.warmpath.kvindex.KvIndex;
import dev.warmpath.kvindex.PrefixMatches;
import dev.warmpath.kvindex.block.BlockChain;
import dev.warmpath.kvindex.proof.Side;
import dev.warmpath.kvindex.workload.Script;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.UnaryOperator;

/**
 * One thread does a {@link Seesaw} to an index over and over while others ask it: they may never
 * see a whole prompt.
 *
 * <p>Immutable.
 *
 * @param readers threads that ask
 * @param queries how many each reader makes
 */
record SeesawHammer(int readers, int queries) {

  /** The first whole prompt that was seen, in words. */
  Optional<String> firstWholePrompt(KvIndex index, Script script)
      throws InterruptedException, ExecutionException {
    ExecutorService threads = Executors.newFixedThreadPool(readers);
    AtomicBoolean stopped = new AtomicBoolean();
    try {
      List<Future<Optional<String>>> answers = new ArrayList<>();
      for (int i = 0; i < readers; i++) {
        answers.add(threads.submit(() -> read(index, script.questions(), stopped)));
      }
      Side<KvIndex> side = new Side<>(index, UnaryOperator.identity());
      while (!answers.stream().allMatch(Future::isDone)) {
        script.steps().forEach(side::apply);
      }
      Optional<String> first = Optional.empty();
      for (Future<Optional<String>> answer : answers) {
        Optional<String> own = answer.get();
        first = first.isPresent() ? first : own;
      }
      return first;
    } finally {
      threads.shutdownNow();
    }
  }

  private Optional<String> read(KvIndex index, List<BlockChain> questions, AtomicBoolean stopped) {
    PrefixMatches matches = new PrefixMatches();
    for (int i = 0; i < queries && !stopped.get(); i++) {
      BlockChain question = questions.get(i % questions.size());
      index.match(question, matches);
      for (int slot = 0; slot < matches.slots(); slot++) {
        if (matches.tokens(slot) >= question.blocks()) {
          stopped.set(true);
          return Optional.of("query " + i + " slot " + slot + ' ' + Script.text(question));
        }
      }
    }
    return Optional.empty();
  }
}
