package dev.warmpath.kvindex.stress;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import dev.warmpath.kvindex.block.BlockChain;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.II_Result;

/**
 * The end of a prompt is removed, a whole run and a part of the one before, and then all of it.
 *
 * <p>What a reader sees gets shorter from query to query; nothing comes back.
 */
@JCStressTest
@Outcome(id = "70, (70|6[0-9]|0)", expect = ACCEPTABLE, desc = "first query before")
@Outcome(id = "6[1-9], (6[0-9]|0)", expect = ACCEPTABLE, desc = "first query within")
@Outcome(id = "60, (60|0)", expect = ACCEPTABLE, desc = "first query between")
@Outcome(id = "0, 0", expect = ACCEPTABLE, desc = "both after")
@Outcome(expect = FORBIDDEN, desc = "never was")
@State
public class TruncatedPrompt {

  private static final BlockChain PROMPT = TestedIndex.prompt(TestedIndex.SPACE, 80, 7, 8, 9);

  private final TestedIndex index = TestedIndex.create(1);

  public TruncatedPrompt() {
    index.store(0, PROMPT, 100, 0, 70);
  }

  @Actor
  public void writer() {
    index.drop(0, 100, 60, 70);
    index.drop(0, 100, 0, 1);
  }

  @Actor
  public void reader(II_Result result) {
    result.r1 = index.ask(PROMPT).tokens(0);
    result.r2 = index.ask(PROMPT).tokens(0);
  }
}
