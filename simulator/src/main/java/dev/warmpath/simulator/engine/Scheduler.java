package dev.warmpath.simulator.engine;

import dev.warmpath.simulator.engine.cache.KvCache;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;

/**
 * Decides what the next step computes: running sequences first, then waiting ones in order of
 * arrival, within the token budget and the free blocks.
 *
 * <p>When a running sequence finds no block, the one admitted last gives all of its own back and
 * waits again, at the front. In such a step nobody new is admitted.
 *
 * <p>Single writer.
 */
final class Scheduler {

  private final EngineConfig config;
  private final KvCache cache;
  private final List<Sequence> running = new ArrayList<>();
  private final Deque<Sequence> waiting = new ArrayDeque<>();
  private long cacheQueriesTokens;
  private long cacheHitsTokens;
  private long preemptions;

  Scheduler(EngineConfig config, KvCache cache) {
    this.config = config;
    this.cache = cache;
  }

  void add(Sequence sequence) {
    waiting.add(sequence);
  }

  void remove(Sequence sequence) {
    running.remove(sequence);
    waiting.remove(sequence);
    cache.release(sequence.cached);
  }

  EngineLoad load() {
    return new EngineLoad(
        running.size(),
        waiting.size(),
        cache.usage(),
        cacheQueriesTokens,
        cacheHitsTokens,
        preemptions);
  }

  /** The work of the next step, in order; empty if there is none. */
  List<Work> next() {
    List<Work> plan = new ArrayList<>();
    long preemptedBefore = preemptions;
    int budget = scheduleRunning(plan);
    if (preemptions == preemptedBefore) {
      admit(plan, budget);
    }
    for (Work work : plan) {
      work.sequence.computedTokens += work.tokens;
    }
    return plan;
  }

  /** Tokens of one sequence that a step computes. Immutable. */
  record Work(Sequence sequence, int tokens) {
    /** What this adds to the step, once the tokens are counted as computed. */
    double costMillis(StepCost cost) {
      int context = sequence.computedTokens - tokens;
      return context >= sequence.request.prompt().length
          ? cost.decodeMillis(context)
          : cost.prefillMillis(tokens, context);
    }
  }

  private int scheduleRunning(List<Work> plan) {
    int budget = config.stepTokens();
    for (int i = 0; i < running.size() && budget > 0; i++) {
      Sequence sequence = running.get(i);
      int tokens = Math.min(budget, sequence.pendingTokens());
      if (!allocateOrPreempt(sequence, tokens)) {
        break;
      }
      plan.add(new Work(sequence, tokens));
      budget -= tokens;
    }
    return budget;
  }

  private boolean allocateOrPreempt(Sequence sequence, int tokens) {
    while (!cache.allocate(
        sequence.cached,
        cache.noHit(),
        sequence.computedTokens,
        sequence.computedTokens + tokens)) {
      Sequence victim = running.remove(running.size() - 1);
      cache.release(victim.cached);
      victim.computedTokens = 0;
      waiting.addFirst(victim);
      preemptions++;
      if (victim == sequence) {
        return false;
      }
    }
    return true;
  }

  private void admit(List<Work> plan, int budgetTokens) {
    int budget = budgetTokens;
    while (budget > 0 && !waiting.isEmpty() && running.size() < config.runningSequences()) {
      Sequence sequence = waiting.element();
      KvCache.Hit hit = sequence.request.readsCache() ? cache.find(sequence.cached) : cache.noHit();
      if (sequence.request.reports()) {
        cache.report(sequence.cached, hit);
      }
      int tokens = Math.min(budget, sequence.cached.length() - hit.tokens());
      if (!cache.allocate(sequence.cached, hit, hit.tokens(), hit.tokens() + tokens)) {
        break;
      }
      running.add(waiting.remove());
      sequence.computedTokens = hit.tokens();
      count(sequence, hit);
      plan.add(new Work(sequence, tokens));
      budget -= tokens;
    }
  }

  private void count(Sequence sequence, KvCache.Hit hit) {
    if (sequence.cachedTokens != Sequence.NOT_SCHEDULED) {
      return;
    }
    sequence.cachedTokens = hit.tokens();
    if (sequence.request.readsCache()) {
      cacheQueriesTokens += sequence.cached.length();
      cacheHitsTokens += hit.tokens();
    }
  }
}
