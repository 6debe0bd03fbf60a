package dev.warmpath.kvindex.stress;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import dev.warmpath.kvindex.PrefixMatches;
import dev.warmpath.kvindex.StorageTier;
import dev.warmpath.kvindex.block.BlockChain;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.II_Result;

/**
 * An engine that had blocks on the GPU alone stores more in CPU memory, which changes how it is
 * judged.
 *
 * <p>A reader sees what the GPU has all the time, and of the rest a first part.
 */
@JCStressTest
@Outcome(id = "5, ([5-9]|10)", expect = ACCEPTABLE, desc = "before, after, or between two blocks")
@Outcome(expect = FORBIDDEN, desc = "never was")
@State
public class NewTier {

  private static final BlockChain PROMPT = TestedIndex.prompt(TestedIndex.SPACE, 20, 7, 8, 9);

  private final TestedIndex index = TestedIndex.create(1);

  public NewTier() {
    index.store(0, PROMPT, 100, 0, 5);
  }

  @Actor
  public void writer() {
    index.store(0, StorageTier.CPU, PROMPT, 100, 5, 10);
  }

  @Actor
  public void reader(II_Result result) {
    PrefixMatches matches = index.ask(PROMPT);
    result.r1 = matches.tokens(0, StorageTier.GPU);
    result.r2 = matches.tokens(0, StorageTier.CPU);
  }
}
