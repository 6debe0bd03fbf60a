package dev.warmpath.kvindex.stress;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE_INTERESTING;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import dev.warmpath.kvindex.PrefixMatches;
import dev.warmpath.kvindex.block.BlockChain;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.II_Result;

/**
 * An engine that holds several runs is cleared; another one holds the same.
 *
 * <p>A reader sees the other engine's blocks all the time.
 */
@JCStressTest
@Outcome(id = "(150|0), 140", expect = ACCEPTABLE, desc = "before or after")
@Outcome(id = "(64|128), 140", expect = ACCEPTABLE_INTERESTING, desc = "run by run")
@Outcome(expect = FORBIDDEN, desc = "never was")
@State
public class ClearedEngine {

  private static final BlockChain PROMPT = TestedIndex.prompt(TestedIndex.SPACE, 150, 7, 8, 9);

  private final TestedIndex index = TestedIndex.create(2);

  public ClearedEngine() {
    index.store(0, PROMPT, 1000, 0, 150);
    index.store(1, PROMPT, 1000, 0, 140);
  }

  @Actor
  public void writer() {
    index.clear(0);
  }

  @Actor
  public void reader(II_Result result) {
    PrefixMatches matches = index.ask(PROMPT);
    result.r1 = matches.tokens(0);
    result.r2 = matches.tokens(1);
  }
}
