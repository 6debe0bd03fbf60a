package dev.warmpath.router.cluster;

import java.io.IOException;
import java.io.UncheckedIOException;
import org.jspecify.annotations.Nullable;
import org.msgpack.core.MessageBufferPacker;
import org.msgpack.core.MessagePack;
import org.msgpack.core.MessagePackException;
import org.msgpack.core.MessageUnpacker;

/**
 * What a router that starts and one that has a snapshot say to each other. A message is its kind, a
 * byte, and then its fields as MessagePack; each may be lost, repeated or late.
 *
 * <pre>
 *   the new router    Wanted ─▶ Take ─▶ Pull, Pull, Pull, Pull ─▶ … ─▶ End
 *   the neighbour     ─▶ Offer  ─▶ Taken   ─▶ Chunk, Chunk …
 * </pre>
 */
sealed interface SeedMessage {

  /** The first of the kinds that are left to this exchange. */
  int FIRST_KIND = 16;

  /** The last of them. */
  int LAST_KIND = 31;

  /** Bytes of a snapshot in one message; the last chunk has what is left. */
  int CHUNK_BYTES = 256 << 10;

  /** Why a neighbour gives nothing. */
  enum Refusal {
    /** It does give. */
    NONE,
    /** It starts itself. */
    NOT_READY,
    /** It knows no engine exactly, and no block of any. */
    NOTHING_KNOWN,
    /** It gives to as many as it may, or its events have just waited for a snapshot. */
    BUSY,
    /** It could not write one. */
    FAILED
  }

  /**
   * An attempt of the new router, counted by it; answers to an earlier one are for nothing.
   *
   * @return its number
   */
  long attempt();

  /** Who would give a snapshot? */
  record Wanted(long attempt) implements SeedMessage {}

  /**
   * What a neighbour has.
   *
   * @param exactEngines engines of which it knows all
   * @param blocks named blocks of all engines
   * @param ageMillis since its process started
   */
  record Offer(long attempt, Refusal refusal, int exactEngines, long blocks, long ageMillis)
      implements SeedMessage {}

  /** Asks for a snapshot of now. */
  record Take(long attempt) implements SeedMessage {}

  /**
   * The snapshot is there.
   *
   * @param bytes of all of it; 0 if refused
   */
  record Taken(long attempt, Refusal refusal, long bytes) implements SeedMessage {}

  /** Asks for one chunk, counted from 0. */
  record Pull(long attempt, int chunk) implements SeedMessage {}

  /** One chunk. */
  @SuppressWarnings("ArrayRecordComponent") // never compared
  record Chunk(long attempt, int chunk, byte[] bytes) implements SeedMessage {}

  /** Nothing more is asked for. */
  record End(long attempt) implements SeedMessage {}

  /** The bytes to send. */
  static byte[] encode(SeedMessage message) {
    try (MessageBufferPacker out = MessagePack.newDefaultBufferPacker()) {
      out.packInt(kind(message)); // below 128 it is the byte itself
      out.packLong(message.attempt());
      if (message instanceof Offer offer) {
        out.packInt(offer.refusal.ordinal()).packInt(offer.exactEngines);
        out.packLong(offer.blocks).packLong(offer.ageMillis);
      } else if (message instanceof Taken taken) {
        out.packInt(taken.refusal.ordinal()).packLong(taken.bytes);
      } else if (message instanceof Pull pull) {
        out.packInt(pull.chunk);
      } else if (message instanceof Chunk chunk) {
        out.packInt(chunk.chunk).packBinaryHeader(chunk.bytes.length).addPayload(chunk.bytes);
      }
      return out.toByteArray();
    } catch (IOException e) {
      throw new UncheckedIOException("a buffer in memory", e);
    }
  }

  /** What came, or null if it is none of these. */
  static @Nullable SeedMessage decode(byte[] message) {
    try (MessageUnpacker in = MessagePack.newDefaultUnpacker(message)) {
      int kind = in.unpackInt();
      long attempt = in.unpackLong();
      return switch (kind - FIRST_KIND) {
        case 0 -> new Wanted(attempt);
        case 1 -> new Offer(attempt, refusal(in), in.unpackInt(), in.unpackLong(), in.unpackLong());
        case 2 -> new Take(attempt);
        case 3 -> new Taken(attempt, refusal(in), in.unpackLong());
        case 4 -> new Pull(attempt, in.unpackInt());
        case 5 -> new Chunk(attempt, in.unpackInt(), bytes(in));
        case 6 -> new End(attempt);
        default -> null;
      };
    } catch (IOException | MessagePackException e) {
      return null;
    }
  }

  private static int kind(SeedMessage message) {
    int place;
    if (message instanceof Wanted) {
      place = 0;
    } else if (message instanceof Offer) {
      place = 1;
    } else if (message instanceof Take) {
      place = 2;
    } else if (message instanceof Taken) {
      place = 3;
    } else if (message instanceof Pull) {
      place = 4;
    } else if (message instanceof Chunk) {
      place = 5;
    } else {
      place = 6;
    }
    return FIRST_KIND + place;
  }

  private static Refusal refusal(MessageUnpacker in) throws IOException {
    int ordinal = in.unpackInt();
    Refusal[] all = Refusal.values();
    return ordinal >= 0 && ordinal < all.length ? all[ordinal] : Refusal.FAILED;
  }

  private static byte[] bytes(MessageUnpacker in) throws IOException {
    int length = in.unpackBinaryHeader();
    if (length > CHUNK_BYTES) {
      throw new IOException("a chunk of " + length + " bytes");
    }
    return in.readPayload(length);
  }

  /** Chunks of a snapshot of so many bytes. */
  static int chunks(long bytes) {
    return (int) ((bytes + CHUNK_BYTES - 1) / CHUNK_BYTES);
  }

  /** Bytes of one of them. */
  static int length(long bytes, int chunk) {
    return (int) Math.min(CHUNK_BYTES, bytes - (long) chunk * CHUNK_BYTES);
  }
}
