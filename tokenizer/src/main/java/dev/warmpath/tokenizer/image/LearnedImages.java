package dev.warmpath.tokenizer.image;

import com.dynatrace.hash4j.hashing.HashValue128;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * What engines were seen to make of images of which it cannot be computed: those behind a URL,
 * those of models whose rules are not known here, and all on SGLang.
 *
 * <p>It is believed, not known: what is behind a URL can change. What turns out to be wrong is
 * forgotten and not believed again at once: after the nth time in a row the next 2^n chats with the
 * image go without, up to 1,024. Each time that an engine confirms it takes one off n. What was
 * used longest ago makes room.
 *
 * <p>Thread-safe.
 */
public final class LearnedImages {

  /** About three thousand images. */
  public static final long USUAL_BYTES = 1 << 20;

  private static final int ENTRY_BYTES = 350;
  private static final float LOAD_FACTOR = 0.75f;

  /** What happened to what is remembered of an image. */
  public enum Lesson {
    /** An engine showed an image of which nothing was believed. */
    LEARNED,
    /**
     * An engine calls it otherwise than was believed, or has other tokens for it; or it may have
     * been another image.
     */
    CONTRADICTED,
    /** An engine found less of it, or counts a prompt with it otherwise. */
    DOUBTED,
    /** An engine found it where it was expected. */
    CONFIRMED,
    /** It made room. */
    EVICTED;

    /** The name in metrics. */
    public String label() {
      return name().toLowerCase(Locale.ROOT);
    }
  }

  private final Map<Key, Entry> entries = new LinkedHashMap<>(16, LOAD_FACTOR, true);
  private final Map<Lesson, Long> lessons = new EnumMap<>(Lesson.class);
  private long maxBytes;
  private long bytes;

  /**
   * An image.
   *
   * @param hash of its URL, which holds the image itself if it is a {@code data:} URL
   * @param chars of the URL
   * @param loraName the adapter that sees it, or null
   */
  record Key(HashValue128 hash, int chars, @Nullable String loraName) {}

  /**
   * What is believed of an image.
   *
   * <p>Immutable.
   */
  public static final class Belief {
    private final String identifier;

    /** The tokens that stand for it: each that differs from the one before, and how often. */
    private final int[] packed;

    Belief(String identifier, int[] run) {
      this.identifier = identifier;
      this.packed = packed(run);
    }

    private static int[] packed(int[] run) {
      int[] packed = new int[2 * run.length];
      int at = -2;
      for (int i = 0; i < run.length; i++) {
        if (i == 0 || run[i] != run[i - 1]) {
          at += 2;
          packed[at] = run[i];
        }
        packed[at + 1]++;
      }
      return Arrays.copyOf(packed, at + 2);
    }

    /** What the engine calls it. */
    public String identifier() {
      return identifier;
    }

    /** The tokens that stand for it. */
    public int[] run() {
      int length = 0;
      for (int i = 1; i < packed.length; i += 2) {
        length += packed[i];
      }
      int[] run = new int[length];
      int at = 0;
      for (int i = 0; i < packed.length; i += 2) {
        Arrays.fill(run, at, at + packed[i + 1], packed[i]);
        at += packed[i + 1];
      }
      return run;
    }

    boolean isSame(Belief other) {
      return identifier.equals(other.identifier) && Arrays.equals(packed, other.packed);
    }

    long bytes() {
      return identifier.length() + (long) Integer.BYTES * packed.length;
    }
  }

  private static final class Entry {
    private @Nullable Belief belief;
    private final Doubt doubt = new Doubt();

    long bytes() {
      return ENTRY_BYTES + (belief == null ? 0 : belief.bytes());
    }
  }

  /** A memory of at most {@code maxBytes}. */
  public LearnedImages(long maxBytes) {
    this.maxBytes = maxBytes;
  }

  /** An image of a chat; equal for equal images. */
  public final class Image {
    private final @Nullable Key key;
    private final @Nullable Belief belief;

    private Image(@Nullable Key key, @Nullable Belief belief) {
      this.key = key;
      this.belief = belief;
    }

    /** What is believed of it in this chat; null for nothing. */
    public @Nullable Belief belief() {
      return belief;
    }

    /** An engine was seen to call it so, and to put these tokens in its place. */
    public void learned(String identifier, int[] run) {
      if (key != null) {
        LearnedImages.this.learned(key, new Belief(identifier, run));
      }
    }

    /** It may have been another that an engine was seen to call so. */
    public void withdraw(String identifier) {
      if (key != null) {
        withdrawn(key, identifier);
      }
    }

    /** What was believed of it in this chat was not so. */
    public void doubt() {
      if (key != null && belief != null) {
        doubted(key, belief);
      }
    }

    /** What was believed of it in this chat was so. */
    public void confirm() {
      if (key != null && belief != null) {
        confirmed(key, belief);
      }
    }

    @Override
    public boolean equals(@Nullable Object other) {
      return other instanceof Image image && (key == null ? image == this : key.equals(image.key));
    }

    @Override
    public int hashCode() {
      return key == null ? System.identityHashCode(this) : key.hashCode();
    }
  }

  /** An image of a chat of which nothing can be learned; equal to no other. */
  Image stranger() {
    return new Image(null, null);
  }

  /** An image of a chat, with what is believed of it now; asked once for each chat. */
  synchronized Image image(Key key) {
    Entry entry = entries.get(key);
    if (entry == null || !entry.doubt.isOver() || entry.belief == null) {
      return new Image(key, null);
    }
    return new Image(key, entry.belief);
  }

  private synchronized void learned(Key key, Belief seen) {
    if (ENTRY_BYTES + seen.bytes() > maxBytes) {
      return;
    }
    Entry entry = entries.get(key);
    if (entry == null) {
      entry = new Entry();
      entries.put(key, entry);
      bytes += entry.bytes();
    }
    Belief before = entry.belief;
    if (before != null && before.isSame(seen)) {
      return;
    }
    count(before == null ? Lesson.LEARNED : Lesson.CONTRADICTED);
    if (before != null) {
      var unused = entry.doubt.wrong();
    }
    put(entry, seen);
    makeRoom();
  }

  private synchronized void withdrawn(Key key, String identifier) {
    Entry entry = entries.get(key);
    Belief belief = entry == null ? null : entry.belief;
    if (entry != null && belief != null && belief.identifier().equals(identifier)) {
      count(Lesson.CONTRADICTED);
      var unused = entry.doubt.wrong();
      put(entry, null);
    }
  }

  private synchronized void doubted(Key key, Belief wrong) {
    Entry entry = entries.get(key);
    Belief belief = entry == null ? null : entry.belief;
    if (entry != null && belief != null && belief.isSame(wrong) && entry.doubt.wrong()) {
      count(Lesson.DOUBTED);
      put(entry, null);
    }
  }

  private synchronized void confirmed(Key key, Belief right) {
    Entry entry = entries.get(key);
    Belief belief = entry == null ? null : entry.belief;
    if (entry != null && belief != null && belief.isSame(right)) {
      count(Lesson.CONFIRMED);
      entry.doubt.right();
    }
  }

  private void put(Entry entry, @Nullable Belief belief) {
    bytes -= entry.bytes();
    entry.belief = belief;
    bytes += entry.bytes();
  }

  private void makeRoom() {
    Iterator<Entry> oldest = entries.values().iterator();
    while (bytes > maxBytes) {
      bytes -= oldest.next().bytes();
      oldest.remove();
      count(Lesson.EVICTED);
    }
  }

  private void count(Lesson lesson) {
    lessons.merge(lesson, 1L, Long::sum);
  }

  /** Remembers at most {@code maxBytes} from now on. */
  synchronized void resize(long maxBytes) {
    this.maxBytes = maxBytes;
    makeRoom();
  }

  /** What it takes, about. */
  public synchronized ImageMemory.Counts counts() {
    return new ImageMemory.Counts(bytes, maxBytes, lessons.getOrDefault(Lesson.EVICTED, 0L));
  }

  /** How often each of these happened. */
  public synchronized Map<Lesson, Long> lessons() {
    Map<Lesson, Long> all = new EnumMap<>(Lesson.class);
    for (Lesson lesson : Lesson.values()) {
      all.put(lesson, lessons.getOrDefault(lesson, 0L));
    }
    return all;
  }
}
