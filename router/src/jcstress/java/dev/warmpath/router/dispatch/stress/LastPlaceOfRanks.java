package dev.warmpath.router.dispatch.stress;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.II_Result;

/** Two requests, and a replica of two ranks with room for one: the ranks share the bound. */
@JCStressTest
@Outcome(
    id = {"0, -1", "-1, 0"},
    expect = ACCEPTABLE,
    desc = "one gets it")
@Outcome(expect = FORBIDDEN, desc = "both, or none")
@State
public class LastPlaceOfRanks {

  private final TestedDispatcher dispatcher = new TestedDispatcher("least-requests", 1, 2);

  @Actor
  public void one(II_Result result) {
    result.r1 = dispatcher.replicaOf(TestedDispatcher.request(0));
  }

  @Actor
  public void other(II_Result result) {
    result.r2 = dispatcher.replicaOf(TestedDispatcher.request(1));
  }
}
