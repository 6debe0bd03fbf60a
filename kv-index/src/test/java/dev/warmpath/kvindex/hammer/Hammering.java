package dev.warmpath.kvindex.hammer;

import static org.assertj.core.api.Assertions.assertThat;

import dev.warmpath.kvindex.KvIndex;
import dev.warmpath.kvindex.workload.Habits;
import dev.warmpath.kvindex.workload.Habits.Odds;
import dev.warmpath.kvindex.workload.Habits.Size;
import dev.warmpath.kvindex.workload.Habits.Trees;
import dev.warmpath.kvindex.workload.Script;
import dev.warmpath.kvindex.workload.Workload;
import java.util.Random;
import java.util.concurrent.ExecutionException;
import java.util.function.IntFunction;
import java.util.function.ToLongFunction;
import org.junit.jupiter.api.Test;

/**
 * The hammer, for any index; {@code -Dwarmpath.hammerSeeds=600} goes on for longer.
 *
 * <p>Immutable.
 */
public abstract class Hammering<I extends KvIndex> {

  private static final int READERS = 2;
  private static final int QUERIES = 10_000;
  private static final int SEESAW_STEPS = 400;
  private static final int SEEDS = Integer.getInteger("warmpath.hammerSeeds", 6);

  private final IntFunction<I> newIndex;
  private final Hammer<I> hammer;
  private final SeesawHammer seesawHammer;

  /**
   * @param newIndex makes an empty index for so many orphans an engine
   * @param silences how many queries the index has left unanswered so far
   * @param clearsAtOnce whether an engine that leaves must lose all it held in one state
   * @param seesawQueries how many queries each reader makes while holes move
   */
  protected Hammering(
      IntFunction<I> newIndex,
      ToLongFunction<I> silences,
      boolean clearsAtOnce,
      int seesawQueries) {
    this.newIndex = newIndex;
    Strictness strictness = new Strictness(true, clearsAtOnce);
    hammer = new Hammer<>(newIndex, silences, READERS, QUERIES, strictness);
    seesawHammer = new SeesawHammer(READERS, seesawQueries);
  }

  @Test
  void readersSeeOnlyWhatTheModelPassedThrough() throws InterruptedException, ExecutionException {
    Verdict verdict = Verdict.NONE;
    for (int seed = 0; seed < SEEDS; seed++) {
      verdict = verdict.and(hammer.judge(script(seed)));
      assertThat(verdict.wrongAnswer()).as("seed %d", seed).isEmpty();
    }
    assertThat(verdict.queries()).isGreaterThanOrEqualTo(100_000);
    assertThat(verdict.overlapping()).isPositive();
    assertThat(verdict.silent()).isLessThan(verdict.queries() / 4);
  }

  @Test
  void readersNeverSeeWholePromptsWhileHolesMove() throws InterruptedException, ExecutionException {
    for (int seed = 0; seed < SEEDS; seed++) {
      Script script = Seesaw.script(seed, SEESAW_STEPS);
      I index = newIndex.apply(script.maxOrphans());
      assertThat(seesawHammer.firstWholePrompt(index, script)).as("seed %d", seed).isEmpty();
    }
  }

  /**
   * A script of few blocks that soon are all gone, or of long prompts, with plain engines or with
   * tiers and groups.
   */
  static Script script(long seed) {
    Size size = seed % 3 == 0 ? size(1, 3, 3) : size(4, 5, 100);
    Odds odds = new Odds(seed % 4 == 0 ? 20 : 0, 0, 0, 8, 45);
    Habits habits = new Habits(size, odds, 1 + (int) seed % 2, 2, seed % 2 == 0);
    return Workload.of(new Random(seed), habits);
  }

  private static Size size(int engines, int prompts, int maxBlocks) {
    return new Size(engines, new Trees(prompts, maxBlocks, false), 100, 20);
  }
}
