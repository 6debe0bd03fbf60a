package dev.warmpath.eventingest;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.List;
import java.util.Map;
import org.msgpack.core.MessageBufferPacker;
import org.msgpack.core.MessagePack;
import org.msgpack.core.MessagePacker;

/**
 * Payloads of whatever events, packed from lists, maps, texts and numbers.
 *
 * <p>Immutable.
 */
public final class WireBatch {

  private WireBatch() {}

  /** One batch of rank 0. */
  public static byte[] of(Object... events) {
    try (MessageBufferPacker packer = MessagePack.newDefaultBufferPacker()) {
      packer.packArrayHeader(3).packDouble(1.5);
      pack(packer, List.of(events));
      packer.packInt(0);
      return packer.toByteArray();
    } catch (IOException e) {
      throw new UncheckedIOException("a buffer in memory", e);
    }
  }

  private static void pack(MessagePacker packer, Object value) throws IOException {
    if (value instanceof List<?> list) {
      packer.packArrayHeader(list.size());
      for (Object each : list) {
        pack(packer, each);
      }
    } else if (value instanceof Map<?, ?> map) {
      packer.packMapHeader(map.size());
      for (Map.Entry<?, ?> entry : map.entrySet()) {
        pack(packer, entry.getKey());
        pack(packer, entry.getValue());
      }
    } else if (value instanceof Number number) {
      packer.packLong(number.longValue());
    } else if (value.equals("nil")) {
      packer.packNil();
    } else {
      packer.packString(value.toString());
    }
  }
}
