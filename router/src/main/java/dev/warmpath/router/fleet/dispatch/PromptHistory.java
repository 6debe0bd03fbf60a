package dev.warmpath.router.fleet.dispatch;

import dev.warmpath.kvindex.block.BlockChain;
import dev.warmpath.router.fleet.dispatch.UncachedTokens.Cause;

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
   *  place      mark ─▶ when a prompt with it was computed last, by which engine, how often that one
   *             had lost its cache by then, and of an end how many tokens came behind it
   *
   * A search takes the depths in order from what is held on, until one is not known: what lies
   * behind a gap could not be reused as a prefix. Then it halves the last step in the same way.
   * An answer is taken to follow its prompt only if the prompt's own end is gone, too: while that
   * is held, and what follows is not, something else follows.
   * A prompt of 8,192 blocks has 60 marks.
   */

  static final int PLACES_AN_ENGINE = 1 << 15;
  static final int BYTES_A_PLACE = 24;
  private static final int LONGS = BYTES_A_PLACE / Long.BYTES;

  /** The upper half is the last use, the lower one the tokens behind an end. */
  private static final int USE = 1;

  /** The upper half is the engine, the lower one how often it had lost its cache. */
  private static final int OWNER = 2;

  private static final int WAYS = 4;
  private static final int FIRST_PLACES = 1 << 10;
  private static final int MOST_PLACES = 1 << 20;
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

  /** Of each place the key, 0 if it is free, what else is known of it, and whose it is. */
  private long[] places = new long[FIRST_PLACES * LONGS];

  private int mostPlaces = PLACES_AN_ENGINE;
  private int taken;
  private long lastOwner;
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
   * @param answerTokens 0 if they are not known
   */
  public synchronized void computed(BlockChain prompt, int engine, int lost, int answerTokens) {
    int blocks = prompt.blocks();
    if (blocks == 0) {
      return;
    }
    now++;
    long owner = (long) engine << 32 | (lost & 0xFFFF_FFFFL);
    int at = 0;
    for (int depth = 1; depth <= blocks; depth += step(depth)) {
      put(prompt.blockKey(depth - 1), owner, 0);
      at = depth;
    }
    for (int half = step(at) / 2; half > 0; half /= 2) {
      if (at + half <= blocks) {
        at += half;
        put(prompt.blockKey(at - 1), owner, 0);
      }
    }
    int behind = prompt.promptTokens() - blocks * prompt.space().blockSizeTokens();
    put(prompt.blockKey(blocks - 1), owner, behind + answerTokens);
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
    int found = NONE;
    int at = 0;
    for (int depth = 1; depth <= blocks; depth += step(depth)) {
      if (depth > held) {
        int place = find(prompt.blockKey(depth - 1));
        if (place == NONE) {
          break;
        }
        found = place;
        add(place, Math.min(depth * size, mostTokens), causes, since);
      }
      at = depth;
    }
    for (int half = at == 0 ? 0 : step(at) / 2; half > 0; half /= 2) {
      int middle = at + half;
      int place = middle > held && middle <= blocks ? find(prompt.blockKey(middle - 1)) : NONE;
      if (place != NONE) {
        found = place;
        add(place, Math.min(middle * size, mostTokens), causes, since);
      }
      at = place != NONE || middle <= held ? middle : at;
    }
    if (found != NONE) {
      int end = (at * size + (int) places[found + USE]) / size * size;
      add(found, Math.min(end, mostTokens), causes, since);
    }
  }

  private void add(int place, int endTokens, UncachedCauses.Builder causes, Losses since) {
    if (endTokens > causes.end()) {
      long owner = places[place + OWNER];
      if (owner != lastOwner) {
        lastOwner = owner;
        lastCause = since.since((int) (owner >>> 32), (int) owner) ? Cause.LOST : Cause.EVICTED;
      }
      causes.until(endTokens, lastCause);
    }
  }

  /** From one depth to the next. */
  private static int step(int depth) {
    return Math.max(1, Integer.highestOneBit(depth) >> 2);
  }

  private void put(long key, long owner, int more) {
    if (taken >= places() / 2 && places() < mostPlaces) {
      grow();
    }
    int place = place(key);
    taken += places[place] == 0 ? 1 : 0;
    places[place] = key;
    places[place + USE] = (long) now << 32 | more;
    places[place + OWNER] = owner;
  }

  private int places() {
    return places.length / LONGS;
  }

  private int first(long key) {
    int bits = Integer.numberOfTrailingZeros(places());
    return ((int) ((key * 0x9e3779b97f4a7c15L) >>> (Long.SIZE - bits)) & -WAYS) * LONGS;
  }

  private int find(long key) {
    int first = first(key);
    for (int place = first; place < first + WAYS * LONGS; place += LONGS) {
      if (places[place] == key) {
        return place;
      }
    }
    return NONE;
  }

  /** Where a mark is, or else of its places a free one, or that which was used longest ago. */
  private int place(long key) {
    int first = first(key);
    int oldest = first;
    int oldestAge = -1;
    for (int place = first; place < first + WAYS * LONGS; place += LONGS) {
      if (places[place] == key) {
        return place;
      }
      int age = places[place] == 0 ? Integer.MAX_VALUE : now - (int) (places[place + USE] >>> 32);
      if (age > oldestAge) {
        oldestAge = age;
        oldest = place;
      }
    }
    return oldest;
  }

  private void grow() {
    long[] old = places;
    places = new long[2 * old.length];
    taken = 0;
    for (int from = 0; from < old.length; from += LONGS) {
      if (old[from] != 0) {
        int place = place(old[from]);
        taken += places[place] == 0 ? 1 : 0;
        System.arraycopy(old, from, places, place, LONGS);
      }
    }
  }

  /** The part of the room for marks that is taken, 0 to 1. */
  public synchronized double memoryShare() {
    return (double) taken / mostPlaces;
  }
}
