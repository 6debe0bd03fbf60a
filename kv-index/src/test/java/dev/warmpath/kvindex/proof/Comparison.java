package dev.warmpath.kvindex.proof;

import dev.warmpath.kvindex.KvIndex;
import dev.warmpath.kvindex.KvIndex.EngineStats;
import dev.warmpath.kvindex.PrefixMatches;
import dev.warmpath.kvindex.StorageTier;
import dev.warmpath.kvindex.block.BlockChain;
import dev.warmpath.kvindex.model.ReferenceModel;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.function.IntFunction;
import java.util.function.UnaryOperator;

/**
 * Does a script to an index and to the {@link ReferenceModel}, and compares what they answer.
 *
 * <p>Immutable.
 *
 * @param newIndex makes an empty index for so many orphans an engine
 * @param invariants checked after each step
 * @param reload writes the index to a snapshot and reads it back
 * @param statistics whether to compare them as well, and not the answers alone
 */
record Comparison<I extends KvIndex>(
    IntFunction<I> newIndex, Consumer<I> invariants, UnaryOperator<I> reload, boolean statistics) {

  private static final int ALL_AT_LEAST_EVERY_STEPS = 16;

  /**
   * A difference.
   *
   * @param steps how many steps had been done
   */
  record Difference(int steps, String what) {}

  /** The first difference found when a few questions are asked after each step. */
  Optional<Difference> sampled(Script script) {
    return first(script, false);
  }

  /** The first difference when everything is compared after each step. */
  Optional<Difference> thorough(Script script) {
    return first(script, true);
  }

  private Optional<Difference> first(Script script, boolean thorough) {
    Side<I> tested = new Side<>(newIndex.apply(script.maxOrphans()), reload);
    Side<ReferenceModel> truth =
        new Side<>(new ReferenceModel(script.maxOrphans()), UnaryOperator.identity());
    List<Step> steps = script.steps();
    for (int i = 0; i < steps.size(); i++) {
      boolean all = thorough || i % ALL_AT_LEAST_EVERY_STEPS == 0 || i == steps.size() - 1;
      int question = all ? -1 : i;
      Optional<String> difference = step(tested, truth, steps.get(i), question, script.questions());
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
          .or(() -> statistics ? statistics(tested, truth) : Optional.empty());
    } catch (RuntimeException | AssertionError e) {
      return Optional.of(e + " at " + List.of(e.getStackTrace()).subList(0, 5));
    }
  }

  private Optional<String> statistics(Side<I> tested, Side<ReferenceModel> truth) {
    for (Map.Entry<Integer, Integer> engine : truth.slots().entrySet()) {
      EngineStats stats = tested.index().stats(tested.slots().get(engine.getKey()));
      EngineStats expected = truth.index().stats(engine.getValue());
      if (!stats.equals(expected)) {
        return Optional.of("e" + engine.getKey() + ": " + stats + ", expected " + expected);
      }
    }
    return Optional.empty();
  }

  private static Optional<String> answer(Side<?> tested, Side<?> truth, BlockChain question) {
    PrefixMatches answer = tested.answer(question);
    PrefixMatches expected = truth.answer(question);
    for (Map.Entry<Integer, Integer> engine : truth.slots().entrySet()) {
      int slot = tested.slots().get(engine.getKey());
      for (StorageTier tier : StorageTier.values()) {
        int tokens = answer.tokens(slot, tier);
        int right = expected.tokens(engine.getValue(), tier);
        if (tokens != right) {
          return Optional.of(
              "e%d at %s: %d tokens, expected %d, of %s"
                  .formatted(engine.getKey(), tier, tokens, right, text(question)));
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

  private static String text(BlockChain question) {
    StringBuilder text = new StringBuilder("a prompt of " + question.space() + " with blocks");
    for (int i = 0; i < question.blocks(); i++) {
      text.append(' ').append(question.localHash(i));
    }
    return text.toString();
  }
}
