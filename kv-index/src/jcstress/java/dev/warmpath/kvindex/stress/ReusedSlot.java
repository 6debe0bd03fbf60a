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
 * An engine leaves, and one with another layout takes its slot and its shelf.
 *
 * <p>A reader judges no engine's blocks by the other one's layout: the new one drops two blocks of
 * each hit, so that 5 blocks of its own are 3, and 10 of the old one would be 8.
 */
@JCStressTest
@Outcome(id = "10", expect = ACCEPTABLE, desc = "the engine that leaves")
@Outcome(id = "[0-3]", expect = ACCEPTABLE, desc = "nobody, or the new engine")
@Outcome(expect = FORBIDDEN, desc = "a mixture")
@State
public class ReusedSlot {

  private static final BlockChain PROMPT = TestedIndex.prompt(TestedIndex.SPACE, 20, 7, 8, 9);

  private final TestedIndex index = TestedIndex.create(1);

  public ReusedSlot() {
    index.store(0, PROMPT, 100, 0, 10);
  }

  @Actor
  public void writer() {
    index.removeEngine(0);
    index.store(index.addEngine(2), PROMPT, 500, 0, 5);
  }

  @Actor
  public void reader(I_Result result) {
    result.r1 = index.ask(PROMPT).tokens(0);
  }
}
