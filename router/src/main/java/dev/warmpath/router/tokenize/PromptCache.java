package dev.warmpath.router.tokenize;

import java.math.BigInteger;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.time.LocalDate;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Token ids that engines said, by a digest of the request. Those asked for least recently give way.
 *
 * <p>Thread-safe.
 */
final class PromptCache {

  private static final int BYTES_PER_TOKEN = 4;
  private static final int BYTES_PER_ENTRY = 160;

  private final long limitBytes;
  private final Map<BigInteger, int[]> prompts = new LinkedHashMap<>(16, 0.75f, true);
  private long heldBytes;

  PromptCache(long limitBytes) {
    this.limitBytes = limitBytes;
  }

  /**
   * A name for the request that nobody can make another request have; another one on each day, as
   * prompts may hold the date.
   */
  static BigInteger key(String path, LocalDate date, byte[] body) {
    try {
      MessageDigest digest = MessageDigest.getInstance("SHA-256");
      digest.update((path + ' ' + date + ' ').getBytes(StandardCharsets.UTF_8));
      return new BigInteger(1, digest.digest(body));
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("every Java has SHA-256", e);
    }
  }

  /** The ids, not to be changed; null if they are not known. */
  synchronized int @Nullable [] get(BigInteger key) {
    return prompts.get(key);
  }

  synchronized void put(BigInteger key, int[] ids) {
    int[] before = prompts.put(key, ids);
    heldBytes += weight(ids) - (before == null ? 0 : weight(before));
    Iterator<int[]> oldest = prompts.values().iterator();
    while (heldBytes > limitBytes && oldest.hasNext()) {
      heldBytes -= weight(oldest.next());
      oldest.remove();
    }
  }

  /** What an engine said before is not believed any more. */
  synchronized void clear() {
    prompts.clear();
    heldBytes = 0;
  }

  synchronized double share() {
    return (double) heldBytes / limitBytes;
  }

  private static long weight(int[] ids) {
    return (long) ids.length * BYTES_PER_TOKEN + BYTES_PER_ENTRY;
  }
}
