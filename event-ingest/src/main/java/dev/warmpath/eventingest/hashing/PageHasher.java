package dev.warmpath.eventingest.hashing;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import org.jspecify.annotations.Nullable;

/** The hash that SGLang gives to the first page of a prompt. */
final class PageHasher {

  private static final byte[] SALT_SEED =
      "sglang-cache-salt-v1\0".getBytes(StandardCharsets.US_ASCII);
  private static final byte[] NAMESPACE_SEED =
      "sglang-kv-event-namespace-v1".getBytes(StandardCharsets.US_ASCII);

  private PageHasher() {}

  /**
   * The first page's hash before any name space.
   *
   * @param pageTokens tokens of the page
   * @param pairs whether the page consists of token pairs; the last one needs the token behind the
   *     page
   */
  static long page(int[] tokenIds, int pageTokens, boolean pairs, @Nullable String salt) {
    MessageDigest digest = sha256();
    if (salt != null) {
      MessageDigest prior = sha256();
      prior.update(SALT_SEED);
      digest.update(prior.digest(utf8(salt)));
    }
    ByteBuffer ids = ByteBuffer.allocate(pageTokens * (pairs ? 8 : 4));
    ids.order(ByteOrder.LITTLE_ENDIAN);
    for (int i = 0; i < pageTokens; i++) {
      ids.putInt(tokenIds[i]);
      if (pairs) {
        ids.putInt(tokenIds[i + 1]);
      }
    }
    return first64(digest.digest(ids.array()));
  }

  /** The hash of a page with hash {@code page} in the name space of these two parts. */
  static long inNamespace(long page, @Nullable String first, @Nullable String second) {
    MessageDigest seed = sha256();
    seed.update(NAMESPACE_SEED);
    part(seed, first);
    part(seed, second);
    MessageDigest digest = sha256();
    digest.update(seed.digest());
    digest.update(ByteBuffer.allocate(Long.BYTES).putLong(page).array());
    return first64(digest.digest());
  }

  private static void part(MessageDigest digest, @Nullable String text) {
    if (text == null) {
      digest.update((byte) 0);
      return;
    }
    byte[] bytes = utf8(text);
    digest.update((byte) 1);
    digest.update(
        ByteBuffer.allocate(Long.BYTES)
            .order(ByteOrder.LITTLE_ENDIAN)
            .putLong(bytes.length)
            .array());
    digest.update(bytes);
  }

  private static byte[] utf8(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }

  private static long first64(byte[] digest) {
    return ByteBuffer.wrap(digest).getLong();
  }

  private static MessageDigest sha256() {
    try {
      return MessageDigest.getInstance("SHA-256");
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("a JDK without SHA-256", e);
    }
  }
}
