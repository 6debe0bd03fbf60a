package dev.warmpath.tokenizer.encode;

import com.dynatrace.hash4j.hashing.HashValue128;
import com.dynatrace.hash4j.hashing.Hasher128;
import com.dynatrace.hash4j.hashing.Hashing;
import dev.warmpath.tokenizer.encode.EncodeCounts.LayerCounts;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.atomic.LongAdder;
import org.jspecify.annotations.Nullable;

/**
 * The tokens of chunks by the hash of their text. When it is full, what was asked for longest ago
 * goes.
 *
 * <p>Thread-safe.
 */
final class ChunkCache {

  private static final int STRIPES = 16;

  /** What an entry takes besides its tokens, about. */
  private static final int ENTRY_BYTES = 128;

  /** A smaller budget drops about so much at a time: whoever reads waits meanwhile. */
  private static final int STEP_BYTES = 1 << 14;

  private static final float LOAD_FACTOR = 0.75f;

  private final Hasher128 hasher;
  private volatile long maxBytes;
  private final Stripe[] stripes = new Stripe[STRIPES];
  private final LongAdder evictions = new LongAdder();

  /**
   * A cache of at most {@code maxBytes}.
   *
   * @param hashSeed a secret, so that nobody can make two texts with the same hash
   */
  public ChunkCache(long maxBytes, long hashSeed) {
    this.maxBytes = maxBytes;
    this.hasher = Hashing.xxh3_128(hashSeed);
    for (int i = 0; i < STRIPES; i++) {
      stripes[i] = new Stripe(maxBytes / STRIPES);
    }
  }

  /** The key of {@code text}. */
  public TextKey key(String text, boolean head) {
    return TextKey.of(hasher, text, head);
  }

  /** The tokens remembered, not to be changed; null if there are none. */
  public int @Nullable [] find(TextKey key) {
    return stripe(key).find(key);
  }

  /** Remembers {@code tokenIds}, which nobody may change any more. */
  public void put(TextKey key, int[] tokenIds) {
    evictions.add(stripe(key).put(key, tokenIds));
  }

  /** Holds at most {@code maxBytes} from now on. */
  public void resize(long maxBytes) {
    this.maxBytes = maxBytes;
    for (Stripe stripe : stripes) {
      evictions.add(stripe.resize(maxBytes / STRIPES));
    }
  }

  private long bytes() {
    long bytes = 0;
    for (Stripe stripe : stripes) {
      bytes += stripe.bytes();
    }
    return bytes;
  }

  /** What is remembered now, and what made room. */
  public LayerCounts counts() {
    return new LayerCounts(bytes(), maxBytes, evictions.sum());
  }

  private Stripe stripe(TextKey key) {
    return stripes[(int) (key.high() >>> 60)];
  }

  private static long weigh(int[] tokenIds) {
    return ENTRY_BYTES + (long) Integer.BYTES * tokenIds.length;
  }

  private static final class Stripe {
    private final Map<TextKey, int[]> entries = new LinkedHashMap<>(16, LOAD_FACTOR, true);
    private long maxBytes;
    private long bytes;

    Stripe(long maxBytes) {
      this.maxBytes = maxBytes;
    }

    synchronized int @Nullable [] find(TextKey key) {
      return entries.get(key);
    }

    synchronized int put(TextKey key, int[] tokenIds) {
      if (weigh(tokenIds) > maxBytes || entries.putIfAbsent(key, tokenIds) != null) {
        return 0;
      }
      bytes += weigh(tokenIds);
      return makeRoom();
    }

    int resize(long maxBytes) {
      int evicted = 0;
      do {
        evicted += approach(maxBytes);
      } while (!isAt(maxBytes));
      return evicted;
    }

    private synchronized int approach(long target) {
      maxBytes = Math.max(target, Math.min(maxBytes, bytes) - STEP_BYTES);
      return makeRoom();
    }

    private synchronized boolean isAt(long target) {
      return maxBytes == target;
    }

    private int makeRoom() {
      int evicted = 0;
      Iterator<int[]> oldest = entries.values().iterator();
      while (bytes > maxBytes) {
        bytes -= weigh(oldest.next());
        oldest.remove();
        evicted++;
      }
      return evicted;
    }

    synchronized long bytes() {
      return bytes;
    }
  }

  /**
   * Stands for a text: 128 bits of hash, and its length.
   *
   * @param head whether the text is begun otherwise than one that goes on
   */
  record TextKey(long high, long low, int chars, boolean head) {

    /** The key of {@code text}; the hasher's seed is nobody's to know. */
    static TextKey of(Hasher128 hasher, String text, boolean head) {
      HashValue128 hash = hasher.hashCharsTo128Bits(text);
      return new TextKey(
          hash.getMostSignificantBits(), hash.getLeastSignificantBits(), text.length(), head);
    }

    @Override
    public int hashCode() {
      return Long.hashCode(low);
    }
  }
}
