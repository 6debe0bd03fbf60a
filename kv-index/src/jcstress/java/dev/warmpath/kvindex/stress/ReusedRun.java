package dev.warmpath.kvindex.stress;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import dev.warmpath.kvindex.block.BlockChain;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.I_Result;

/**
 * A prompt is forgotten, and a longer one with the same local hashes takes its memory, in another
 * space.
 *
 * <p>A reader on its way through the first one never ends in the second.
 */
@JCStressTest
@Outcome(id = "[0-9]|10", expect = ACCEPTABLE, desc = "before, after, or between two blocks")
@Outcome(expect = FORBIDDEN, desc = "blocks of another prompt")
@State
public class ReusedRun {

  private static final BlockChain SHORT = TestedIndex.prompt(TestedIndex.SPACE, 30, 7, 8, 9);
  private static final BlockChain LONG = TestedIndex.prompt(TestedIndex.OTHER_SPACE, 30, 7, 8, 9);

  private final TestedIndex index = TestedIndex.create(1);

  public ReusedRun() {
    index.store(0, SHORT, 100, 0, 10);
  }

  @Actor
  public void writer() {
    index.drop(0, 100, 0, 10);
    index.store(0, LONG, 200, 0, 30);
  }

  @Actor
  public void reader(I_Result result) {
    result.r1 = index.ask(SHORT).tokens(0);
  }
}
