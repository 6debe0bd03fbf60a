package dev.warmpath.simulator.engine;

import dev.warmpath.simulator.engine.EngineRequest.Phase;
import java.util.ArrayList;
import java.util.List;

/**
 * An engine that behaves like vLLM where a router can tell: what it caches, what it evicts, what it
 * announces and when, and how long it takes.
 *
 * <p>A step has two halves. {@link #beginStep} schedules work, which already commits and evicts
 * blocks, and says how long the forward pass takes; {@link #endStep} brings the tokens. Requests
 * that arrive in between wait for the next step. The engine is deterministic and knows no clock:
 * who drives it lets the time pass and says when a step begins.
 *
 * <p>Loads from host memory go on beside the steps, like those of vLLM's OffloadingConnector. When
 * there is nothing else to do, a step computes nothing and ends with a load ({@link
 * #waitsForLoad}).
 *
 * <p>Most steps only decode. {@link #passPlain} takes many of these at once.
 *
 * <p>Single writer.
 */
public final class SimulatedEngine {

  private final EngineConfig config;
  private final KvCache cache;
  private final Scheduler scheduler;
  private final List<EngineRequest> step = new ArrayList<>();
  private final StepWork work = new StepWork();
  private boolean waitsForLoad;
  private long stepEndsNanos;

  /** An idle engine with an empty cache, whose changes {@code events} receives. */
  public SimulatedEngine(EngineConfig config, CacheListener events) {
    this.config = config;
    cache = new KvCache(config.cache(), events);
    scheduler = new Scheduler(config, cache);
  }

  /**
   * Queues a request that was never submitted before; its tokens must fit {@code maxModelTokens}.
   */
  public void submit(EngineRequest request) {
    int tokens = request.promptTokens() + request.answerTokens();
    if (tokens > config.maxModelTokens()) {
      throw new IllegalArgumentException("tokens=" + tokens + " max=" + config.maxModelTokens());
    }
    if (request.phase != Phase.NEW) {
      throw new IllegalArgumentException("submitted before: " + request);
    }
    request.phase = Phase.SUBMITTED;
    scheduler.add(request);
  }

  /** Gives up a request; what it stored stays cached. One that has ended is ignored. */
  public void abort(EngineRequest request) {
    if (request.phase == Phase.SUBMITTED) {
      if (scheduler.remove(request)) {
        release(request);
      } else {
        request.phase = Phase.ENDED;
      }
    }
  }

  /** Takes the blocks that a request has held since it ended; does nothing if it holds none. */
  public void free(EngineRequest request) {
    if (request.phase == Phase.HELD) {
      release(request);
    }
  }

  /** Prompt tokens that a request would find in the cache now. */
  public int cachedTokens(EngineRequest request) {
    return request.readsCache()
        ? cache.find(request, request.promptTokens(), request.mostLoadTokens()).tokens()
        : 0;
  }

  /** Where the prompt tokens end that host memory holds from {@code fromTokens} on. */
  public int hostEndTokens(EngineRequest request, int fromTokens) {
    return cache.hostEndTokens(request, fromTokens, request.promptTokens());
  }

  /** Whether there is nothing to do. */
  public boolean idle() {
    return scheduler.isEmpty();
  }

  /** Begins a step at the end of the one before, as far as that was known at its begin. */
  public double beginStep() {
    return beginStep(stepEndsNanos);
  }

  /**
   * Schedules the next step and returns how long it takes, in milliseconds.
   *
   * @param nowNanos since any moment, always the same
   */
  public double beginStep(long nowNanos) {
    requireNoStep();
    scheduler.next(step, nowNanos);
    waitsForLoad = step.isEmpty() && scheduler.isLoading();
    double millis = waitsForLoad ? (scheduler.loadEndsNanos() - nowNanos) / 1e6 : computeMillis();
    stepEndsNanos = nowNanos + Math.round(millis * 1e6);
    return millis;
  }

  /**
   * Whether the step under way computes nothing and lasts until a load ends. Whoever has something
   * for the engine to do may end it earlier.
   */
  public boolean waitsForLoad() {
    return waitsForLoad;
  }

  private double computeMillis() {
    work.begin(cache.usage());
    for (int i = 0; i < step.size(); i++) {
      EngineRequest request = step.get(i);
      int context = request.computedTokens;
      if (context >= request.promptTokens()) {
        work.decode(1, context);
      } else {
        work.prefill(request.stepTokens, context);
      }
      request.computedTokens += request.stepTokens;
    }
    return config.cost().stepMillis(work);
  }

  /** Ends the step: a token for each sequence that is computed to its end. */
  public void endStep(TokenListener tokens) {
    for (int i = 0; i < step.size(); i++) {
      EngineRequest request = step.get(i);
      if (request.phase == Phase.SUBMITTED && request.pendingTokens() == 0) {
        generate(request, tokens);
      }
    }
    step.clear();
    waitsForLoad = false;
  }

  /**
   * How many steps from now on only decode: nothing waits, no prompt is under way, no sequence
   * fills a block, needs one, leaves one behind its window or ends. 0 if the next step is none of
   * these, or if a step is under way.
   */
  public int plainSteps() {
    return step.isEmpty() ? scheduler.plainSteps() : 0;
  }

  /** How long the next {@code steps} plain steps take together, in milliseconds. */
  public double plainMillis(int steps) {
    double millis = 0;
    work.begin(cache.usage());
    scheduler.addDecodes(work);
    for (int i = 0; i < steps; i++) {
      millis += config.cost().stepMillis(work);
      work.decode(0, work.decodes());
    }
    return millis;
  }

  /**
   * Takes {@code steps} plain steps at once: leaves everything as if so many were begun and ended.
   * None of their tokens is a first or a last one.
   *
   * @param steps at most {@link #plainSteps}
   */
  public void passPlain(int steps) {
    if (steps < 0 || steps > plainSteps()) {
      throw new IllegalArgumentException("steps=" + steps + " plain=" + plainSteps());
    }
    scheduler.passPlain(steps);
  }

  /** Empties the cache unless a request holds blocks; says whether it did. */
  public boolean resetPrefixCache() {
    return cache.reset();
  }

  public EngineGauges load() {
    return scheduler.load();
  }

  /** Physical blocks that are committed under a name, copies included. */
  public int committedBlocks() {
    return cache.committedBlocks();
  }

  /** Blocks that host memory holds. */
  public int hostBlocks() {
    return cache.hostBlocks();
  }

  /** Blocks that it holds: pairs of a group and a name, copies counted once. */
  public int heldBlocks() {
    return cache.heldBlocks();
  }

  /** Fails if the cache's books do not balance. */
  public void checkInvariants() {
    cache.checkInvariants();
  }

  private void generate(EngineRequest request, TokenListener tokens) {
    int index = request.generatedTokens();
    request.lengthTokens++;
    boolean last = request.generatedTokens() == request.answerTokens();
    if (last) {
      end(request);
    }
    tokens.token(request, index, last);
  }

  private void end(EngineRequest request) {
    scheduler.remove(request);
    if (request.holdsBlocks()) {
      request.phase = Phase.HELD;
    } else {
      release(request);
    }
  }

  private void release(EngineRequest request) {
    request.phase = Phase.ENDED;
    cache.release(request);
  }

  private void requireNoStep() {
    if (!step.isEmpty()) {
      throw new IllegalStateException("step not ended");
    }
  }

  /**
   * Receives the tokens of a step, in scheduling order. Must not call the engine. Single writer.
   */
  @FunctionalInterface
  public interface TokenListener {

    /**
     * A token was generated.
     *
     * @param index position in the answer; 0 is the first token
     * @param last whether the request ends with it
     */
    void token(EngineRequest request, int index, boolean last);
  }
}
