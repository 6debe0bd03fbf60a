package dev.warmpath.tokenizer.encode;

import dev.warmpath.tokenizer.encode.EncodeCounts.LayerCounts;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.LongAdder;
import org.jspecify.annotations.Nullable;

/**
 * The tokens of short pieces by their text. Kept in two generations: when the younger has filled
 * half of the room, the older is dropped; what is found in the older moves to the younger.
 *
 * <p>Thread-safe.
 */
final class WordCache {

  /** Longer pieces are not worth a place. */
  public static final int LONGEST_CHARS = 32;

  /** What an entry takes besides text and tokens, about. */
  private static final int ENTRY_BYTES = 120;

  private volatile long generationBytes;
  private final AtomicLong youngBytes = new AtomicLong();
  private final LongAdder evictions = new LongAdder();
  private volatile Generations generations = new Generations(new ConcurrentHashMap<>(), 0);

  private static final class Generations {
    private final ConcurrentHashMap<String, int[]> young = new ConcurrentHashMap<>();
    private final ConcurrentHashMap<String, int[]> old;
    private final long oldBytes;

    Generations(ConcurrentHashMap<String, int[]> old, long oldBytes) {
      this.old = old;
      this.oldBytes = oldBytes;
    }
  }

  /** A cache of at most {@code maxBytes}. */
  public WordCache(long maxBytes) {
    this.generationBytes = maxBytes / 2;
  }

  /** The tokens remembered, not to be changed; null if there are none. */
  public int @Nullable [] find(String word) {
    Generations now = generations;
    int[] found = now.young.get(word);
    if (found == null) {
      found = now.old.get(word);
      if (found != null) {
        put(word, found);
      }
    }
    return found;
  }

  /** Remembers {@code tokenIds}, which nobody may change any more. */
  public void put(String word, int[] tokenIds) {
    long bytes = weigh(word, tokenIds);
    if (word.length() > LONGEST_CHARS || bytes > generationBytes) {
      return;
    }
    if (youngBytes.get() + bytes > generationBytes) {
      age(bytes);
    }
    if (generations.young.putIfAbsent(word, tokenIds) == null) {
      youngBytes.addAndGet(bytes);
    }
  }

  /** What is remembered now, and what made room. */
  public LayerCounts counts() {
    return new LayerCounts(
        youngBytes.get() + generations.oldBytes, 2 * generationBytes, evictions.sum());
  }

  /** Holds at most {@code maxBytes} from now on. */
  public synchronized void resize(long maxBytes) {
    generationBytes = maxBytes / 2;
    if (counts().bytes() > maxBytes) {
      age();
      age();
    }
  }

  private synchronized void age(long more) {
    if (youngBytes.get() + more > generationBytes) {
      age();
    }
  }

  private void age() {
    long bytes = youngBytes.get();
    evictions.add(generations.old.size());
    generations = new Generations(generations.young, bytes);
    youngBytes.addAndGet(-bytes);
  }

  private static long weigh(String word, int[] tokenIds) {
    return ENTRY_BYTES + 2L * word.length() + (long) Integer.BYTES * tokenIds.length;
  }
}
