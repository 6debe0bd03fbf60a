package dev.warmpath.kvindex.hammer;

import dev.warmpath.kvindex.KvIndex;
import dev.warmpath.kvindex.PrefixMatches;
import dev.warmpath.kvindex.StorageTier;
import dev.warmpath.kvindex.block.BlockChain;
import dev.warmpath.kvindex.workload.Script;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.function.LongSupplier;
import java.util.stream.IntStream;

/**
 * Asks an index while it changes, and judges each answer.
 *
 * <p>Confined to one thread.
 */
final class Reader {

  private final KvIndex index;
  private final LongSupplier silences;
  private final Progress progress;
  private final boolean oneInstant;
  private final PrefixMatches matches = new PrefixMatches();

  /**
   * @param silences how many queries the index has left unanswered so far
   */
  Reader(KvIndex index, LongSupplier silences, Progress progress, boolean oneInstant) {
    this.index = index;
    this.silences = silences;
    this.progress = progress;
    this.oneInstant = oneInstant;
  }

  /** Asks so many times, or until an answer is wrong. */
  Verdict judge(List<BlockChain> questions, int seed, int queries) {
    Random random = new Random(seed);
    Verdict verdict = Verdict.NONE;
    for (int i = 0; i < queries && !progress.isStopped(); i++) {
      int question = random.nextInt(questions.size());
      verdict = verdict.and(ask(question, questions.get(question)));
      if (verdict.wrongAnswer().isPresent()) {
        progress.stop();
      }
    }
    return verdict;
  }

  private Verdict ask(int number, BlockChain question) {
    long silencesBefore = silences.getAsLong();
    long first = progress.first();
    index.match(question, matches);
    long last = progress.last();
    int overlapping = last > first ? 1 : 0;
    List<int[]> expected = progress.answers(number, first, last);
    int[] seen = seen(expected.get(0).length / PrefixMatches.LOCAL_TIERS);
    if (isRight(seen, expected)) {
      return new Verdict(1, overlapping, 0, Optional.empty());
    } else if (Arrays.stream(seen).allMatch(tokens -> tokens == 0)
        && silences.getAsLong() > silencesBefore) {
      return new Verdict(1, overlapping, 1, Optional.empty());
    }
    String wrong =
        "%s: %s from %s to %s, expected one of %s"
            .formatted(
                Script.text(question),
                Arrays.toString(seen),
                progress.text(first),
                progress.text(last),
                expected.stream().map(Arrays::toString).distinct().toList());
    return new Verdict(1, overlapping, 0, Optional.of(wrong));
  }

  private int[] seen(int slots) {
    int tiers = PrefixMatches.LOCAL_TIERS;
    int[] seen = new int[Math.max(slots, matches.slots()) * tiers];
    for (int i = 0; i < seen.length; i++) {
      seen[i] = matches.tokens(i / tiers, StorageTier.values()[i % tiers]);
    }
    return seen;
  }

  private boolean isRight(int[] seen, List<int[]> expected) {
    if (oneInstant) {
      return expected.stream().anyMatch(one -> agrees(one, seen, 0, seen.length));
    }
    int tiers = PrefixMatches.LOCAL_TIERS;
    return IntStream.range(0, seen.length / tiers)
        .allMatch(slot ->
            expected.stream().anyMatch(one -> agrees(one, seen, slot * tiers, (slot + 1) * tiers)));
  }

  private static boolean agrees(int[] expected, int[] seen, int from, int to) {
    for (int i = from; i < to; i++) {
      int right = i < expected.length ? expected[i] : 0;
      if (right != seen[i] && seen[i] > -right) {
        return false;
      }
    }
    return true;
  }
}
