package dev.warmpath.router.dispatch.stress;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import dev.warmpath.router.dispatch.Assignment;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.IIII_Result;

/**
 * A request is ended twice while another one gets the same engine: what the first held is given
 * back once, and what the second holds stays.
 */
@JCStressTest
@Outcome(id = "1, 20, 0, 0", expect = ACCEPTABLE, desc = "load and blocks of one, then of none")
@Outcome(expect = FORBIDDEN, desc = "lost, or given back twice")
@State
public class GivenBack {

  private final TestedDispatcher dispatcher = new TestedDispatcher("warm", 8, 1);
  private final Assignment first = dispatcher.assign(TestedDispatcher.request(0));
  private Assignment second = first;

  @Actor
  public void end() {
    first.finished(dev.warmpath.router.fleet.Outcome.FAILED);
  }

  @Actor
  public void endAndAssign() {
    first.finished(dev.warmpath.router.fleet.Outcome.CANCELLED);
    second = dispatcher.assign(TestedDispatcher.request(1));
  }

  @Arbiter
  public void count(IIII_Result result) {
    result.r1 = dispatcher.inFlight();
    result.r2 = dispatcher.expectedBlocks();
    second.finished(dev.warmpath.router.fleet.Outcome.FAILED);
    result.r3 = dispatcher.inFlight();
    result.r4 = dispatcher.expectedBlocks();
  }
}
