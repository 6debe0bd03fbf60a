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
 * Blocks wait for the one before them, which comes last.
 *
 * <p>A reader sees none of them before it, and then a first part.
 */
@JCStressTest
@Outcome(id = "5|[6-9]|1[0-9]|20", expect = ACCEPTABLE, desc = "before, after, or between two blocks")
@Outcome(expect = FORBIDDEN, desc = "never was")
@State
public class AdoptedOrphans {

  private static final BlockChain PROMPT = TestedIndex.prompt(TestedIndex.SPACE, 20, 7, 8, 9);

  private final TestedIndex index = TestedIndex.create(1);

  public AdoptedOrphans() {
    index.store(0, PROMPT, 100, 0, 5);
    index.store(0, PROMPT, 100, 10, 20);
  }

  @Actor
  public void writer() {
    index.store(0, PROMPT, 100, 5, 10);
  }

  @Actor
  public void reader(I_Result result) {
    result.r1 = index.ask(PROMPT).tokens(0);
  }
}
