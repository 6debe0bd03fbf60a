package dev.warmpath.kvindex.stress;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import dev.warmpath.kvindex.PrefixMatches;
import dev.warmpath.kvindex.block.BlockChain;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.II_Result;

/**
 * A second engine stores a prompt that leaves a known one in the middle of a run.
 *
 * <p>A reader finds what both have in common, and the new branch when it is whole.
 */
@JCStressTest
@Outcome(id = "5, [0-8]", expect = ACCEPTABLE, desc = "before, after, or between two blocks")
@Outcome(expect = FORBIDDEN, desc = "never was")
@State
public class InsertedChild {

  private static final BlockChain KNOWN = TestedIndex.prompt(TestedIndex.SPACE, 10, 7);
  private static final BlockChain BRANCH =
      TestedIndex.prompt(TestedIndex.SPACE, 10, 7, 7, 7, 7, 7, 3, 4, 5);

  private final TestedIndex index = TestedIndex.create(2);

  public InsertedChild() {
    index.store(0, KNOWN, 100, 0, 10);
  }

  @Actor
  public void writer() {
    index.store(1, BRANCH, 200, 0, 8);
  }

  @Actor
  public void reader(II_Result result) {
    PrefixMatches matches = index.ask(BRANCH);
    result.r1 = matches.tokens(0);
    result.r2 = matches.tokens(1);
  }
}
