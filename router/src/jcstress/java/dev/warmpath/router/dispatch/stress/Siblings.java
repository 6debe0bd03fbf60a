package dev.warmpath.router.dispatch.stress;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.II_Result;

/** Two requests with one prompt: whoever chooses second sees that its blocks are on their way. */
@JCStressTest
@Outcome(
    id = {"0, 0", "1, 1"},
    expect = ACCEPTABLE,
    desc = "together")
@Outcome(expect = FORBIDDEN, desc = "one did not see the other")
@State
public class Siblings {

  private final TestedDispatcher dispatcher = new TestedDispatcher("warm", 8, 1, 1);

  @Actor
  public void one(II_Result result) {
    result.r1 = dispatcher.replicaOf(TestedDispatcher.request(0));
  }

  @Actor
  public void other(II_Result result) {
    result.r2 = dispatcher.replicaOf(TestedDispatcher.request(0));
  }
}
