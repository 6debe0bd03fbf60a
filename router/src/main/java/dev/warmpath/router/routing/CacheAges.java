package dev.warmpath.router.routing;

import org.jspecify.annotations.Nullable;

/**
 * How long ago the content of each engine's KV cache was used last, and how likely content of an
 * age is used again: what it costs to evict some.
 *
 * <p>It knows what was routed here, takes each cache for LRU, and counts prompts without answers.
 * What the index shows to be gone ({@link Candidates#heldTokens}) it forgets; what an engine holds
 * beyond that, as answers and what other routers have sent, it takes for older and worth nothing.
 *
 * <p>It remembers 4,096 engines, 2 KB each, and 262,144 places in prompts, 16 bytes each.
 *
 * <p>Thread-safe.
 */
final class CacheAges {

  /*
   *  mark      a prompt's block key at one of four depths in each octave
   *  table     mark ─▶ when and where a prompt with it was routed last
   *  Content   an engine's tokens by their last use, oldest first: what is used again moves to the
   *            end, what is beyond the engine's capacity falls off at the beginning, as does what is
   *            far more than the index shows: the engine has lost it in a restart
   *  reused    by age, how many tokens were used again at that age
   *  returned  by age, how many requests used at least half of their prompts again
   *
   * An age is the time from one choice of an engine to the arrival of the next request: what a
   * request waits for its turn makes nothing older.
   */

  /** Ages of less are none; an int lasts for 6.8 years. */
  private static final int TICK_NANOS = 100_000_000;

  private static final int AGES_AN_OCTAVE = 4;
  private static final int AGES = 32 * AGES_AN_OCTAVE;
  private static final int FOREVER = Integer.MAX_VALUE;

  /** A request counts half as much as one that came 4,096 / ln 2 requests later. */
  private static final double GROWTH = 1 + 1.0 / 4_096;

  private static final double MOST_WEIGHT = 1e100;

  /** So many times what the index holds is no difference in counting any more. */
  private static final int FAR_MORE = 2;

  /** An engine's content is never quite its capacity. */
  private static final double FULL = 0.98;

  private static final int ENGINES = 1 << 12;
  private static final int WAYS = 4;
  private static final int FIRST_PLACES = 1 << 10;
  private static final int MOST_PLACES = 1 << 18;

  private long[] keys = new long[FIRST_PLACES];
  private int[] lastUses = new int[FIRST_PLACES];
  private int[] engines = new int[FIRST_PLACES];
  private int taken;

  private final RecentMap<Integer, Content> contents = new RecentMap<>(ENGINES);

  private final double[] reused = new double[AGES];
  private final double[] reusedBefore = new double[AGES + 1];
  private final double[] returned = new double[AGES];
  private double used;
  private double weight = 1;
  private long startNanos = Long.MIN_VALUE;

  /** Tokens in an engine's cache by their last use. */
  private static final class Content {
    private static final int SLICES = 128;
    private final int[] lastUses = new int[SLICES];
    private final long[] tokens = new long[SLICES];
    private int first;
    private int end;
    private long total;
    private long capacity;

    boolean isEmpty() {
      return first == end;
    }

    void add(long count, int now, long room) {
      capacity = room;
      if (!isEmpty() && tokens[end - 1] + count <= capacity / SLICES) {
        tokens[end - 1] += count;
        lastUses[end - 1] = now;
      } else {
        if (end == SLICES) {
          compact();
        }
        lastUses[end] = now;
        tokens[end++] = count;
      }
      total += count;
      keepNewest(capacity);
    }

    /** Takes out the oldest of what is more, but for the last slice. */
    void keepNewest(long most) {
      for (; total > most && end - first > 1; skipEmpty()) {
        takeFrom(first, total - most);
      }
    }

    /** How old the content gets if so many of its newest tokens have room; FOREVER if all have. */
    int oldestAge(double room, int now) {
      double left = room;
      for (int slice = end - 1; slice >= first; slice--) {
        left -= tokens[slice];
        if (left < 0) {
          return now - lastUses[slice];
        }
      }
      return FOREVER;
    }

    /** Whether content that was used last then may still be there. */
    boolean reaches(int lastUse) {
      return !isEmpty() && lastUse >= lastUses[first];
    }

    /** Takes out what was last used then, or as near to that as there is. */
    void take(long count, int lastUse) {
      int place = end - 1;
      while (place > first && lastUses[place] > lastUse) {
        place--;
      }
      long left = count;
      for (int older = place; older >= first && left > 0; older--) {
        left -= takeFrom(older, left);
      }
      for (int newer = place + 1; newer < end && left > 0; newer++) {
        left -= takeFrom(newer, left);
      }
      skipEmpty();
    }

    private long takeFrom(int slice, long most) {
      long count = Math.min(most, tokens[slice]);
      tokens[slice] -= count;
      total -= count;
      return count;
    }

    private void skipEmpty() {
      while (first < end && tokens[first] == 0) {
        first++;
      }
    }

    /** Leaves no empty slices, and of the others half as many if they are more than half. */
    private void compact() {
      int full = 0;
      for (int slice = first; slice < end; slice++) {
        full += tokens[slice] > 0 ? 1 : 0;
      }
      int joined = full > SLICES / 2 ? 2 : 1;
      int seen = 0;
      for (int slice = first; slice < end; slice++) {
        if (tokens[slice] > 0) {
          int to = seen++ / joined;
          boolean begins = seen % joined == 1 % joined;
          lastUses[to] = begins ? lastUses[slice] : lastUses[to];
          tokens[to] = tokens[slice] + (begins ? 0 : tokens[to]);
        }
      }
      first = 0;
      end = (full + joined - 1) / joined;
    }
  }

  /**
   * Of the tokens that each candidate would evict for the request, how many would be used again
   * while they are younger than the oldest content of any candidate: so many more hits there would
   * be if another one got it.
   */
  synchronized double[] lostTokens(RoutingRequest request, Candidates candidates) {
    int count = candidates.count();
    double[] lost = new double[count];
    int now = ticks(request.nowNanos());
    int oldest = 0;
    for (int row = 0; row < count && oldest < FOREVER; row++) {
      oldest = Math.max(oldest, oldestAge(request, candidates, row, now));
    }
    for (int row = 0; row < count; row++) {
      int missed = candidates.uncachedTokens(request, row);
      lost[row] = lostTokens(missed, candidates, row, now, oldest);
    }
    return lost;
  }

  /**
   * The same of one candidate that has to compute so much of the prompt, however late they are used
   * again.
   */
  synchronized double lostTokens(
      RoutingRequest request, Candidates candidates, int row, int missedTokens) {
    int now = ticks(request.nowNanos());
    return lostTokens(missedTokens, candidates, row, now, FOREVER);
  }

  /**
   * How many tokens a candidate will have to compute when it comes to the request: some of what it
   * holds now is evicted by those that wait there before it.
   */
  synchronized int missedTokens(RoutingRequest request, Candidates candidates, int row) {
    Content content = content(candidates, row);
    PromptBlocks blocks = request.blocks();
    int size = blocks.blockSizeTokens();
    int credit = candidates.creditTokens(request, row);
    int missed = candidates.uncachedTokens(request, row);
    if (content == null || isUnpriced(candidates, row)) {
      return missed;
    }
    int depth = 1;
    for (int last = 0; depth <= blocks.count() && last * size < credit; depth += step(depth)) {
      long key = blocks.key(depth - 1);
      int place = place(key);
      boolean isHere =
          keys[place] == key && lastUses[place] > 0 && engines[place] == candidates.number(row);
      if (isHere && !content.reaches(lastUses[place])) {
        return missed + credit - last * size;
      }
      last = depth;
    }
    return missed;
  }

  private int oldestAge(RoutingRequest request, Candidates candidates, int row, int now) {
    Content content = content(candidates, row);
    if (isUnpriced(candidates, row)) {
      return 0;
    }
    if (content == null
        || content.isEmpty()
        || evictedTokens(candidates.uncachedTokens(request, row), candidates, row, content) <= 0) {
      return FOREVER;
    }
    return now - content.lastUses[content.first];
  }

  /** What is known of an engine's content, without what the index shows to be gone. */
  private @Nullable Content content(Candidates candidates, int row) {
    Content content = contents.get(candidates.number(row));
    long held = candidates.heldTokens(row);
    if (content != null && held != Candidates.UNKNOWN) {
      long most = held + candidates.contextTokens(row); // the index hears of these later
      if (content.total > FAR_MORE * most) {
        content.keepNewest(most);
      }
    }
    return content;
  }

  /** Where room is not known, and where slower memory keeps what the GPU evicts. */
  private static boolean isUnpriced(Candidates candidates, int row) {
    return candidates.capacityTokens(row) == 0 || candidates.keepsEvicted(row);
  }

  private static long evictedTokens(
      int missedTokens, Candidates candidates, int row, Content content) {
    return missedTokens - (candidates.capacityTokens(row) - content.total);
  }

  private double lostTokens(
      int missedTokens, Candidates candidates, int row, int now, int untilAge) {
    Content content = content(candidates, row);
    if (content == null || isUnpriced(candidates, row)) {
      return 0;
    }
    long left = evictedTokens(missedTokens, candidates, row, content);
    double lost = 0;
    for (int slice = content.first; slice < content.end && left > 0; slice++) {
      long evicted = Math.min(left, content.tokens[slice]);
      lost += evicted * reuseChance(now - content.lastUses[slice], untilAge);
      left -= evicted;
    }
    return lost;
  }

  /** How likely content that was not used for so long is used again before it is that old. */
  private double reuseChance(int age, int untilAge) {
    double before = reusedBefore[ageClass(age)];
    double until = reusedBefore[ageClass(untilAge) + 1];
    return until <= before ? 0 : Math.min(1, (until - before) / (used - before));
  }

  /** How likely a token that an engine holds is used again; 1 if it has got no request yet. */
  synchronized double reuseChance(int engine, long nowNanos) {
    Content content = contents.get(engine);
    if (content == null || content.isEmpty()) {
      return 1;
    }
    int now = ticks(nowNanos);
    double expected = 0;
    for (int slice = content.first; slice < content.end; slice++) {
      expected += content.tokens[slice] * reuseChance(now - content.lastUses[slice], FOREVER);
    }
    return Math.min(1, expected / Math.max(1, content.total));
  }

  /**
   * By how much the share of tokens that are used again in time would change if each of these
   * engines got so much less to do, as in a fleet that is so many times as large: its content would
   * get so many times as old. NaN while nothing is known of any.
   */
  synchronized double hitRateChange(int[] engines, double times, long nowNanos) {
    int now = ticks(nowNanos);
    double change = 0;
    int known = 0;
    for (int engine : engines) {
      Content content = contents.get(engine);
      if (content != null && !content.isEmpty() && content.capacity > 0) {
        known++;
        change += times > 1 ? gained(content, times, now) : -lost(content, times, now);
      }
    }
    return known == 0 || used <= 0 ? Double.NaN : change / known / used;
  }

  private double gained(Content content, double times, int now) {
    int oldest = content.oldestAge(FULL * content.capacity, now);
    return oldest == FOREVER ? 0 : reusedUntil(oldest * times) - reusedUntil(oldest);
  }

  private double lost(Content content, double times, int now) {
    int oldest = content.oldestAge(times * content.capacity, now);
    int still = content.oldestAge(FULL * content.capacity, now);
    return oldest == FOREVER ? 0 : reusedUntil(still) - reusedUntil(oldest);
  }

  /** Of all tokens used, those used again at no higher age. */
  private double reusedUntil(double age) {
    int ageClass = ageClass((int) Math.min(FOREVER, age));
    double begin = millis(ageClass);
    double end = millis(ageClass + 1);
    double part = (age * TICK_NANOS / 1e6 - begin) / (end - begin);
    return reusedBefore[ageClass] + Math.max(0, Math.min(part, 1)) * reused[ageClass];
  }

  private static int ageClass(int age) {
    if (age < AGES_AN_OCTAVE) {
      return Math.max(0, age);
    }
    int octave = 31 - Integer.numberOfLeadingZeros(age);
    int part = (age >>> (octave - 2)) & (AGES_AN_OCTAVE - 1);
    return Math.min(AGES - 1, (octave - 1) * AGES_AN_OCTAVE + part);
  }

  private static double millis(int ageClass) {
    int octave = ageClass / AGES_AN_OCTAVE + 1;
    double ticks =
        ageClass < AGES_AN_OCTAVE
            ? ageClass
            : Math.scalb(1 + (double) (ageClass % AGES_AN_OCTAVE) / AGES_AN_OCTAVE, octave);
    return ticks * TICK_NANOS / 1e6;
  }

  /** The median time from one request to the next that uses half of its prompt or more again. */
  synchronized double medianReturnMillis() {
    double half = 0;
    for (double each : returned) {
      half += each / 2;
    }
    int median = 0;
    for (double sum = returned[0]; sum < half && median < AGES - 1; sum += returned[median]) {
      median++;
    }
    return millis(median);
  }

  /** An engine got the request; nothing happens if its prompt's blocks are not known. */
  synchronized void use(RoutingRequest request, Candidates candidates, int winner) {
    PromptBlocks blocks = request.blocks();
    if (blocks.count() == 0) {
      return;
    }
    int now = ticks(request.nowNanos());
    int engine = candidates.number(winner);
    int size = blocks.blockSizeTokens();
    int credit = candidates.creditTokens(request, winner);
    Content known = content(candidates, winner);
    Content content = known == null ? new Content() : known;
    grow();
    weigh();
    int came = ticks(request.sinceNanos());
    int seenTokens = 0;
    int lastUse = 0;
    boolean isHere = false;
    long elsewhereTokens = 0; // held, though nothing here says when they were used
    long unknownTokens = Math.max(0, candidates.heldTokens(winner) - content.total);
    int usedTokens = request.knownTokens();
    for (int depth = 1; depth <= blocks.count(); depth += step(depth)) {
      long key = blocks.key(depth - 1);
      int place = place(key);
      if (keys[place] == key && lastUses[place] > 0) {
        int tokens = depth * size - seenTokens;
        lastUse = lastUses[place];
        isHere = engines[place] == engine;
        usedTokens -= reused(tokens, came - lastUse);
        int held = Math.min(tokens, Math.max(0, credit - seenTokens));
        boolean isKept = isHere && content.reaches(lastUse); // or lost by a restart
        if (isHere) {
          content.take(isKept ? tokens : held, lastUse);
        } else {
          elsewhereTokens += held;
        }
        seenTokens += tokens;
      }
      taken += lastUses[place] == 0 ? 1 : 0;
      keys[place] = key;
      lastUses[place] = now;
      engines[place] = engine;
    }
    int behind = Math.max(0, credit - seenTokens);
    if (isHere) {
      content.take(behind, lastUse);
    } else {
      elsewhereTokens += behind;
    }
    content.take(Math.max(0, elsewhereTokens - unknownTokens), 0);
    if (seenTokens > 0) { // what is held behind the last known mark is as old
      int heldTokens = mostCredit(request, candidates) - seenTokens;
      usedTokens -= reused(Math.max(0, heldTokens), came - lastUse);
    }
    if (2 * seenTokens >= request.knownTokens() && came > lastUse) {
      returned[ageClass(came - lastUse)] += weight;
    }
    used += weight * Math.max(0, usedTokens);
    for (int age = 0; age < AGES; age++) {
      reusedBefore[age + 1] = reusedBefore[age] + reused[age];
    }
    if (candidates.capacityTokens(winner) > 0) {
      content.add(request.knownTokens(), now, candidates.capacityTokens(winner));
      contents.put(engine, content);
    }
  }

  private static int mostCredit(RoutingRequest request, Candidates candidates) {
    int most = 0;
    for (int row = 0; row < candidates.count(); row++) {
      most = Math.max(most, candidates.creditTokens(request, row));
    }
    return most;
  }

  private void weigh() {
    weight *= GROWTH;
    if (weight > MOST_WEIGHT) {
      for (int age = 0; age < AGES; age++) {
        reused[age] /= weight;
        returned[age] /= weight;
      }
      used /= weight;
      weight = 1;
    }
  }

  /**
   * Counts tokens that are used again, but not those that several requests of one moment use, or
   * one request twice.
   *
   * @return how many do not count
   */
  private int reused(int tokens, int age) {
    if (age <= 0) {
      return tokens;
    }
    reused[ageClass(age)] += weight * tokens;
    return 0;
  }

  /** From one mark's depth to the next. */
  private static int step(int depth) {
    return Math.max(1, Integer.highestOneBit(depth) >> 2);
  }

  /** Where a mark is, or else of its places that which was used longest ago. */
  private int place(long key) {
    int bits = Integer.numberOfTrailingZeros(keys.length);
    int first = (int) ((key * 0x9e3779b97f4a7c15L) >>> (Long.SIZE - bits)) & -WAYS;
    int oldest = first;
    for (int place = first; place < first + WAYS; place++) {
      if (keys[place] == key && lastUses[place] > 0) {
        return place;
      }
      oldest = lastUses[place] < lastUses[oldest] ? place : oldest;
    }
    return oldest;
  }

  private void grow() {
    if (taken < keys.length / 2 || keys.length == MOST_PLACES) {
      return;
    }
    long[] oldKeys = keys;
    int[] oldUses = lastUses;
    int[] oldEngines = engines;
    keys = new long[2 * oldKeys.length];
    lastUses = new int[keys.length];
    engines = new int[keys.length];
    taken = 0;
    for (int old = 0; old < oldKeys.length; old++) {
      if (oldUses[old] > 0) {
        int place = place(oldKeys[old]);
        taken += lastUses[place] == 0 ? 1 : 0;
        keys[place] = oldKeys[old];
        lastUses[place] = oldUses[old];
        engines[place] = oldEngines[old];
      }
    }
  }

  /** Time since the first request, from 1 on. */
  private int ticks(long nanos) {
    if (startNanos == Long.MIN_VALUE) {
      startNanos = nanos;
    }
    return (int) Math.max(1, Math.min(FOREVER, (nanos - startNanos) / TICK_NANOS + 1));
  }

  /** The part of the room for marks that is taken, 0 to 1. */
  synchronized double memoryShare() {
    return (double) taken / MOST_PLACES;
  }
}
