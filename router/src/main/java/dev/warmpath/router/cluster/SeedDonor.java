package dev.warmpath.router.cluster;

import dev.warmpath.router.cluster.SeedMessage.Refusal;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.function.BiConsumer;
import java.util.function.LongSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Gives snapshots of what this router knows to routers that start.
 *
 * <p>Each is written when it is asked for, so that it is newer than what the other one has
 * subscribed to, into a file that goes when the other has it, is gone, or asks no more. The index's
 * writer is held up as by a snapshot for the disk, and as rarely.
 *
 * <p>Thread-safe.
 */
public final class SeedDonor {

  /** Routers that are served at a time. */
  static final int MOST_TAKERS = 2;

  /** Chunks that wait to be read at a time; more are dropped and asked for again. */
  static final int MOST_READS = 16;

  /** A taker that asks for nothing for so long is forgotten. */
  static final long IDLE_NANOS = TimeUnit.SECONDS.toNanos(20);

  /** After a failure nobody is given anything for so long. */
  static final long FAILURE_REST_NANOS = TimeUnit.SECONDS.toNanos(5);

  /** Events go on for at least so many times as long as they waited. */
  private static final int PAUSES_APART = 20;

  private static final Logger LOG = LoggerFactory.getLogger(SeedDonor.class);

  /** What there is to give. */
  public interface Source {

    /** What a neighbour is told of it. */
    Stock stock();

    /**
     * Writes the snapshot of now.
     *
     * @return how long the index's writer was held up
     */
    long writeTo(OutputStream out) throws IOException;
  }

  /**
   * What this router has.
   *
   * @param ready whether it is ready itself, or gives nothing yet
   * @param exactEngines engines of which it knows all
   * @param blocks named blocks of all engines
   */
  public record Stock(boolean ready, int exactEngines, long blocks) {}

  /** One router that takes. */
  private static final class Taker {
    final long attempt;
    final SeedFile file;
    long bytes = -1;
    long usedNanos;

    Taker(long attempt, SeedFile file, long nowNanos) {
      this.attempt = attempt;
      this.file = file;
      usedNanos = nowNanos;
    }

    boolean isWritten() {
      return bytes >= 0;
    }
  }

  private final Source source;
  private final Path folder;
  private final Executor work;
  private final LongSupplier nanoClock;
  private final BiConsumer<RouterId, SeedMessage> send;
  private final long beganNanos;
  private final Map<RouterId, Taker> takers = new HashMap<>();
  private int reads;
  private long restUntilNanos;
  private long given;
  private long refused;
  private long failed;
  private long bytesSent;

  SeedDonor(
      Source source,
      Path folder,
      Executor work,
      LongSupplier nanoClock,
      BiConsumer<RouterId, SeedMessage> send) {
    this.source = source;
    this.folder = folder;
    this.work = work;
    this.nanoClock = nanoClock;
    this.send = send;
    beganNanos = nanoClock.getAsLong();
    restUntilNanos = beganNanos;
  }

  synchronized void received(RouterId from, SeedMessage message) {
    long attempt = message.attempt();
    if (message instanceof SeedMessage.Wanted) {
      Stock stock = source.stock();
      long ageMillis = TimeUnit.NANOSECONDS.toMillis(nanoClock.getAsLong() - beganNanos);
      send.accept(
          from,
          new SeedMessage.Offer(
              attempt, refusal(from, stock), stock.exactEngines(), stock.blocks(), ageMillis));
    } else if (message instanceof SeedMessage.Take) {
      take(from, attempt);
    } else if (message instanceof SeedMessage.Pull pull) {
      pull(from, pull);
    } else if (message instanceof SeedMessage.End) {
      Taker taker = takers.get(from);
      if (taker != null && taker.attempt == attempt && taker.isWritten()) {
        given++;
        forget(from);
      }
    }
  }

  private Refusal refusal(RouterId from, Stock stock) {
    if (!stock.ready()) {
      return Refusal.NOT_READY;
    } else if (stock.exactEngines() == 0 && stock.blocks() == 0) {
      return Refusal.NOTHING_KNOWN;
    }
    boolean full = takers.size() >= MOST_TAKERS && !takers.containsKey(from);
    boolean writes = takers.values().stream().anyMatch(taker -> !taker.isWritten());
    boolean rests = nanoClock.getAsLong() - restUntilNanos < 0;
    return full || writes || rests ? Refusal.BUSY : Refusal.NONE;
  }

  private void take(RouterId from, long attempt) {
    Taker before = takers.get(from);
    if (before != null && before.attempt == attempt) {
      if (before.isWritten()) { // the answer was lost
        send.accept(from, new SeedMessage.Taken(attempt, Refusal.NONE, before.bytes));
      }
      return;
    }
    Refusal refusal = refusal(from, source.stock());
    if (refusal != Refusal.NONE) {
      refused++;
      send.accept(from, new SeedMessage.Taken(attempt, refusal, 0));
      return;
    }
    if (before != null) {
      forget(from);
    }
    try {
      Taker taker = new Taker(attempt, SeedFile.open(folder), nanoClock.getAsLong());
      takers.put(from, taker);
      work.execute(() -> write(from, taker));
    } catch (IOException | RejectedExecutionException e) {
      failed(from, attempt, e);
    }
  }

  private void write(RouterId from, Taker taker) {
    try {
      OutputStream out = taker.file.output();
      long pauseNanos = source.writeTo(out);
      out.flush();
      written(from, taker, taker.file.bytes(), pauseNanos);
    } catch (IOException | RuntimeException | Error e) {
      failed(from, taker.attempt, e);
    }
  }

  private synchronized void written(RouterId from, Taker taker, long bytes, long pauseNanos) {
    long now = nanoClock.getAsLong();
    restUntilNanos = now + PAUSES_APART * Math.max(pauseNanos, 0);
    taker.bytes = bytes;
    taker.usedNanos = now;
    if (takers.get(from) != taker) {
      taker.file.close(); // forgotten meanwhile
      return;
    }
    LOG.info("router={} takes a snapshot of {} bytes", from, bytes);
    send.accept(from, new SeedMessage.Taken(taker.attempt, Refusal.NONE, bytes));
  }

  private synchronized void failed(RouterId from, long attempt, Throwable thrown) {
    failed++;
    restUntilNanos = nanoClock.getAsLong() + FAILURE_REST_NANOS;
    LOG.warn("router={} gets no snapshot: {}", from, thrown.toString());
    Taker taker = takers.get(from);
    if (taker != null && taker.attempt == attempt) {
      taker.bytes = 0;
      forget(from);
    }
    send.accept(from, new SeedMessage.Taken(attempt, Refusal.FAILED, 0));
  }

  private void pull(RouterId from, SeedMessage.Pull pull) {
    Taker taker = takers.get(from);
    if (taker == null || taker.attempt != pull.attempt() || !taker.isWritten()) {
      return;
    }
    taker.usedNanos = nanoClock.getAsLong();
    boolean isThere = pull.chunk() >= 0 && pull.chunk() < SeedMessage.chunks(taker.bytes);
    if (isThere && reads < MOST_READS) {
      reads++;
      try {
        work.execute(() -> read(from, taker, pull.chunk()));
      } catch (RejectedExecutionException e) {
        reads--; // the process ends
      }
    }
  }

  private void read(RouterId from, Taker taker, int chunk) {
    try {
      int length = SeedMessage.length(taker.bytes, chunk);
      send.accept(
          from, new SeedMessage.Chunk(taker.attempt, chunk, taker.file.read(chunk, length)));
      sent(length);
    } catch (IOException e) {
      LOG.debug("router={} chunk={} is not read: {}", from, chunk, e.toString());
    } finally {
      readEnded();
    }
  }

  private synchronized void sent(int bytes) {
    bytesSent += bytes;
  }

  private synchronized void readEnded() {
    reads--;
  }

  /** Forgets those that are gone. */
  synchronized void reachable(Set<RouterId> others) {
    for (RouterId taker : Set.copyOf(takers.keySet())) {
      if (!others.contains(taker)) {
        forget(taker);
      }
    }
  }

  /** Forgets those that ask no more. */
  synchronized void tick() {
    long now = nanoClock.getAsLong();
    for (Map.Entry<RouterId, Taker> each : Set.copyOf(takers.entrySet())) {
      if (each.getValue().isWritten() && now - each.getValue().usedNanos > IDLE_NANOS) {
        forget(each.getKey());
      }
    }
  }

  /** One whose snapshot is being written closes it when it is. */
  private void forget(RouterId from) {
    Taker taker = takers.remove(from);
    if (taker != null && taker.isWritten()) {
      taker.file.close();
    }
  }

  synchronized void close() {
    Set.copyOf(takers.keySet()).forEach(this::forget);
  }

  /** Routers served now. */
  synchronized int takers() {
    return takers.size();
  }

  /** What was given so far. */
  record Given(int takers, long given, long refused, long failed, long bytes) {}

  synchronized Given given() {
    return new Given(takers.size(), given, refused, failed, bytesSent);
  }
}
