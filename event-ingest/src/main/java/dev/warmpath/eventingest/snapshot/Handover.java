package dev.warmpath.eventingest.snapshot;

import java.io.IOException;
import java.io.OutputStream;
import java.util.Arrays;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Carries bytes from the thread that must not be held up to the one that writes the file: the first
 * never waits for the disk longer than its deadline, and gives up then.
 *
 * <p>{@link #fill} and {@link #write} belong to one thread, {@link #drainTo} to another.
 *
 * <p>Thread-safe in that way.
 */
public final class Handover extends OutputStream {

  private static final int PIECES = 64;

  /** Some bytes, or the end, which may be a failure. */
  @SuppressWarnings("ArrayRecordComponent") // never compared
  private record Piece(byte @Nullable [] bytes, @Nullable Exception failure) {}

  private final BlockingQueue<Piece> pieces = new ArrayBlockingQueue<>(PIECES);
  private final LongSupplier nanoClock;
  private final long limitNanos;
  private long beganNanos;
  private volatile long tookNanos = -1;
  private volatile boolean abandoned;

  /**
   * @param limitNanos how long the writing thread may be busy with it
   */
  public Handover(LongSupplier nanoClock, long limitNanos) {
    this.nanoClock = nanoClock;
    this.limitNanos = limitNanos;
  }

  /** Writes {@code content}, from the thread that must not be held up. */
  public void fill(SnapshotDirectory.Content content) {
    beganNanos = nanoClock.getAsLong();
    try {
      content.writeTo(this);
      put(new Piece(null, null));
    } catch (IOException | RuntimeException e) {
      pieces.clear(); // nobody wants the rest, and so the end always finds room
      pieces.add(new Piece(null, e));
    }
    tookNanos = nanoClock.getAsLong() - beganNanos;
  }

  /** How long the writing thread was busy, −1 while it is. */
  public long tookNanos() {
    return tookNanos;
  }

  @Override
  public void write(int value) throws IOException {
    write(new byte[] {(byte) value}, 0, 1);
  }

  @Override
  public void write(byte[] from, int offset, int count) throws IOException {
    put(new Piece(Arrays.copyOfRange(from, offset, offset + count), null));
  }

  private void put(Piece piece) throws IOException {
    long left = beganNanos + limitNanos - nanoClock.getAsLong();
    if (abandoned || left <= 0 || !offered(piece, left)) {
      throw new IOException(
          "given up after " + TimeUnit.NANOSECONDS.toMillis(limitNanos) + " ms: events must go on");
    }
  }

  /**
   * Passes on what the other thread writes until it has ended.
   *
   * @param patienceNanos how long to wait for its beginning, and for each piece
   */
  public void drainTo(OutputStream out, long patienceNanos) throws IOException {
    try {
      Piece piece = next(patienceNanos);
      while (piece.bytes() != null) {
        out.write(piece.bytes());
        piece = next(patienceNanos);
      }
      if (piece.failure() != null) {
        throw new IOException(piece.failure().getMessage(), piece.failure());
      }
    } finally {
      abandoned = true;
      pieces.clear();
    }
  }

  private Piece next(long patienceNanos) throws IOException {
    try {
      Piece piece = pieces.poll(patienceNanos, TimeUnit.NANOSECONDS);
      if (piece != null) {
        return piece;
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    throw new IOException("the index's writer has no time");
  }

  private boolean offered(Piece piece, long nanos) {
    try {
      return pieces.offer(piece, nanos, TimeUnit.NANOSECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return false;
    }
  }
}
