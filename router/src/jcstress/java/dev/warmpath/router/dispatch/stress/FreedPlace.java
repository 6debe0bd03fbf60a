package dev.warmpath.router.dispatch.stress;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import dev.warmpath.router.dispatch.Assignment;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.III_Result;

/** A replica with room for one: a request comes while the one that runs there ends. */
@JCStressTest
@Outcome(id = "1, 0, 1", expect = ACCEPTABLE, desc = "it got the place, at once or later")
@Outcome(id = "0, 1, 0", expect = FORBIDDEN, desc = "it waits although there is room")
@Outcome(expect = FORBIDDEN, desc = "never was")
@State
public class FreedPlace {

  private final TestedDispatcher dispatcher = new TestedDispatcher("least-requests", 1, 1);
  private final Assignment running = dispatcher.assign(TestedDispatcher.request(0));

  @Actor
  public void end() {
    running.finished(dev.warmpath.router.fleet.Outcome.COMPLETED);
  }

  @Actor
  public void admit() {
    dispatcher.admit(TestedDispatcher.request(1));
  }

  @Arbiter
  public void count(III_Result result) {
    result.r1 = dispatcher.served();
    result.r2 = dispatcher.queued();
    result.r3 = dispatcher.inFlight();
  }
}
