package dev.warmpath.router.dispatch.stress;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import dev.warmpath.router.dispatch.Assignment;
import dev.warmpath.router.dispatch.DispatchResult;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.IIII_Result;

/** A request that waits is withdrawn while there comes to be room for it. */
@JCStressTest
@Outcome(id = "1, 0, 0, 0", expect = ACCEPTABLE, desc = "withdrawn")
@Outcome(id = "0, 1, 0, 1", expect = ACCEPTABLE, desc = "it got the place")
@Outcome(expect = FORBIDDEN, desc = "both, or neither")
@State
public class WithdrawnRequest {

  private final TestedDispatcher dispatcher = new TestedDispatcher("least-requests", 1, 1);
  private final Assignment running = dispatcher.assign(TestedDispatcher.request(0));
  private final DispatchResult.Queued waiting =
      (DispatchResult.Queued) dispatcher.admit(TestedDispatcher.request(1));

  @Actor
  public void end() {
    running.finished(dev.warmpath.router.fleet.Outcome.COMPLETED);
  }

  @Actor
  public void withdraw(IIII_Result result) {
    result.r1 = waiting.withdraw() ? 1 : 0;
  }

  @Arbiter
  public void count(IIII_Result result) {
    result.r2 = dispatcher.served();
    result.r3 = dispatcher.queued();
    result.r4 = dispatcher.inFlight();
  }
}
