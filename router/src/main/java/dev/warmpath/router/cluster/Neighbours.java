package dev.warmpath.router.cluster;

import dev.warmpath.router.metrics.Metric;
import dev.warmpath.router.metrics.MetricValues;
import java.nio.file.Path;
import java.util.Set;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.BiConsumer;
import java.util.function.BooleanSupplier;
import java.util.function.LongSupplier;

/**
 * Snapshots between neighbours: this router gets one when it starts, and gives them from then on.
 *
 * <p>Whoever has the {@link ClusterLink} hands over who is reachable and the messages whose first
 * byte is from {@link #FIRST_KIND} to {@link #LAST_KIND}, and lets time pass some ten times a
 * second.
 *
 * <p>Thread-safe.
 */
public final class Neighbours implements AutoCloseable {

  /** The first of the kinds of messages that are for this. */
  public static final int FIRST_KIND = SeedMessage.FIRST_KIND;

  /** The last of them. */
  public static final int LAST_KIND = SeedMessage.LAST_KIND;

  private final SeedDonor donor;
  private final WarmStart start;
  private final AtomicLong malformed = new AtomicLong();

  /**
   * What it works with.
   *
   * @param send brings a message to another router, or does not; never waits
   * @param work runs what reads and writes files; has more than one thread
   * @param folder for files that have no names
   */
  public record Environment(
      BiConsumer<RouterId, byte[]> send, Executor work, LongSupplier nanoClock, Path folder) {}

  /**
   * Begins to look for a neighbour's snapshot.
   *
   * @param maxBytes a larger snapshot is not taken
   * @param seedWaitMs how long at most
   */
  public Neighbours(
      Environment environment,
      SeedDonor.Source source,
      WarmStart.Graft graft,
      long maxBytes,
      int seedWaitMs) {
    BiConsumer<RouterId, SeedMessage> send =
        (to, message) -> environment.send().accept(to, SeedMessage.encode(message));
    donor =
        new SeedDonor(
            source, environment.folder(), environment.work(), environment.nanoClock(), send);
    start =
        new WarmStart(
            graft,
            environment.folder(),
            maxBytes,
            TimeUnit.MILLISECONDS.toNanos(seedWaitMs),
            environment.work(),
            environment.nanoClock(),
            send);
  }

  /** These can be reached now. */
  public void reachable(Set<RouterId> others) {
    donor.reachable(others);
    start.reachable(others);
  }

  /** A message of one of the kinds came. */
  public void received(RouterId from, byte[] message) {
    SeedMessage read = SeedMessage.decode(message);
    if (read == null) {
      malformed.incrementAndGet();
    } else if (read instanceof SeedMessage.Offer
        || read instanceof SeedMessage.Taken
        || read instanceof SeedMessage.Chunk) {
      start.received(from, read);
    } else {
      donor.received(from, read);
    }
  }

  /**
   * Lets time pass.
   *
   * @param mayMeet whether there may be others that cannot be reached yet
   */
  public void tick(BooleanSupplier mayMeet) {
    start.tick(mayMeet);
    donor.tick();
  }

  /**
   * How the start went.
   *
   * @param outcome never WAITING again once it is not
   * @param seconds until that was decided, or until now
   * @param bytes of snapshots received
   */
  public record Seed(WarmStart.Outcome outcome, double seconds, long bytes) {}

  /** How the start went. */
  public Seed seed() {
    return new Seed(start.outcome(), start.seconds(), start.receivedBytes());
  }

  /** How the start went; never WAITING again once it is not. */
  public WarmStart.Outcome outcome() {
    return start.outcome();
  }

  /** Routers that take a snapshot now. */
  int takers() {
    return donor.takers();
  }

  /** Of snapshots, at the start. */
  long receivedBytes() {
    return start.receivedBytes();
  }

  /** For a scrape. */
  public void collect(MetricValues to) {
    Seed seed = seed();
    for (WarmStart.Outcome each : WarmStart.Outcome.values()) {
      to.add(Metric.CLUSTER_SEED, each == seed.outcome() ? 1 : 0, each.label());
    }
    to.add(Metric.CLUSTER_SEED_SECONDS, seed.seconds());
    to.add(Metric.CLUSTER_SEED_BYTES, seed.bytes());
    SeedDonor.Given given = donor.given();
    to.add(Metric.CLUSTER_SNAPSHOTS_GIVEN_TOTAL, given.given(), "given");
    to.add(Metric.CLUSTER_SNAPSHOTS_GIVEN_TOTAL, given.refused(), "refused");
    to.add(Metric.CLUSTER_SNAPSHOTS_GIVEN_TOTAL, given.failed(), "failed");
    to.add(Metric.CLUSTER_SNAPSHOTS_GIVEN_BYTES_TOTAL, given.bytes());
    to.add(Metric.CLUSTER_SNAPSHOT_TAKERS, given.takers());
    to.add(Metric.CLUSTER_SNAPSHOT_MALFORMED_TOTAL, malformed.get());
  }

  @Override
  public void close() {
    start.close();
    donor.close();
  }
}
