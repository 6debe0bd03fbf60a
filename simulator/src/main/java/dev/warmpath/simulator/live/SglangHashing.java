package dev.warmpath.simulator.live;

import dev.warmpath.eventingest.hashing.SglangNamespaces;
import dev.warmpath.kvindex.block.ExtraKey;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * SGLang's page hashes, as of 0.5.23, in either format of its events.
 *
 * <p>Thread-safe.
 */
final class SglangHashing implements BlockHashing {

  /*
   *   0       32      64      96     104
   *   | chain | seed  | space | wire |      what a BlockHash holds here
   *
   * chain: the digest that the next page goes on from
   * seed:  of the name space that shows in the hashes, zeros for none
   * space: tells pages apart that the engine keeps apart, though their hashes may be equal
   * wire:  the hash as it is published
   */

  private static final int DIGEST = 32;
  private static final byte[] NO_SEED = new byte[DIGEST];

  private final boolean dynamo;
  private final Map<String, String> adapters;

  /**
   * @param dynamo whether events have that format
   * @param adapters their paths by name
   */
  public SglangHashing(boolean dynamo, Map<String, String> adapters) {
    this.dynamo = dynamo;
    this.adapters = Map.copyOf(adapters);
  }

  @Override
  public BlockHash hash(
      @Nullable BlockHash parent, int[] tokenIds, int from, int length, List<ExtraKey> extraKeys) {
    byte[] above = parent == null ? root(extraKeys) : parent.digest();
    boolean unsalted = parent == null && SglangKeys.read(extraKeys).salt() == null;
    byte[] prior = unsalted ? new byte[0] : Arrays.copyOf(above, DIGEST);
    byte[] seed = Arrays.copyOfRange(above, DIGEST, 2 * DIGEST);
    byte[] chain = sha256(prior, ids(tokenIds, from, length));
    byte[] wire = Arrays.copyOf(chain, Long.BYTES);
    if (!Arrays.equals(seed, NO_SEED)) {
      wire = Arrays.copyOf(sha256(seed, wire), Long.BYTES);
    }
    byte[] space = Arrays.copyOfRange(above, 2 * DIGEST, 3 * DIGEST);
    return new BlockHash(joined(chain, seed, space, wire));
  }

  /** What stands before the first page. */
  private byte[] root(List<ExtraKey> extraKeys) {
    SglangKeys keys = SglangKeys.read(extraKeys);
    String lora = SglangKeys.lora(extraKeys);
    String adapter =
        lora == null
            ? null
            : SglangNamespaces.adapterId(lora, adapters.getOrDefault(lora, "lora/" + lora));
    String extraKey = keys.extraKey();
    String salt = keys.salt();
    byte[] prior = salt == null ? NO_SEED : sha256(utf8("sglang-cache-salt-v1\0"), utf8(salt));
    byte[] space = sha256(part(extraKey), part(lora), part(salt));
    return joined(prior, seed(extraKey, adapter, salt), space);
  }

  private byte[] seed(@Nullable String extraKey, @Nullable String adapter, @Nullable String salt) {
    if (adapter == null && !(dynamo && (extraKey != null || salt != null))) {
      return NO_SEED;
    }
    boolean named = extraKey != null || adapter != null;
    String first = (extraKey == null ? "" : extraKey) + (adapter == null ? "" : adapter);
    return sha256(
        utf8("sglang-kv-event-namespace-v1"),
        part(named ? first : null),
        part(dynamo ? salt : null));
  }

  /** With an id of more than 32 bits all have 64, behind a byte that tells so. */
  private static byte[] ids(int[] tokenIds, int from, int length) {
    long[] wide =
        Arrays.stream(tokenIds, from, from + length).mapToLong(SglangImages::wide).toArray();
    boolean isWide = Arrays.stream(wide).anyMatch(id -> id >>> Integer.SIZE != 0);
    int bytes = isWide ? 1 + Long.BYTES * length : Integer.BYTES * length;
    ByteBuffer ids = ByteBuffer.allocate(bytes).order(ByteOrder.LITTLE_ENDIAN);
    if (isWide) {
      ids.put((byte) 0xff);
    }
    for (long id : wide) {
      if (isWide) {
        ids.putLong(id);
      } else {
        ids.putInt((int) id);
      }
    }
    return ids.array();
  }

  private static byte[] part(@Nullable String text) {
    if (text == null) {
      return new byte[1];
    }
    byte[] bytes = utf8(text);
    ByteBuffer part = ByteBuffer.allocate(1 + Long.BYTES + bytes.length);
    return part.put((byte) 1)
        .order(ByteOrder.LITTLE_ENDIAN)
        .putLong(bytes.length)
        .put(bytes)
        .array();
  }

  private static byte[] utf8(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }

  private static byte[] joined(byte[]... parts) {
    ByteBuffer all = ByteBuffer.allocate(Arrays.stream(parts).mapToInt(part -> part.length).sum());
    for (byte[] part : parts) {
      all.put(part);
    }
    return all.array();
  }

  private static byte[] sha256(byte[]... parts) {
    try {
      return MessageDigest.getInstance("SHA-256").digest(joined(parts));
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("a JDK without SHA-256", e);
    }
  }
}
