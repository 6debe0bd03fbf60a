package dev.warmpath.simulator.fleet;

import dev.warmpath.eventingest.EngineView;
import dev.warmpath.kvindex.CacheGroup;
import dev.warmpath.kvindex.RemovedBlocks;
import dev.warmpath.kvindex.StorageTier;
import dev.warmpath.kvindex.StoredBlocks;
import dev.warmpath.simulator.engine.CacheListener;
import dev.warmpath.simulator.engine.CachedSequence;
import dev.warmpath.simulator.engine.EngineConfig;
import dev.warmpath.simulator.engine.EngineRequest;
import dev.warmpath.simulator.engine.SimulatedEngine;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * One engine of a virtual fleet: steps as long as there is work, several at once while they only
 * decode.
 *
 * <p>Single writer.
 */
final class VirtualEngine implements CacheListener {

  private static final double NANOS_PER_MILLI = 1e6;

  /** Says when to call {@link #stepEnd}. */
  interface Alarm {
    void at(long nanos, VirtualEngine engine, int step);
  }

  /** What is wrong with it, until it is another process. */
  static final class Faults {
    boolean deaf;
    boolean blackHole;
    double slowness = 1;
  }

  /** Also its slot in each index. */
  final int number;

  final PendingEvents events = new PendingEvents();
  final List<VirtualRequest> underWay = new ArrayList<>();
  EngineView view = EngineView.UNSEEN;

  /** Whether it gets no new requests, and is gone when the old ones are over. */
  boolean leaving;

  /** Processes that it was before. */
  int lives;

  /** How often the routers forgot what it held, or doubted it. */
  int losses;

  /** Until then its link sends, and receives, what was begun. */
  long sendsUntilNanos;

  long receivesUntilNanos;
  Faults faults = new Faults();
  private final EngineConfig config;
  private final Alarm alarm;
  private final List<EngineRequest> arrived = new ArrayList<>();
  private SimulatedEngine engine;
  private boolean stepping;
  private int plainSteps;
  private long stepBeganNanos;
  private int step;

  VirtualEngine(int number, EngineConfig config, Alarm alarm) {
    this.number = number;
    this.config = config;
    this.alarm = alarm;
    engine = new SimulatedEngine(config, this);
  }

  /** It is another process, with nothing in its cache. */
  void restart() {
    engine = new SimulatedEngine(config, this);
    underWay.clear();
    arrived.clear();
    lives++;
    sendsUntilNanos = 0;
    receivesUntilNanos = 0;
    events.forget();
    stepping = false;
    step++;
    faults = new Faults();
  }

  /** Takes a request; it is looked at before the next step. */
  void submit(EngineRequest request, long nowNanos) {
    if (!stepping) {
      engine.submit(request);
      begin(nowNanos);
      return;
    }
    arrived.add(request);
    if (plainSteps > 1) {
      cut(nowNanos);
    } else {
      endWait(nowNanos);
    }
  }

  /** There is something to do before the next load ends. */
  private void endWait(long nowNanos) {
    if (stepping && engine.waitsForLoad()) {
      alarm.at(nowNanos, this, ++step);
    }
  }

  private void begin(long nowNanos) {
    stepping = true;
    stepBeganNanos = nowNanos;
    plainSteps = engine.plainSteps();
    if (plainSteps > 0) {
      end(engine.plainMillis(plainSteps));
      return;
    }
    double millis = engine.beginStep(nowNanos);
    if (engine.waitsForLoad()) {
      alarm.at(nowNanos + Math.round(millis * NANOS_PER_MILLI), this, ++step);
    } else {
      end(millis);
    }
  }

  private void end(double millis) {
    alarm.at(stepBeganNanos + nanos(millis), this, ++step);
  }

  private long nanos(double millis) {
    return Math.round(faults.slowness * millis * NANOS_PER_MILLI);
  }

  /** Ends the plain steps with the first that ends now or later. */
  private void cut(long nowNanos) {
    long since = nowNanos - stepBeganNanos;
    int enough = plainSteps;
    int few = 0;
    while (enough - few > 1) {
      int middle = (enough + few) >>> 1;
      if (nanos(engine.plainMillis(middle)) >= since) {
        enough = middle;
      } else {
        few = middle;
      }
    }
    plainSteps = enough;
    end(engine.plainMillis(enough));
  }

  /**
   * Ends the step that was announced as {@code number}; {@link #goOn} begins the next one.
   *
   * @param tokens hears of tokens, but for those of plain steps
   * @return false if that step is not the one that runs
   */
  boolean stepEnd(int number, SimulatedEngine.TokenListener tokens) {
    if (!stepping || number != step) {
      return false;
    }
    if (plainSteps > 0) {
      engine.passPlain(plainSteps);
      plainSteps = 0;
    } else {
      engine.endStep(tokens);
    }
    return true;
  }

  /** Goes on with the next step, if there is anything to do. */
  void goOn(long nowNanos) {
    stepping = false;
    arrived.forEach(engine::submit);
    arrived.clear();
    if (!engine.idle()) {
      begin(nowNanos);
    }
  }

  /** All routers' indexes hear the oldest batch. */
  void hear(List<VirtualRouter> routers, long rootKey) {
    if (faults.deaf) {
      events.forget();
    } else {
      events.hear(routers, number, rootKey);
    }
  }

  @Override
  public void stored(
      CachedSequence sequence, CacheGroup group, int fromBlock, int toBlock, int heldFrom) {
    events.stored(StorageTier.GPU, sequence, fromBlock, toBlock);
  }

  @Override
  public void removed(int group, long blockName) {
    events.removed(StorageTier.GPU, blockName);
  }

  @Override
  public void storedOnHost(CachedSequence sequence, CacheGroup group, int fromBlock, int toBlock) {
    events.stored(StorageTier.CPU, sequence, fromBlock, toBlock);
  }

  @Override
  public void removedFromHost(int group, long blockName) {
    events.removed(StorageTier.CPU, blockName);
  }

  @Override
  public void cleared() {
    events.cleared();
  }

  /** Prompt tokens that a request would find in its cache now. */
  int cachedTokens(VirtualRequest request) {
    return engine.cachedTokens(request);
  }

  /** The blocks of a request that computed a prompt for another engine are not needed any more. */
  void free(VirtualRequest request, long nowNanos) {
    if (underWay.remove(request)) {
      engine.free(request);
      endWait(nowNanos);
    }
  }

  /** Gives up a request; what was computed of it stays cached. */
  void abort(EngineRequest request, long nowNanos) {
    arrived.remove(request);
    engine.abort(request);
    endWait(nowNanos);
  }

  SimulatedEngine engine() {
    return engine;
  }

  /**
   * The cache events of one engine that the indexes have not heard yet, in batches.
   *
   * <p>Single writer.
   */
  static final class PendingEvents {

    /*
     * One event: what it is, its tier and its blocks' count; the parent's name if it is a store behind
     * one; the names.
     *
     *   0      3      4
     *   | kind | tier | count |
     */

    private static final int AT_ROOT = 0;
    private static final int BEHIND = 1;
    private static final int REMOVED = 2;
    private static final int CLEARED = 3;
    private static final int BATCH_END = 4;

    private static final StorageTier[] TIERS = {StorageTier.GPU, StorageTier.CPU};
    private static final int COUNT_SHIFT = 4;
    private static final int TIER_BIT = 1 << 3;
    private static final int KINDS = TIER_BIT - 1;

    private long[] events = new long[256];
    private int begin;
    private int end;
    private boolean open;
    private final StoredBlocks stored = new StoredBlocks();
    private final RemovedBlocks removed = new RemovedBlocks();

    private void add(long value) {
      if (end == events.length) {
        makeRoom();
      }
      events[end++] = value;
      open = true;
    }

    private void makeRoom() {
      int used = end - begin;
      long[] to = used > events.length / 2 ? new long[2 * events.length] : events;
      System.arraycopy(events, begin, to, 0, used);
      events = to;
      begin = 0;
      end = used;
    }

    /** Blocks {@code [from, to)} of a sequence were stored on the GPU or on its host. */
    void stored(StorageTier tier, CachedSequence sequence, int from, int to) {
      add(head(from == 0 ? AT_ROOT : BEHIND, tier, to - from));
      if (from > 0) {
        add(sequence.name(from - 1));
      }
      for (int block = from; block < to; block++) {
        add(sequence.name(block));
      }
    }

    void removed(StorageTier tier, long name) {
      add(head(REMOVED, tier, 1));
      add(name);
    }

    private static long head(int kind, StorageTier tier, int count) {
      return (long) count << COUNT_SHIFT | (tier == StorageTier.GPU ? 0 : TIER_BIT) | kind;
    }

    private static StorageTier tier(long head) {
      return TIERS[(head & TIER_BIT) == 0 ? 0 : 1];
    }

    void cleared() {
      add(CLEARED);
    }

    /** Ends a batch; returns whether there is anything in it. */
    boolean endBatch() {
      boolean any = open;
      if (any) {
        add(BATCH_END);
      }
      open = false;
      return any;
    }

    /** Forgets everything that was not heard. */
    void forget() {
      begin = 0;
      end = 0;
      open = false;
    }

    /** All routers' indexes hear the oldest batch. */
    void hear(List<VirtualRouter> routers, int slot, long rootKey) {
      while (begin < end) {
        long event = events[begin++];
        int count = (int) (event >>> COUNT_SHIFT);
        switch ((int) (event & KINDS)) {
          case AT_ROOT -> {
            stored.atRoot(tier(event), 0, rootKey);
            names(count);
            routers.forEach(router -> router.index.stored(slot, stored));
          }
          case BEHIND -> {
            stored.behind(tier(event), 0, events[begin++]);
            names(count);
            routers.forEach(router -> router.index.stored(slot, stored));
          }
          case REMOVED -> hearRemoved(routers, slot, event);
          case CLEARED -> routers.forEach(router -> router.index.cleared(slot));
          default -> {
            rewind();
            return;
          }
        }
      }
    }

    private void names(int count) {
      for (int i = 0; i < count; i++) {
        long name = events[begin++];
        stored.add(name, name); // a name stands for the whole prefix, and so does this local hash
      }
    }

    /** Removals from one tier that follow each other are one event of an index. */
    private void hearRemoved(List<VirtualRouter> routers, int slot, long head) {
      removed.from(tier(head), 0).add(events[begin++]);
      while (begin < end && events[begin] == head) {
        removed.add(events[begin + 1]);
        begin += 2;
      }
      routers.forEach(router -> router.index.removed(slot, removed));
    }

    private void rewind() {
      if (begin == end) {
        begin = 0;
        end = 0;
        if (events.length > 1 << 16) {
          events = Arrays.copyOf(events, 256);
        }
      }
    }
  }
}
