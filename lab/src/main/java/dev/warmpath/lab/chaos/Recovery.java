package dev.warmpath.lab.chaos;

import dev.warmpath.router.routing.policy.Policies;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;

/**
 * Asks round robin, when all faults are healed, until every engine has given a right answer.
 *
 * <p>Confined to one thread; runs once.
 */
final class Recovery {

  private static final long LIMIT_NANOS = TimeUnit.SECONDS.toNanos(45); // beyond any ejection
  private static final long PAUSE_MILLIS = 50;

  private final ChaosFleet fleet;
  private final Questions questions;
  private final ChaosClient client;
  private long nanos;

  Recovery(ChaosFleet fleet, Questions questions, ChaosClient client) {
    this.fleet = fleet;
    this.questions = questions;
    this.client = client;
  }

  /** The engines that gave none in time. */
  Set<String> await(Random random) throws InterruptedException {
    fleet.router().dispatcher().policy(Policies.named("round-robin", Map.of()));
    Set<String> missing = new TreeSet<>();
    fleet.engines().stream().map(ChaosEngine::name).forEach(missing::add);
    long start = System.nanoTime();
    for (int number = 0; !missing.isEmpty() && nanos < LIMIT_NANOS; number++) {
      Question question = questions.draw(ClientBehaviour.PATIENT, random);
      Verdict verdict = client.send(question, ClientBehaviour.PATIENT, "r" + number, random);
      if (verdict.kind() == Verdict.Kind.COMPLETED) {
        missing.remove(verdict.replica());
      }
      TimeUnit.MILLISECONDS.sleep(PAUSE_MILLIS);
      nanos = System.nanoTime() - start;
    }
    return missing;
  }

  /** How long that took. */
  long millis() {
    return TimeUnit.NANOSECONDS.toMillis(nanos);
  }
}
