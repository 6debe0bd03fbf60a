package dev.warmpath.kvindex.hammer;

import dev.warmpath.kvindex.KvIndex;
import dev.warmpath.kvindex.PrefixMatches;
import dev.warmpath.kvindex.block.BlockChain;
import dev.warmpath.kvindex.workload.Script;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.function.LongSupplier;

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
    List<Answer> expected = progress.answers(number, first, last);
    int[] seen = Answer.seen(matches, progress.engines());
    boolean right =
        oneInstant
            ? expected.stream().anyMatch(answer -> answer.allows(seen))
            : Answer.eachAllowed(seen, expected);
    if (right) {
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
                expected.stream().map(Answer::toString).distinct().toList());
    return new Verdict(1, overlapping, 0, Optional.of(wrong));
  }
}
