package dev.warmpath.eventingest.stream;

import dev.warmpath.eventingest.wire.StreamMessage;
import java.util.Arrays;
import java.util.zip.CRC32;
import java.util.zip.CRC32C;

/**
 * Digests of the last batches applied, to tell a batch that came twice from another one with its
 * number. Payloads hold the engine's clock, so batches of two lifetimes never agree.
 *
 * <p>Confined to the writer.
 */
final class BatchDigests {

  /** What is known of a batch. */
  enum Verdict {
    SAME,
    OTHER,
    /** Too long ago, or never applied. */
    UNKNOWN
  }

  private static final int KEPT = 4096;

  private final long[] sequences = new long[KEPT];
  private final long[] digests = new long[KEPT];

  BatchDigests() {
    clear();
  }

  void put(StreamMessage batch) {
    put(batch.sequence(), digest(batch.payload()));
  }

  /** Knows a batch whose digest another process took. */
  void put(long sequence, long digest) {
    int place = place(sequence);
    sequences[place] = sequence;
    digests[place] = digest;
  }

  /** The digest of a batch that was put lately. */
  long get(long sequence) {
    int place = place(sequence);
    if (sequences[place] != sequence) {
      throw new IllegalArgumentException("sequence=" + sequence + " is not known");
    }
    return digests[place];
  }

  Verdict compare(StreamMessage batch) {
    int place = place(batch.sequence());
    if (sequences[place] != batch.sequence()) {
      return Verdict.UNKNOWN;
    }
    return digests[place] == digest(batch.payload()) ? Verdict.SAME : Verdict.OTHER;
  }

  static Verdict compare(StreamMessage a, StreamMessage b) {
    boolean same = a.sequence() == b.sequence() && Arrays.equals(a.payload(), b.payload());
    return same ? Verdict.SAME : Verdict.OTHER;
  }

  void clear() {
    Arrays.fill(sequences, -1);
  }

  private static int place(long sequence) {
    return (int) (sequence & (KEPT - 1));
  }

  private static long digest(byte[] payload) {
    CRC32C castagnoli = new CRC32C();
    castagnoli.update(payload);
    CRC32 ethernet = new CRC32();
    ethernet.update(payload);
    return castagnoli.getValue() << 32 | ethernet.getValue();
  }
}
