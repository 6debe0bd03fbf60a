package dev.warmpath.kvindex.stress;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import dev.warmpath.kvindex.PrefixMatches;
import dev.warmpath.kvindex.block.BlockChain;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.III_Result;

/**
 * One engine after the other stores the same prompt, so that the list of holders moves several
 * times.
 *
 * <p>A reader sees those that came first with all they hold before it sees those that came later.
 */
@JCStressTest
@Outcome(id = "10, ([0-9]|10), 0", expect = ACCEPTABLE, desc = "the last one has not come")
@Outcome(id = "10, 10, ([0-9]|10)", expect = ACCEPTABLE, desc = "the last one comes")
@Outcome(expect = FORBIDDEN, desc = "never was")
@State
public class GrownHolders {

  private static final int ENGINES = 20;
  private static final BlockChain PROMPT = TestedIndex.prompt(TestedIndex.SPACE, 10, 7, 8, 9);

  private final TestedIndex index = TestedIndex.create(ENGINES);

  public GrownHolders() {
    index.store(0, PROMPT, 100, 0, 10);
  }

  @Actor
  public void writer() {
    for (int slot = 1; slot < ENGINES; slot++) {
      index.store(slot, PROMPT, 100, 0, 10);
    }
  }

  @Actor
  public void reader(III_Result result) {
    PrefixMatches matches = index.ask(PROMPT);
    result.r1 = matches.tokens(0);
    result.r2 = matches.tokens(1);
    result.r3 = matches.tokens(ENGINES - 1);
  }
}
