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

  private long[] keys = new long[FIRST_PLACES];
  private int[] lastUses = new int[FIRST_PLACES];
  private int[] engines = new int[FIRST_PLACES];
  private int[] losses = new int[FIRST_PLACES];
  private int[] moreTokens = new int[FIRST_PLACES];
  private int mostPlaces = PLACES_AN_ENGINE;
  private int taken;
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
    int at = 0;
    for (int depth = 1; depth <= blocks; depth += step(depth)) {
      put(prompt.blockKey(depth - 1), engine, lost, 0);
      at = depth;
    }
    for (int half = step(at) / 2; half > 0; half /= 2) {
      if (at + half <= blocks) {
        at += half;
        put(prompt.blockKey(at - 1), engine, lost, 0);
      }
    }
    int behind = prompt.promptTokens() - blocks * prompt.space().blockSizeTokens();
    put(prompt.blockKey(blocks - 1), engine, lost, behind + answerTokens);
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
      int end = (at * size + moreTokens[found]) / size * size;
      add(found, Math.min(end, mostTokens), causes, since);
    }
  }

  private void add(int place, int endTokens, UncachedCauses.Builder causes, Losses since) {
    if (endTokens > causes.end()) {
      boolean isLost = since.since(engines[place], losses[place]);
      causes.until(endTokens, isLost ? Cause.LOST : Cause.EVICTED);
    }
  }

  /** From one depth to the next. */
  private static int step(int depth) {
    return Math.max(1, Integer.highestOneBit(depth) >> 2);
  }

  private void put(long key, int engine, int lost, int more) {
    grow();
    int place = place(key);
    taken += keys[place] == 0 ? 1 : 0;
    keys[place] = key;
    lastUses[place] = now;
    engines[place] = engine;
    losses[place] = lost;
    moreTokens[place] = more;
  }

  private int first(long key) {
    int bits = Integer.numberOfTrailingZeros(keys.length);
    return (int) ((key * 0x9e3779b97f4a7c15L) >>> (Long.SIZE - bits)) & -WAYS;
  }

  private int find(long key) {
    int first = first(key);
    for (int place = first; place < first + WAYS; place++) {
      if (keys[place] == key) {
        return place;
      }
    }
    return NONE;
  }

  /** Where a mark is, or else of its places a free one, or that which was used longest ago. */
  private int place(long key) {
    int first = first(key);
    int oldest = first;
    for (int place = first; place < first + WAYS; place++) {
      if (keys[place] == key) {
        return place;
      }
      boolean isOlder = keys[place] == 0 || now - lastUses[place] > now - lastUses[oldest];
      oldest = keys[oldest] != 0 && isOlder ? place : oldest;
    }
    return oldest;
  }

  private void grow() {
    if (taken < keys.length / 2 || keys.length >= mostPlaces) {
      return;
    }
    long[] oldKeys = keys;
    int[] oldUses = lastUses;
    int[] oldEngines = engines;
    int[] oldLosses = losses;
    int[] oldMore = moreTokens;
    keys = new long[2 * oldKeys.length];
    lastUses = new int[keys.length];
    engines = new int[keys.length];
    losses = new int[keys.length];
    moreTokens = new int[keys.length];
    taken = 0;
    for (int old = 0; old < oldKeys.length; old++) {
      if (oldKeys[old] != 0) {
        int place = place(oldKeys[old]);
        taken += keys[place] == 0 ? 1 : 0;
        keys[place] = oldKeys[old];
        lastUses[place] = oldUses[old];
        engines[place] = oldEngines[old];
        losses[place] = oldLosses[old];
        moreTokens[place] = oldMore[old];
      }
    }
  }

  /** The part of the room for marks that is taken, 0 to 1. */
  public synchronized double memoryShare() {
    return (double) taken / mostPlaces;
  }
}
