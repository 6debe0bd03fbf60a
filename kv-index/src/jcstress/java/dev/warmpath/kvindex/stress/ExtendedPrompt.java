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
 * Blocks are added to the end of a prompt, into its last run and a new one behind it.
 *
 * <p>A reader sees the beginning, and of the new blocks a first part. It never credits a block
 * whose hashes are not all there yet.
 */
@JCStressTest
@Outcome(id = "6[0-9]", expect = ACCEPTABLE, desc = "before, after, or between two blocks")
@Outcome(id = "70", expect = ACCEPTABLE, desc = "after")
@Outcome(expect = FORBIDDEN, desc = "never was")
@State
public class ExtendedPrompt {

  private static final BlockChain PROMPT = TestedIndex.prompt(TestedIndex.SPACE, 80, 7, 8, 9);

  private final TestedIndex index = TestedIndex.create(1);

  public ExtendedPrompt() {
    index.store(0, PROMPT, 100, 0, 60);
  }

  @Actor
  public void writer() {
    index.store(0, PROMPT, 100, 60, 70);
  }

  @Actor
  public void reader(I_Result result) {
    result.r1 = index.ask(PROMPT).tokens(0);
  }
}
