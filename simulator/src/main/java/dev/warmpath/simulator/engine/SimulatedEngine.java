package dev.warmpath.simulator.engine;

import dev.warmpath.simulator.engine.Scheduler.Work;
import dev.warmpath.simulator.engine.StepResult.Token;
import dev.warmpath.simulator.engine.cache.BlockHashing;
import dev.warmpath.simulator.engine.cache.KvCache;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * An engine that behaves like vLLM where a router can tell: what it caches, what it evicts, what it
 * announces and when, and how long it takes.
 *
 * <p>A step has two halves. {@link #beginStep} schedules work, which already commits and evicts
 * blocks, and says how long the forward pass takes; {@link #endStep} brings the tokens and the
 * events. Requests that arrive in between wait for the next step. The engine is deterministic and
 * knows no clock: who drives it lets the time pass.
 *
 * <p>Single writer.
 */
public final class SimulatedEngine {

  private final EngineConfig config;
  private final KvCache cache;
  private final Scheduler scheduler;
  private final Map<String, Sequence> sequences = new HashMap<>();
  private List<Work> step = List.of();

  public SimulatedEngine(EngineConfig config, BlockHashing hashing) {
    this.config = config;
    cache = new KvCache(config.cache(), hashing);
    scheduler = new Scheduler(config, cache);
  }

  /** Queues a request; its id must not be in use, its tokens must fit {@code maxModelTokens}. */
  public void submit(EngineRequest request) {
    int tokens = request.prompt().length + request.answer().length;
    if (tokens > config.maxModelTokens()) {
      throw new IllegalArgumentException("tokens=" + tokens + " max=" + config.maxModelTokens());
    }
    if (sequences.containsKey(request.id())) {
      throw new IllegalArgumentException("id in use: " + request.id());
    }
    Sequence sequence = new Sequence(request, cache.sequence(request.prompt(), request.keys()));
    sequences.put(request.id(), sequence);
    scheduler.add(sequence);
  }

  /** Gives up a request; what it stored stays cached. Unknown ids are ignored. */
  public void abort(String requestId) {
    Sequence sequence = sequences.remove(requestId);
    if (sequence != null) {
      scheduler.remove(sequence);
    }
  }

  /** Whether there is nothing to do. Events may still wait for the next step. */
  public boolean idle() {
    return sequences.isEmpty();
  }

  /** Schedules the next step and returns how long it takes, in milliseconds. */
  public double beginStep() {
    if (!step.isEmpty()) {
      throw new IllegalStateException("step not ended");
    }
    step = scheduler.next();
    double millis = config.cost().baseMillis();
    for (Work work : step) {
      millis += work.costMillis(config.cost());
    }
    return millis;
  }

  /** Ends the step: a token for each sequence that is computed to its end, and the events. */
  public StepResult endStep() {
    List<Token> tokens = new ArrayList<>();
    for (Work work : step) {
      Sequence sequence = work.sequence();
      boolean alive = sequences.get(sequence.request.id()) == sequence;
      if (alive && sequence.pendingTokens() == 0) {
        tokens.add(generate(sequence));
      }
    }
    step = List.of();
    return new StepResult(tokens, cache.takeEvents());
  }

  /**
   * Empties the cache unless a request holds blocks; says whether it did. The event goes out with
   * the next step.
   */
  public boolean resetPrefixCache() {
    return cache.reset();
  }

  public EngineLoad load() {
    return scheduler.load();
  }

  /** Physical blocks that are committed under a hash, copies included. */
  public int committedBlocks() {
    return cache.committedBlocks();
  }

  /** Fails if the cache's books do not balance. */
  public void checkInvariants() {
    cache.checkInvariants();
  }

  private Token generate(Sequence sequence) {
    EngineRequest request = sequence.request;
    int index = sequence.generated();
    sequence.cached.append(request.answer()[index]);
    boolean last = sequence.complete();
    if (last) {
      sequences.remove(request.id());
      scheduler.remove(sequence);
    }
    return new Token(request.id(), request.answer()[index], index, sequence.cachedTokens, last);
  }
}
