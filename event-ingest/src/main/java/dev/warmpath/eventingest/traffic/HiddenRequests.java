package dev.warmpath.eventingest.traffic;

import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Tells an engine's {@link TrafficWatch} when requests in name spaces that no event shows are under
 * way, and from when on this router has seen all of them.
 *
 * <p>Confined to the writer, except {@link #began} and {@link #ended}.
 */
public final class HiddenRequests {

  /** SGLang tells of an answer's last blocks up to 40 steps late, or when it is idle. */
  private static final Duration AFTERWARDS = Duration.ofSeconds(30);

  /** So long without a tick, and what came meanwhile may not have been read. */
  private static final Duration STOOD_STILL = Duration.ofSeconds(5);

  private final TrafficWatch traffic;
  private final Clock clock;
  private final Consumer<Runnable> writer;
  private int requests;
  private Instant until = Instant.MIN;
  private @Nullable Instant heardFrom;
  private Instant tickedAt;

  /**
   * @param writer runs something on the writer, behind all that waits there
   */
  public HiddenRequests(TrafficWatch traffic, Clock clock, Consumer<Runnable> writer) {
    this.traffic = traffic;
    this.clock = clock;
    this.writer = writer;
    tickedAt = clock.instant();
  }

  /** One is about to be sent. */
  public void began() {
    traffic.sawHidden();
    writer.accept(() -> {
      requests++;
      traffic.underWay(true);
    });
  }

  /** One of those ended. */
  public void ended() {
    writer.accept(() -> {
      requests = Math.max(0, requests - 1); // some may have begun before this
      until = clock.instant().plus(AFTERWARDS);
    });
  }

  /** The engine is connected. What it kept for its first connection is of times before. */
  public void connected() {
    if (heardFrom == null) {
      heardFrom = clock.instant();
    }
  }

  /** Lets time pass. A process that stood still has not read what came meanwhile: it waits anew. */
  public void tick() {
    Instant now = clock.instant();
    if (heardFrom != null && now.isAfter(tickedAt.plus(STOOD_STILL))) {
      heardFrom = now;
    }
    tickedAt = now;
    if (heardFrom != null && heardFrom.plus(AFTERWARDS).isBefore(now)) {
      traffic.watching();
      if (traffic.isUnderWay() && haveEnded(now)) {
        writer.accept(() -> endedAll(now));
      }
    }
  }

  /** Behind all that waits: a request may have begun before this in it. */
  private void endedAll(Instant decided) {
    if (haveEnded(decided)) {
      traffic.underWay(false);
    }
  }

  private boolean haveEnded(Instant now) {
    return requests == 0 && until.isBefore(now);
  }
}
