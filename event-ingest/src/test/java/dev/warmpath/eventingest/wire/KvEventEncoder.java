package dev.warmpath.eventingest.wire;

import dev.warmpath.eventingest.wire.KvEvent.BlockRemoved;
import dev.warmpath.eventingest.wire.KvEvent.BlockStored;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.function.LongFunction;
import org.jspecify.annotations.Nullable;
import org.msgpack.core.MessageBufferPacker;
import org.msgpack.core.MessagePack;
import org.msgpack.value.Value;

/**
 * Encodes batches as engines publish them, through msgpack-core.
 *
 * <p>{@link KvEventDecoder} reads back what was written. The array form has no room for SGLang's
 * salt; a store that has it is an {@link IllegalArgumentException}.
 *
 * <p>Thread-safe.
 */
final class KvEventEncoder {

  /** The two forms of events. */
  enum Form {
    /** Arrays with every field that vLLM's maps have, in its order; 0.22 ended at the window. */
    ARRAY,
    /** Maps that leave out optional fields without a value, as of vLLM 0.26 and later. */
    MAP
  }

  private final Form form;
  private final LongFunction<byte @Nullable []> digests;

  /** An encoder that writes hashes as unsigned integers, as vLLM does by default. */
  KvEventEncoder(Form form) {
    this(form, hash -> null);
  }

  /**
   * An encoder that writes hashes as raw digests.
   *
   * @param digests the digest whose last 8 bytes are the hash, or null to write it as integer
   */
  KvEventEncoder(Form form, LongFunction<byte @Nullable []> digests) {
    this.form = form;
    this.digests = digests;
  }

  /** Encodes one batch; what was skipped when it was decoded is not in it any more. */
  byte[] encode(KvEventBatch batch) {
    try (MessageBufferPacker packer = MessagePack.newDefaultBufferPacker()) {
      packer.packArrayHeader(3).packDouble(batch.timestampSeconds());
      packer.packArrayHeader(batch.events().size());
      for (KvEvent event : batch.events()) {
        packer.packValue(value(event));
      }
      if (batch.dataParallelRank() < 0) {
        packer.packNil();
      } else {
        packer.packInt(batch.dataParallelRank());
      }
      return packer.toByteArray();
    } catch (IOException e) {
      throw new UncheckedIOException("a buffer in memory", e);
    }
  }

  private Value value(KvEvent event) {
    EventValue value = new EventValue(form, digests);
    if (event instanceof BlockStored stored) {
      return value.stored(stored);
    }
    if (event instanceof BlockRemoved removed) {
      return value.removed(removed);
    }
    return value.cleared();
  }
}
