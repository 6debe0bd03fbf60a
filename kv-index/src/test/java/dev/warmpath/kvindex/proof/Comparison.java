package dev.warmpath.kvindex.proof;

import dev.warmpath.kvindex.KvIndex;
import dev.warmpath.kvindex.KvIndex.EngineStats;
import dev.warmpath.kvindex.PrefixMatches;
import dev.warmpath.kvindex.StorageTier;
import dev.warmpath.kvindex.block.BlockChain;
import dev.warmpath.kvindex.model.ReferenceModel;
import dev.warmpath.kvindex.workload.Script;
import dev.warmpath.kvindex.workload.Step;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.function.IntFunction;
import java.util.function.IntPredicate;
import java.util.function.UnaryOperator;

/**
 * Does a script to an index and to the {@link ReferenceModel}, and compares what they answer.
 *
 * <p>Immutable.
 *
 * @param newIndex makes an empty index for so many orphans an engine
 * @param invariants checked after each step
 * @param reload writes the index to a snapshot and reads it back
 * @param demand what is compared
 */
record Comparison<I extends KvIndex>(
    IntFunction<I> newIndex, Consumer<I> invariants, UnaryOperator<I> reload, Demand demand) {

  private static final int ALL_EVERY_STEPS = 16;

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

  /** The first difference when a few questions are asked after each step, and all at times. */
  Optional<Difference> sampled(Script script) {
    return first(script, i -> i % ALL_EVERY_STEPS == 0 || i == script.steps().size() - 1);
  }

  /** The difference that is there after the last step. */
  Optional<Difference> atTheEnd(Script script) {
    return first(script, i -> i == script.steps().size() - 1);
  }

  private Optional<Difference> first(Script script, IntPredicate all) {
    Side<I> tested = new Side<>(newIndex.apply(script.maxOrphans()), reload);
    Side<ReferenceModel> truth =
        new Side<>(new ReferenceModel(script.maxOrphans()), UnaryOperator.identity());
    for (int i = 0; i < script.steps().size(); i++) {
      int question = all.test(i) ? -1 : i;
      Optional<String> difference =
          step(tested, truth, script.steps().get(i), question, script.questions());
      if (difference.isPresent()) {
        return Optional.of(new Difference(i + 1, difference.get()));
      }
    }
    return Optional.empty();
  }

  /** Asks question number {@code question}, or all if it is negative. */
  private Optional<String> step(
      Side<I> tested,
      Side<ReferenceModel> truth,
      Step step,
      int question,
      List<BlockChain> questions) {
    truth.apply(step);
    try {
      tested.apply(step);
      invariants.accept(tested.index());
      if (question >= 0) {
        return answer(tested, truth, questions.get(question % questions.size()));
      }
      return questions.stream()
          .map(each -> answer(tested, truth, each))
          .flatMap(Optional::stream)
          .findFirst()
          .or(() -> statistics(tested, truth));
    } catch (RuntimeException | AssertionError e) {
      return Optional.of(e + " at " + List.of(e.getStackTrace()).subList(0, 5));
    }
  }

  private Optional<String> statistics(Side<I> tested, Side<ReferenceModel> truth) {
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
    }
    return emptySlots(tested, answer);
  }

  private static Optional<String> emptySlots(Side<?> tested, PrefixMatches answer) {
    for (int slot = 0; slot < answer.slots(); slot++) {
      if (answer.tokens(slot) != 0 && !tested.slots().containsValue(slot)) {
        return Optional.of("tokens for slot " + slot + ", which has no engine");
      }
    }
    return Optional.empty();
  }
}
