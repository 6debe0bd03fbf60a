package dev.warmpath.kvindex.stress;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import dev.warmpath.kvindex.block.BlockChain;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.III_Result;

/**
 * So many branches come and go that the table of children is made anew.
 *
 * <p>A reader finds the branches that were there before, and those that came once they have come.
 */
@JCStressTest
@Outcome(id = "2, 2, [012]", expect = ACCEPTABLE, desc = "old branches are there, the last may be")
@Outcome(expect = FORBIDDEN, desc = "a branch was lost")
@State
public class RebuiltTable {

  private static final int OLD = 400;
  private static final int ALL = 900;
  private static final BlockChain[] BRANCHES = new BlockChain[ALL];

  static {
    for (int i = 0; i < ALL; i++) {
      BRANCHES[i] = TestedIndex.prompt(TestedIndex.SPACE, 2, 7, i);
    }
  }

  private final TestedIndex index = TestedIndex.create(1);

  public RebuiltTable() {
    index.store(0, BRANCHES[0], 1 << 20, 0, 1);
    for (int i = 0; i < OLD; i++) {
      branch(i);
    }
  }

  @Actor
  public void writer() {
    for (int i = OLD; i < ALL; i++) {
      branch(i);
      drop(i - OLD + 2);
    }
  }

  @Actor
  public void reader(III_Result result) {
    result.r1 = index.ask(BRANCHES[0]).tokens(0);
    result.r2 = index.ask(BRANCHES[1]).tokens(0);
    result.r3 = index.ask(BRANCHES[ALL - 1]).tokens(0);
  }

  private void branch(int number) {
    index.storeBehind(0, 1 << 20, number, number);
  }

  private void drop(int number) {
    index.drop(0, number, 0, 1);
  }
}
