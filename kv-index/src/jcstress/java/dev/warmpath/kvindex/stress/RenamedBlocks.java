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
 * An engine stores its blocks a second time under other engine hashes, then drops the first copies.
 *
 * <p>A reader sees all blocks all the time.
 */
@JCStressTest
@Outcome(id = "10", expect = ACCEPTABLE, desc = "held under one hash or two")
@Outcome(expect = FORBIDDEN, desc = "never was")
@State
public class RenamedBlocks {

  private static final BlockChain PROMPT = TestedIndex.prompt(TestedIndex.SPACE, 20, 7, 8, 9);

  private final TestedIndex index = TestedIndex.create(1);

  public RenamedBlocks() {
    index.store(0, PROMPT, 100, 0, 10);
  }

  @Actor
  public void writer() {
    index.store(0, PROMPT, 200, 0, 10);
    index.drop(0, 100, 0, 10);
  }

  @Actor
  public void reader(I_Result result) {
    result.r1 = index.ask(PROMPT).tokens(0);
  }
}
