package dev.warmpath.kvindex.proof;

import dev.warmpath.kvindex.KvIndex;
import dev.warmpath.kvindex.KvIndex.EngineStats;
import dev.warmpath.kvindex.PrefixMatches;
import dev.warmpath.kvindex.StorageTier;
import dev.warmpath.kvindex.block.BlockChain;
import dev.warmpath.kvindex.workload.Script;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.function.IntFunction;
import java.util.function.IntPredicate;
import java.util.function.UnaryOperator;

/**
 * Does a script to an index and to one that is right, and compares what they answer.
 *
 * <p>After each step the invariants are checked and a question is asked, every 16 steps all
 * questions; in long scripts the invariants wait for that too, all is looked at eight times, and a
 * question is asked every four steps.
 *
 * <p>Immutable.
 *
 * @param newIndex makes an empty index for so many orphans an engine
 * @param newTruth makes an index that is right
 * @param invariants checked after each step
 * @param reload writes the index to a snapshot and reads it back
 * @param demand what is compared
 */
record Comparison<I extends KvIndex>(
    IntFunction<I> newIndex,
    IntFunction<? extends KvIndex> newTruth,
    Consumer<I> invariants,
    UnaryOperator<I> reload,
    Demand demand) {

  private static final int STEPS_A_LOOK = 16;
  private static final int LOOKS_AT_LONG_SCRIPTS = 8;
  private static final int LONG_STEPS = 1_000;
  private static final int STEPS_A_QUESTION = 4;

  /** What an index must agree on with the model. */
  enum Demand {
    ANSWERS_AND_STATISTICS,
    ANSWERS,
    /** It may credit less. */
    NO_OVERCREDIT
  }

  /**
   * A difference.
   *
   * @param steps how many steps had been done
   */
  record Difference(int steps, String what) {}

  /** The first difference that is found on the way. */
  Optional<Difference> onTheWay(Script script) {
    int steps = script.steps().size();
    int pause = steps > LONG_STEPS ? steps / LOOKS_AT_LONG_SCRIPTS : STEPS_A_LOOK;
    return first(script, i -> i % pause == 0 || i == steps - 1);
  }

  /** The difference that is there after the last step. */
  Optional<Difference> atTheEnd(Script script) {
    return first(script, i -> i == script.steps().size() - 1);
  }

  private Optional<Difference> first(Script script, IntPredicate look) {
    Side<I> tested = new Side<>(newIndex.apply(script.maxOrphans()), reload);
    Side<KvIndex> truth = new Side<>(newTruth.apply(script.maxOrphans()), UnaryOperator.identity());
    boolean isLong = script.steps().size() > LONG_STEPS;
    for (int i = 0; i < script.steps().size(); i++) {
      truth.apply(script.steps().get(i));
      Optional<String> difference;
      try {
        tested.apply(script.steps().get(i));
        if (look.test(i) || !isLong) {
          invariants.accept(tested.index());
        }
        List<BlockChain> all = script.questions();
        if (look.test(i)) {
          difference = difference(tested, truth, all);
        } else if (isLong && i % STEPS_A_QUESTION != 0) {
          difference = Optional.empty();
        } else {
          difference = answer(tested, truth, all.get(i % all.size()));
        }
      } catch (RuntimeException | AssertionError e) {
        difference = Optional.of(e + " at " + List.of(e.getStackTrace()).subList(0, 5));
      }
      if (difference.isPresent()) {
        return Optional.of(new Difference(i + 1, difference.get()));
      }
    }
    return Optional.empty();
  }

  private Optional<String> difference(
      Side<I> tested, Side<KvIndex> truth, List<BlockChain> questions) {
    return questions.stream()
        .map(each -> answer(tested, truth, each))
        .flatMap(Optional::stream)
        .findFirst()
        .or(() -> statistics(tested, truth));
  }

  private Optional<String> statistics(Side<I> tested, Side<KvIndex> truth) {
    if (demand != Demand.ANSWERS_AND_STATISTICS) {
      return Optional.empty();
    }
    for (Map.Entry<Integer, Integer> engine : truth.slots().entrySet()) {
      EngineStats stats = tested.index().stats(tested.slots().get(engine.getKey()));
      EngineStats expected = truth.index().stats(engine.getValue());
      if (!stats.equals(expected)) {
        return Optional.of("e" + engine.getKey() + ": " + stats + ", expected " + expected);
      }
    }
    return Optional.empty();
  }

  private Optional<String> answer(Side<?> tested, Side<?> truth, BlockChain question) {
    PrefixMatches answer = tested.answer(question);
    PrefixMatches expected = truth.answer(question);
    for (Map.Entry<Integer, Integer> engine : truth.slots().entrySet()) {
      int slot = tested.slots().get(engine.getKey());
      for (StorageTier tier : StorageTier.values()) {
        int tokens = answer.tokens(slot, tier);
        int right = expected.tokens(engine.getValue(), tier);
        if (tokens > right || (tokens < right && demand != Demand.NO_OVERCREDIT)) {
          return Optional.of(
              "e%d at %s: %d tokens, expected %d, of %s"
                  .formatted(engine.getKey(), tier, tokens, right, Script.text(question)));
        }
      }
      int host = answer.hostTokens(slot);
      int right = expected.hostTokens(engine.getValue());
      if (host > right || (host < right && demand != Demand.NO_OVERCREDIT)) {
        return Optional.of(
            "e%d on its host: %d tokens, expected %d, of %s"
                .formatted(engine.getKey(), host, right, Script.text(question)));
      }
    }
    return emptySlots(tested, answer);
  }

  private static Optional<String> emptySlots(Side<?> tested, PrefixMatches answer) {
    for (int slot = 0; slot < answer.slots(); slot++) {
      if (answer.tokens(slot) != 0 && !tested.isTaken(slot)) {
        return Optional.of("tokens for slot " + slot + ", which has no engine");
      }
    }
    return Optional.empty();
  }
}
