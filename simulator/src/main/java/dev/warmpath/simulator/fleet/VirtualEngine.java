package dev.warmpath.simulator.fleet;

import dev.warmpath.eventingest.EngineView;
import dev.warmpath.kvindex.CacheGroup;
import dev.warmpath.kvindex.StorageTier;
import dev.warmpath.simulator.engine.CacheListener;
import dev.warmpath.simulator.engine.CachedSequence;
import dev.warmpath.simulator.engine.EngineConfig;
import dev.warmpath.simulator.engine.EngineRequest;
import dev.warmpath.simulator.engine.SimulatedEngine;
import java.util.ArrayList;
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
}
