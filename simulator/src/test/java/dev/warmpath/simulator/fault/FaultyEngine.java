package dev.warmpath.simulator.fault;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.msgpack.core.MessageBufferPacker;
import org.msgpack.core.MessagePack;

/**
 * An engine reduced to its cache and the batches that it published, which knows what it would
 * reuse.
 *
 * <p>Confined to its test.
 */
abstract class FaultyEngine {

  private static final byte[] REMOVED = "BlockRemoved".getBytes(StandardCharsets.US_ASCII);
  private static final int UINT64 = 0xcf;
  private static final int INT64 = 0xd3;
  private static final int FLOAT64 = 0xcb;

  private final List<byte[]> published = new ArrayList<>();
  private double clock = 1_800_000_000;
  private double startSeconds = clock;

  /** The data-parallel rank that its batches name. */
  int rank;

  /** Every payload of this process; the index is the sequence number. */
  final List<byte[]> published() {
    return published;
  }

  /** Serves a prompt and publishes what that changed. */
  abstract void serve(int[] prompt, @Nullable String lora);

  /** Serves a prompt in a name space that SGLang's events do not show; others' do. */
  void serveHidden(int[] prompt) {
    serve(prompt, "hidden");
  }

  /** Serves a prompt for which the engine keeps, or announces, more than one copy. */
  abstract void serveTwice(int[] prompt);

  /** Tokens of the prompt that would be reused. */
  abstract int reusable(int[] prompt, @Nullable String lora);

  /** Empties the cache; its own event comes with the next batch. */
  abstract void reset();

  /** The same process goes on with blocks of another size and an empty cache. */
  abstract void resize();

  /** A new process: nothing held, nothing published. */
  void restart() {
    published.clear();
    clock += 1000;
    startSeconds = clock;
  }

  /** When this process started, in seconds since 1970. */
  final double startSeconds() {
    return startSeconds;
  }

  final void publish(byte[] payload) {
    published.add(payload);
  }

  final double now() {
    return clock++;
  }

  /** Makes a removal unreadable in the last batch that has one, though it framed well. */
  final boolean spoilLastRemoval() {
    byte[] payload = published.get(published.size() - 1);
    int at = indexOf(payload, REMOVED);
    while (at >= 0 && at < payload.length) {
      int marker = payload[at] & 0xFF;
      if (marker == UINT64 || marker == INT64) {
        byte[] spoilt = payload.clone();
        spoilt[at] = (byte) FLOAT64;
        published.set(published.size() - 1, spoilt);
        return true;
      }
      at++;
    }
    return false;
  }

  /** A payload of three parts, whatever the events are. */
  final byte[] batch(Events events, int count) {
    try (MessageBufferPacker packer = MessagePack.newDefaultBufferPacker()) {
      packer.packArrayHeader(3).packDouble(now()).packArrayHeader(count);
      events.pack(packer);
      packer.packInt(rank);
      return packer.toByteArray();
    } catch (IOException e) {
      throw new UncheckedIOException("a buffer in memory", e);
    }
  }

  interface Events {
    void pack(MessageBufferPacker packer) throws IOException;
  }

  private static int indexOf(byte[] text, byte[] part) {
    for (int i = text.length - part.length; i >= 0; i--) {
      int same = 0;
      while (same < part.length && text[i + same] == part[same]) {
        same++;
      }
      if (same == part.length) {
        return i + part.length;
      }
    }
    return -1;
  }
}
