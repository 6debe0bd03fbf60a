package dev.warmpath.router.dispatch;

import dev.warmpath.kvindex.block.BlockChain;
import dev.warmpath.router.dispatch.UncachedTokens.Cause;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;

/**
 * Which prompts engines have computed lately, and which engine each of them last: what was held
 * once, whatever the index shows now.
 *
 * <p>Of an earlier prompt that a new one goes on from, all of it is found, with the answer that it
 * got; of one that the new one leaves half-way, a quarter of what they share may be missed. It
 * remembers at most {@value #PLACES_AN_ENGINE} marks an engine, and {@value #MOST_PLACES} in all,
 * {@value #BYTES_A_PLACE} bytes each; of four that compete for room, the one that was used longest
 * ago is forgotten.
 *
 * <p>Thread-safe.
 */
public final class PromptHistory {

  /*
   *  mark       the key of one block of a prompt, which names all blocks before it
   *  depths     1 to 8 blocks, then four in each octave; between the last of them and the prompt's
   *             end each step of a binary search for that end, and the end
   *  owner      an engine, and how often it had lost its cache
   *  place      mark ─▶ when a prompt with it was computed last, by which owner, and of an end how
   *             many tokens came behind it
   *
   * A search takes the depths in order from what is held on, until one is not known: what lies
   * behind a gap could not be reused as a prefix. Then it halves the last step in the same way.
   * An answer is taken to follow its prompt only if the prompt's own end is gone, too: while that
   * is held, and what follows is not, something else follows.
   * While one step is read, the two that may come next are on their way from memory.
   * A prompt of 8,192 blocks has 60 marks. What costs is the memory that they touch, a line each:
   * so a mark and its three competitors fit one, and those of what an engine only reused are
   * refreshed by every fourth prompt.
   *
   * The room for marks is cut into segments that grow one by one, each as soon as one of its marks
   * would be forgotten for another. It doubles until that finds a free place, seldom more than once;
   * as each doubling costs half of the next, a mark never waits for more than about two of the last.
   * A search ends at the first mark that is missing, so a forgotten one costs all that lies behind.
   */

  static final int PLACES_AN_ENGINE = 1 << 15;
  static final int BYTES_A_PLACE = 16;
  private static final int LONGS = BYTES_A_PLACE / Long.BYTES;

  /** Behind a place's key, from the top: the last use in 32 bits, owner and tokens in 16 each. */
  private static final int REST = 1;

  private static final int OWNER_SHIFT = 16;
  private static final int LOW = 0xFFFF;
  private static final int MOST_OWNERS = LOW + 1;
  private static final int WAYS = 4;
  private static final int SEGMENT_BITS = 6;
  private static final int SEGMENTS = 1 << SEGMENT_BITS;
  private static final int FIRST_PLACES = 16;
  private static final int MOST_PLACES = 1 << 20;
  private static final int REFRESHED = 4;

  /** Of a prompt of 2³¹ blocks. */
  private static final int MOST_MARKS = 160;

  private static final int NONE = -1;

  /** Whether an engine has lost all that it held. */
  public interface Losses {

    /**
     * Whether it has since.
     *
     * @param engine its number
     * @param before how often it had, before
     */
    boolean since(int engine, int before);
  }

  /** Of each segment its places: the key, 0 if it is free, and what else is known of it. */
  private final long[][] segments = new long[SEGMENTS][FIRST_PLACES * LONGS];

  private int mostPlaces = PLACES_AN_ENGINE;
  private int taken;

  /** By number; when all are used, that of the oldest owner is given again. */
  private long[] owners = new long[SEGMENTS];

  private final Map<Long, Integer> ownerNumbers = new HashMap<>();
  private int nextOwner;
  private final long[] marks = new long[MOST_MARKS];

  @SuppressWarnings("UnusedVariable") // else nothing would be read
  private long touched;

  private int lastOwner;
  private Cause lastCause = Cause.NEW;
  private int now;

  /** So many engines there are: more places may be taken; none is given back. */
  public synchronized void engines(int count) {
    long places = Math.min(MOST_PLACES, (long) Math.max(1, count) * PLACES_AN_ENGINE);
    mostPlaces = Math.max(mostPlaces, Integer.highestOneBit((int) places));
  }

  /**
   * An engine has computed a prompt, and an answer behind it.
   *
   * @param prompt its blocks
   * @param engine the engine's number
   * @param lost how often the engine had lost its cache when it got the prompt
   * @param reusedTokens of the prompt, which it did not compute
   * @param answerTokens 0 if they are not known
   */
  public synchronized void computed(
      BlockChain prompt, int engine, int lost, int reusedTokens, int answerTokens) {
    int blocks = prompt.blocks();
    if (blocks == 0) {
      return;
    }
    now++;
    int owner = owner((long) engine << 32 | (lost & 0xFFFF_FFFFL));
    int size = prompt.space().blockSizeTokens();
    int reused = now % REFRESHED == 0 ? 0 : reusedTokens / size;
    int count = marks(prompt, reused);
    for (int i = 0; i < count - 1; i++) {
      put(marks[i], owner, 0);
    }
    int behind = prompt.promptTokens() - blocks * size;
    put(marks[count - 1], owner, behind + answerTokens);
  }

  /**
   * Lists the marks of a prompt behind so many blocks, its end last, and touches their places:
   * reads that do not depend on each other wait for memory together.
   */
  private int marks(BlockChain prompt, int reused) {
    int blocks = prompt.blocks();
    int count = 0;
    int at = 0;
    for (int depth = 1; depth <= blocks; depth += step(depth)) {
      if (depth > reused) {
        marks[count++] = prompt.blockKey(depth - 1);
      }
      at = depth;
    }
    for (int half = step(at) / 2; half > 0; half /= 2) {
      if (at + half <= blocks) {
        at += half;
        if (at > reused) {
          marks[count++] = prompt.blockKey(at - 1);
        }
      }
    }
    if (count == 0 || at < blocks || marks[count - 1] != prompt.blockKey(blocks - 1)) {
      marks[count++] = prompt.blockKey(blocks - 1);
    }
    long read = 0;
    for (int i = 0; i < count; i++) {
      read ^= touch(marks[i]);
    }
    touched = read;
    return count;
  }

  private int owner(long owner) {
    Integer known = ownerNumbers.get(owner);
    if (known != null) {
      return known;
    }
    int number = nextOwner++ % MOST_OWNERS;
    if (number == owners.length) {
      owners = Arrays.copyOf(owners, 2 * owners.length);
    }
    if (nextOwner > MOST_OWNERS) {
      ownerNumbers.remove(owners[number]);
    }
    owners[number] = owner;
    ownerNumbers.put(owner, number);
    return number;
  }

  /**
   * Why the tokens of a prompt would not be cached.
   *
   * @param prompt its blocks
   * @param predictedTokens of them the chosen engine is expected to reuse
   * @param heldTokens the longest match of any engine
   */
  public UncachedCauses causes(
      BlockChain prompt, int predictedTokens, int heldTokens, Losses losses) {
    UncachedCauses.Builder causes =
        new UncachedCauses.Builder()
            .until(predictedTokens, Cause.MISPREDICTED)
            .until(heldTokens, Cause.ELSEWHERE);
    findComputed(prompt, causes, losses);
    return causes.build();
  }

  private synchronized void findComputed(
      BlockChain prompt, UncachedCauses.Builder causes, Losses since) {
    lastOwner = -1;
    int size = prompt.space().blockSizeTokens();
    int mostTokens = (prompt.promptTokens() - 1) / size * size; // the last token is always computed
    int blocks = prompt.blocks();
    int held = Math.min(blocks, causes.end() / size);
    long found = NONE;
    int at = 0;
    for (int depth = 1; depth <= blocks; depth += step(depth)) {
      if (depth > held) {
        long place = find(prompt.blockKey(depth - 1));
        if (place == NONE) {
          break;
        }
        found = place;
        add(place, Math.min(depth * size, mostTokens), causes, since);
      }
      at = depth;
    }
    long read = 0;
    for (int half = at == 0 ? 0 : step(at) / 2; half > 0; half /= 2) {
      int middle = at + half;
      if (half > 1) {
        read ^= touch(prompt.blockKey(Math.min(blocks, middle + half / 2) - 1));
        read ^= touch(prompt.blockKey(Math.min(blocks, at + half / 2) - 1));
      }
      long place = middle > held && middle <= blocks ? find(prompt.blockKey(middle - 1)) : NONE;
      if (place != NONE) {
        found = place;
        add(place, Math.min(middle * size, mostTokens), causes, since);
      }
      at = place != NONE || middle <= held ? middle : at;
    }
    touched = read;
    if (found != NONE) {
      int end = (at * size + (int) (rest(found) & LOW)) / size * size;
      add(found, Math.min(end, mostTokens), causes, since);
    }
  }

  private void add(long place, int endTokens, UncachedCauses.Builder causes, Losses since) {
    if (endTokens > causes.end()) {
      int number = (int) (rest(place) >>> OWNER_SHIFT) & LOW;
      if (number != lastOwner) {
        lastOwner = number;
        long owner = owners[number];
        lastCause = since.since((int) (owner >>> 32), (int) owner) ? Cause.LOST : Cause.EVICTED;
      }
      causes.until(endTokens, lastCause);
    }
  }

  /** Begins to read where a mark may be, so that memory is there when it is looked for. */
  private long touch(long key) {
    long hash = hash(key);
    long[] places = segments[segment(hash)];
    return places[first(places, hash)];
  }

  /** From one depth to the next. */
  private static int step(int depth) {
    return Math.max(1, Integer.highestOneBit(depth) >> 2);
  }

  private void put(long key, int owner, int tokens) {
    long hash = hash(key);
    int segment = segment(hash);
    long[] places = segments[segment];
    int place = place(places, key, hash);
    while (places[place] != 0
        && places[place] != key
        && places.length / LONGS < mostPlaces / SEGMENTS) {
      places = grown(places);
      segments[segment] = places;
      place = place(places, key, hash);
    }
    taken += places[place] == 0 ? 1 : 0;
    places[place] = key;
    places[place + REST] =
        (long) now << Integer.SIZE | (long) owner << OWNER_SHIFT | Math.min(LOW, tokens);
  }

  private static long hash(long key) {
    return key * 0x9e3779b97f4a7c15L;
  }

  /** By the upper bits of the hash; the place is by those below. */
  private static int segment(long hash) {
    return (int) (hash >>> (Long.SIZE - SEGMENT_BITS));
  }

  private static int first(long[] places, long hash) {
    int bits = Integer.numberOfTrailingZeros(places.length / LONGS);
    return ((int) (hash << SEGMENT_BITS >>> (Long.SIZE - bits)) & -WAYS) * LONGS;
  }

  /** The segment and the place there, in a half each; {@link #NONE} if the mark is not known. */
  private long find(long key) {
    long hash = hash(key);
    int segment = segment(hash);
    long[] places = segments[segment];
    int first = first(places, hash);
    for (int place = first; place < first + WAYS * LONGS; place += LONGS) {
      if (places[place] == key) {
        return (long) segment << Integer.SIZE | place;
      }
    }
    return NONE;
  }

  private long rest(long found) {
    return segments[(int) (found >>> Integer.SIZE)][(int) found + REST];
  }

  /** Where a mark is, or else of its places a free one, or that which was used longest ago. */
  private int place(long[] places, long key, long hash) {
    int first = first(places, hash);
    int oldest = first;
    int oldestAge = -1;
    for (int place = first; place < first + WAYS * LONGS; place += LONGS) {
      if (places[place] == key) {
        return place;
      }
      int age =
          places[place] == 0
              ? Integer.MAX_VALUE
              : now - (int) (places[place + REST] >>> Integer.SIZE);
      if (age > oldestAge) {
        oldestAge = age;
        oldest = place;
      }
    }
    return oldest;
  }

  /** Twice as many, with the same marks: those that share a line before are spread over two. */
  private long[] grown(long[] old) {
    long[] places = new long[2 * old.length];
    for (int from = 0; from < old.length; from += LONGS) {
      if (old[from] != 0) {
        int place = place(places, old[from], hash(old[from]));
        System.arraycopy(old, from, places, place, LONGS);
      }
    }
    return places;
  }

  /** The part of the room for marks that is taken, 0 to 1. */
  public synchronized double memoryShare() {
    return (double) taken / mostPlaces;
  }
}
