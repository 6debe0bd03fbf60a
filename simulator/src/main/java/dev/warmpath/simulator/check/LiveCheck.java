package dev.warmpath.simulator.check;

import dev.warmpath.simulator.load.ChatReply;
import dev.warmpath.simulator.load.ChatSender;
import dev.warmpath.simulator.load.FleetPage;
import dev.warmpath.simulator.load.LoadReport;
import java.time.Duration;
import java.util.EnumMap;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.TimeUnit;

/**
 * Sends requests on and judges each prediction by what the engine says it reused.
 *
 * <p>Thread-safe.
 */
public final class LiveCheck implements ChatSender {

  private final ChatSender router;
  private final FleetPage fleet;
  private final Duration settle;
  private final Map<Verdict, Integer> verdicts = new EnumMap<>(Verdict.class);

  /**
   * @param settle how long to wait after each reply: an engine may answer before it publishes what
   *     its last step stored and evicted
   */
  public LiveCheck(ChatSender router, FleetPage fleet, Duration settle) {
    this.router = router;
    this.fleet = fleet;
    this.settle = settle;
  }

  @Override
  public ChatReply send(String body) {
    try {
      Map<String, Long> before = fleet.blocksRemoved();
      ChatReply reply = router.send(body);
      TimeUnit.NANOSECONDS.sleep(settle.toNanos());
      String replica = reply.replica() == null ? "" : reply.replica();
      boolean evicted = !Objects.equals(before.get(replica), fleet.blocksRemoved().get(replica));
      count(Verdict.of(reply, evicted));
      return reply;
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException("interrupted", e);
    }
  }

  /** What was judged so far, beside the load's own figures. */
  public synchronized CheckReport report(LoadReport load) {
    return new CheckReport(verdicts, load);
  }

  private synchronized void count(Verdict verdict) {
    verdicts.merge(verdict, 1, Integer::sum);
  }
}
