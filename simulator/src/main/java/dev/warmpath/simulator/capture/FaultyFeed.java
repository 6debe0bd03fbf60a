package dev.warmpath.simulator.capture;

import dev.warmpath.eventingest.capture.CaptureRecord.Events;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import org.jspecify.annotations.Nullable;

/**
 * One recorded stream on its way through {@link Faults}.
 *
 * <p>Confined to its user's thread.
 */
public final class FaultyFeed {

  private final Faults faults;
  private final SplittableRandom random;
  private @Nullable Events late;
  private long messages;
  private long restartedAt;
  private long dropped;
  private boolean tailLost;

  public FaultyFeed(Faults faults, int stream) {
    this.faults = faults;
    random = new SplittableRandom(faults.seed() * 31 + stream);
  }

  /**
   * The message with the number that it has after a restart; to be called for every message, in
   * order, before {@link #arriving}.
   */
  public Events numbered(Events message) {
    if (faults.restartAt() > 0 && messages == faults.restartAt()) {
      restartedAt = message.sequence();
      late = null;
    }
    messages++;
    return isRestarted() ? withSequence(message, message.sequence() - restartedAt) : message;
  }

  /** What arrives now that this message was sent, in this order. */
  public List<Events> arriving(Events message) {
    List<Events> arriving = new ArrayList<>(3);
    double fate = random.nextDouble();
    @Nullable Events before = late;
    late = null;
    tailLost = fate < faults.drop();
    if (tailLost) {
      dropped++;
    } else if (hits(faults.reorder()) && before == null) {
      late = message;
      tailLost = true;
      return arriving;
    } else {
      arriving.add(hits(faults.corrupt()) ? cut(message) : message);
    }
    if (!arriving.isEmpty() && hits(faults.duplicate())) {
      arriving.add(arriving.get(0));
    }
    if (before != null) {
      arriving.add(before);
    }
    return arriving;
  }

  /** What is still on its way when nothing more is sent. */
  public List<Events> remaining() {
    List<Events> remaining = late == null ? List.of() : List.of(late);
    tailLost &= late == null;
    late = null;
    return remaining;
  }

  /** How late the next message is, in nanoseconds. */
  public long delayNanos() {
    long most = faults.delay().toNanos();
    return most == 0 ? 0 : random.nextLong(most + 1);
  }

  /** Messages that were dropped. */
  public long dropped() {
    return dropped;
  }

  /** Whether the last message did not arrive, so that nobody can know of it yet. */
  public boolean isTailLost() {
    return tailLost;
  }

  private boolean isRestarted() {
    return faults.restartAt() > 0 && messages > faults.restartAt();
  }

  private boolean hits(double share) {
    return share > 0 && random.nextDouble() < share;
  }

  private static Events cut(Events message) {
    byte[] payload = Arrays.copyOf(message.payload(), message.payload().length / 2);
    return new Events(
        message.timeSeconds(), message.stream(), message.topic(), message.sequence(), payload);
  }

  private static Events withSequence(Events message, long sequence) {
    return new Events(
        message.timeSeconds(), message.stream(), message.topic(), sequence, message.payload());
  }

  /**
   * How often what goes wrong.
   *
   * @param drop share of messages that do not arrive, from 0 to 1
   * @param duplicate share that comes twice
   * @param reorder share that comes behind the next one
   * @param corrupt share that is cut in the middle
   * @param restartAt after so many messages of a stream its numbers begin at 0 again; 0 for never
   * @param delay each message is late by up to this
   * @param seed of the choice; the same for the same messages to be hit
   */
  public record Faults(
      double drop,
      double duplicate,
      double reorder,
      double corrupt,
      long restartAt,
      Duration delay,
      long seed) {

    /** All goes well. */
    public static final Faults NONE = new Faults(0, 0, 0, 0, 0, Duration.ZERO, 0);

    public Faults {
      checkShare("drop", drop);
      checkShare("duplicate", duplicate);
      checkShare("reorder", reorder);
      checkShare("corrupt", corrupt);
      if (restartAt < 0 || delay.isNegative()) {
        throw new IllegalArgumentException("restartAt=" + restartAt + " delay=" + delay);
      }
    }

    /** Only losses. */
    public static Faults dropping(double share, long seed) {
      return new Faults(share, 0, 0, 0, 0, Duration.ZERO, seed);
    }

    private static void checkShare(String name, double share) {
      if (!(share >= 0 && share <= 1)) {
        throw new IllegalArgumentException(name + "=" + share + ": must be from 0 to 1");
      }
    }
  }
}
