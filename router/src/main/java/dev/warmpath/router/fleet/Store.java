package dev.warmpath.router.fleet;

import dev.warmpath.eventingest.EngineView;
import dev.warmpath.eventingest.StoreRules;
import dev.warmpath.eventingest.Trust;
import dev.warmpath.kvindex.block.BlockChain;
import dev.warmpath.router.metrics.Metric;
import dev.warmpath.router.metrics.MetricValues;
import java.util.Arrays;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLongArray;
import java.util.concurrent.atomic.LongAdder;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A store of KV blocks that several engines write and read: how far what it holds can be counted
 * on.
 *
 * <p>One that publishes its removals holds what the index shows. Of one that does not, nobody hears
 * when it drops a block. So the router remembers when each block was last used, and learns from the
 * cached tokens of answers how often blocks of each age are still there. One that publishes is
 * taken to publish its removals until an answer misses what it was to hold, and no removal was
 * heard ever.
 *
 * <p>Thread-safe.
 */
public final class Store {

  /*
   * Ages: of every STRIDE-th block of each answered prompt, and of its last one, in a table of
   * TIMES_BYTES by the block's key. A place has the upper half of a key and a second; a newer block
   * takes it from an older one, whose age is then unknown, which counts as the oldest.
   *
   * Age classes double: below 1 s, 2 s, 4 s … Stores drop first what was used longest ago, so the
   * chance never rises with age: classes whose answers say otherwise share their mean, as a
   * regression that must not rise has it. What an answer shows of a class counts once, however many
   * blocks it has; behind the first block that was missed it shows nothing.
   */

  private static final int STRIDE = 8;

  private static final int PLACES = 1 << 17;

  private static final int CLASSES = 18;
  private static final int OLDEST = CLASSES - 1;

  /** Before anything is known, a class's chance as a part of the next younger one's. */
  private static final double FADES = 0.9;

  /** That counts as so many answers of each class. */
  private static final double ASSUMED_WEIGHT = 1;

  /** Older answers count half whenever so many have come. */
  private static final double MOST_ANSWERS = 32;

  /** What an engine whose store has lost its connection is believed. */
  private static final double SUSPECT_WEIGHT = 0.75;

  private static final long TAG = 0xffff_ffff_0000_0000L;

  /**
   * What an engine was to get of a prompt from the store.
   *
   * @param ownTokens leading tokens that the engine has itself
   * @param heldTokens leading tokens that the index shows there
   * @param creditTokens leading tokens that were counted on
   * @param isSure whether all of these are there for certain
   * @param ages the age class of each piece behind its own tokens
   */
  @SuppressWarnings("ArrayRecordComponent") // never compared
  public record Read(
      Store store, int ownTokens, int heldTokens, int creditTokens, boolean isSure, byte[] ages) {}

  private static final byte[] NO_AGES = {};

  private static final Logger LOG = LoggerFactory.getLogger(Store.class);

  /** What is heard of it. */
  public interface Heard {

    /** How it stands in the index now. */
    EngineView view();

    /** Blocks that it has published as removed so far. */
    long removals();

    /** Nanoseconds since its own events said anything. */
    default long silentNanos() {
      return 0;
    }

    /** Blocks that its readers have said meanwhile that they stored there. */
    default long toldMeanwhile() {
      return 0;
    }
  }

  /** A store that says nothing for so long … */
  private static final long SILENT_NANOS = TimeUnit.SECONDS.toNanos(60);

  /** … while its readers say that they stored so many blocks there … */
  private static final long SILENT_BLOCKS = 256;

  /** … or got so many tokens that neither they nor it were known to hold, in so long. */
  private static final long SILENT_TOKENS = 16_384;

  private static final long UNKNOWN_NANOS = TimeUnit.MINUTES.toNanos(10);

  private final StoreRules rules;
  private final Heard heardOf;
  private volatile boolean missed;
  private long cameUnknown;
  private long unknownSinceNanos;
  private final AtomicLongArray times;
  private final double[] kept = new double[CLASSES];
  private final double[] asked = new double[CLASSES];
  private volatile double[] chances;
  private final LongAdder held = new LongAdder();
  private final LongAdder credited = new LongAdder();
  private final LongAdder served = new LongAdder();

  /**
   * @param heardOf what is heard of it
   */
  public Store(StoreRules rules, Heard heardOf) {
    this.rules = rules;
    this.heardOf = heardOf;
    times = new AtomicLongArray(PLACES);
    chances = chances();
  }

  public String name() {
    return rules.name();
  }

  public StoreRules rules() {
    return rules;
  }

  /** How it stands in the index now. */
  public EngineView view() {
    return heardOf.view();
  }

  /** Whether nobody hears what it drops, so that it is trusted by age. */
  public boolean dropsUnheard() {
    return !rules.publishes() || (missed && heardOf.removals() == 0);
  }

  /**
   * A reader got so many tokens of a prompt that neither it nor this store was known to hold.
   *
   * @param nowNanos of the clock of {@link Heard#silentNanos}
   */
  public synchronized void cameUnknown(int tokens, long nowNanos) {
    long heardNanos = nowNanos - heardOf.silentNanos();
    if (cameUnknown == 0
        || heardNanos - unknownSinceNanos > 0
        || nowNanos - unknownSinceNanos > UNKNOWN_NANOS) {
      cameUnknown = 0;
      unknownSinceNanos = nowNanos;
    }
    cameUnknown += tokens;
  }

  /**
   * Whether its own events say nothing while its readers show that it is used: it publishes
   * nothing, or elsewhere.
   */
  public synchronized boolean isSilent(long nowNanos) {
    long silentNanos = heardOf.silentNanos();
    boolean isHeardSince = nowNanos - silentNanos - unknownSinceNanos > 0;
    boolean isLongAgo = nowNanos - unknownSinceNanos > UNKNOWN_NANOS;
    long unknown = isHeardSince || isLongAgo ? 0 : cameUnknown;
    return rules.publishes()
        && silentNanos >= SILENT_NANOS
        && (heardOf.toldMeanwhile() >= SILENT_BLOCKS || unknown >= SILENT_TOKENS);
  }

  /**
   * What an engine gets of a prompt from it, and can be counted on to get.
   *
   * @param ownTokens leading tokens that the engine has itself
   * @param heldTokens leading tokens that the index shows here, more than those
   * @param trust how far the index is believed
   */
  public Read read(BlockChain chain, int ownTokens, int heldTokens, Trust trust, long nowNanos) {
    boolean dropsUnheard = dropsUnheard();
    boolean isSure = !dropsUnheard && trust == Trust.EXACT;
    int blockTokens = chain.space().blockSizeTokens();
    double weight = trust == Trust.EXACT ? 1 : SUSPECT_WEIGHT;
    if (!dropsUnheard) {
      int more = (int) (weight * (heldTokens - ownTokens)) / blockTokens * blockTokens;
      return new Read(this, ownTokens, heldTokens, ownTokens + more, isSure, NO_AGES);
    }
    double[] now = chances;
    int from = ownTokens / blockTokens;
    int to = heldTokens / blockTokens;
    byte[] ages = new byte[(to - from + STRIDE - 1) / STRIDE + 1];
    int pieces = 0;
    double chance = 1;
    double blocks = 0;
    for (int begin = from; begin < to; pieces++) {
      int end = pieceEnd(begin, to);
      int age = age(chain.blockKey(end - 1), nowNanos);
      ages[pieces] = (byte) age;
      chance = Math.min(chance, now[age]);
      blocks += chance * (end - begin);
      begin = end;
    }
    int credit = ownTokens + ((int) blocks) * blockTokens;
    return new Read(this, ownTokens, heldTokens, credit, isSure, Arrays.copyOf(ages, pieces));
  }

  private static int pieceEnd(int begin, int to) {
    return Math.min(to, (begin / STRIDE + 1) * STRIDE);
  }

  /** A reader has answered: its prompt's blocks were used, and are there now. */
  public void markUsed(BlockChain chain, long nowNanos) {
    for (int begin = 0; begin < chain.blocks(); ) {
      begin = pieceEnd(begin, chain.blocks());
      long key = chain.blockKey(begin - 1);
      times.set(place(key), (key & TAG) | seconds(nowNanos));
    }
  }

  /**
   * It was read.
   *
   * @param cachedTokens leading tokens of the prompt that the engine did not compute
   */
  public void answered(BlockChain chain, Read read, int cachedTokens) {
    held.add(read.heldTokens - read.ownTokens);
    credited.add(read.creditTokens - read.ownTokens);
    int came = Math.max(read.ownTokens, Math.min(read.heldTokens, cachedTokens));
    served.add(came - read.ownTokens);
    if (rules.publishes() && !missed && came < read.heldTokens && heardOf.removals() == 0) {
      missed = true;
      LOG.warn(
          "store={} does not hold all that it has published, and has published no removal ever: it"
              + " is trusted by age until it does",
          name());
    }
    if (cachedTokens >= read.ownTokens && read.ages.length > 0) {
      learn(read, came, chain.space().blockSizeTokens());
    }
  }

  private synchronized void learn(Read read, int cameTokens, int blockTokens) {
    int to = read.heldTokens / blockTokens;
    int[] shown = new int[CLASSES];
    int[] there = new int[CLASSES];
    int begin = read.ownTokens / blockTokens;
    boolean isThere = true;
    for (int piece = 0; piece < read.ages.length && isThere; piece++) {
      int end = pieceEnd(begin, to);
      isThere = (long) end * blockTokens <= cameTokens;
      shown[read.ages[piece]]++;
      there[read.ages[piece]] += isThere ? 1 : 0;
      begin = end;
    }
    for (int age = 0; age < CLASSES; age++) {
      if (shown[age] > 0) {
        kept[age] += (double) there[age] / shown[age];
        asked[age]++;
        if (asked[age] > MOST_ANSWERS) {
          kept[age] /= 2;
          asked[age] /= 2;
        }
      }
    }
    chances = chances();
  }

  /** Of each age class, that a block is there still: what is known, made to fall with age. */
  private double[] chances() {
    double[] all = new double[CLASSES];
    double[] weights = new double[CLASSES];
    for (int age = 0; age < CLASSES; age++) {
      weights[age] = asked[age] + ASSUMED_WEIGHT;
      all[age] = (kept[age] + ASSUMED_WEIGHT * Math.pow(FADES, age)) / weights[age];
      double sum = all[age] * weights[age];
      double weight = weights[age];
      int first = age;
      while (first > 0 && all[first - 1] < sum / weight) {
        first--;
        sum += all[first] * weights[first];
        weight += weights[first];
      }
      Arrays.fill(all, first, age + 1, sum / weight);
    }
    return all;
  }

  /** The chance that a block is there still which was used so long ago. */
  public double chance(long agoNanos) {
    return !dropsUnheard() ? 1 : chances[ageClass(TimeUnit.NANOSECONDS.toSeconds(agoNanos))];
  }

  private int age(long key, long nowNanos) {
    long known = times.get(place(key));
    if (known == 0 || (known & TAG) != (key & TAG)) {
      return OLDEST;
    }
    return ageClass(Math.max(0, seconds(nowNanos) - (known & ~TAG)));
  }

  private static int ageClass(long seconds) {
    return Math.min(OLDEST, Long.SIZE - Long.numberOfLeadingZeros(seconds));
  }

  private static int place(long key) {
    return (int) key & (PLACES - 1);
  }

  /** Never 0, so that a place that was never used has no time. */
  private static long seconds(long nanos) {
    return (Math.floorDiv(nanos, TimeUnit.SECONDS.toNanos(1)) + 1) & ~TAG;
  }

  /** Prompt tokens that only it held so far: by the index, as counted on, and as served. */
  public long[] tokens() {
    return new long[] {held.sum(), credited.sum(), served.sum()};
  }

  /** How it stands, for a scrape. */
  public void collect(MetricValues to, long nowNanos) {
    to.add(Metric.STORE_SILENT, isSilent(nowNanos) ? 1 : 0, name());
    to.add(Metric.STORE_TOKENS_TOTAL, held.sum(), name(), "held");
    to.add(Metric.STORE_TOKENS_TOTAL, credited.sum(), name(), "credited");
    to.add(Metric.STORE_TOKENS_TOTAL, served.sum(), name(), "served");
  }
}
