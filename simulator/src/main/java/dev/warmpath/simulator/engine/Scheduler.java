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
  private final List<EngineRequest> running = new ArrayList<>();
  private final Deque<EngineRequest> waiting = new ArrayDeque<>();
  private long cacheQueriesTokens;
  private long cacheHitsTokens;
  private long hostHitsTokens;
  private long receivedTokens;
  private long preemptions;

  Scheduler(EngineConfig config, KvCache cache) {
    this.config = config;
    this.cache = cache;
  }

  void add(EngineRequest request) {
    waiting.add(request);
  }

  /** Takes out a request that has ended; its blocks stay its own. */
  void remove(EngineRequest request) {
    if (!running.remove(request)) {
      waiting.remove(request);
    }
  }

  boolean isEmpty() {
    return running.isEmpty() && waiting.isEmpty();
  }

  EngineLoad load() {
    return new EngineLoad(
        running.size(),
        waiting.size(),
        cache.usage(),
        cacheQueriesTokens,
        cacheHitsTokens,
        hostHitsTokens,
        receivedTokens,
        preemptions);
  }

  /** Adds the work of the next step to {@code plan}, in order. */
  void next(List<EngineRequest> plan) {
    long preemptedBefore = preemptions;
    int budget = scheduleRunning(plan);
    if (preemptions == preemptedBefore) {
      admit(plan, budget);
    }
  }

  /**
   * How many steps from now on only decode and touch no block: nothing waits, no prompt is under
   * way, and no sequence fills a block, needs one, leaves one behind or ends.
   */
  int plainSteps() {
    if (running.isEmpty() || !waiting.isEmpty() || running.size() > config.stepTokens()) {
      return 0;
    }
    int steps = Integer.MAX_VALUE;
    for (int i = 0; i < running.size() && steps > 0; i++) {
      steps = Math.min(steps, plainSteps(running.get(i)));
    }
    return steps;
  }

  private int plainSteps(EngineRequest request) {
    if (request.pendingTokens() != 1 || request.computedTokens < request.promptTokens()) {
      return 0;
    }
    int untilLast = request.answerTokens() - request.generatedTokens() - 1;
    return Math.min(untilLast, request.untouchedUntilTokens - request.computedTokens);
  }

  /** Adds one decode of every running sequence. */
  void addDecodes(StepWork work) {
    for (int i = 0; i < running.size(); i++) {
      work.decode(1, running.get(i).computedTokens);
    }
  }

  void passPlain(int steps) {
    for (int i = 0; i < running.size(); i++) {
      EngineRequest request = running.get(i);
      request.computedTokens += steps;
      request.lengthTokens += steps;
    }
  }

  private int scheduleRunning(List<EngineRequest> plan) {
    int budget = config.stepTokens();
    for (int i = 0; i < running.size() && budget > 0; i++) {
      EngineRequest request = running.get(i);
      int tokens = Math.min(budget, request.pendingTokens());
      boolean untouched = tokens == 1 && request.computedTokens < request.untouchedUntilTokens;
      if (!untouched && !allocateOrPreempt(request, tokens)) {
        break;
      }
      plan(plan, request, tokens);
      budget -= tokens;
    }
    return budget;
  }

  private void plan(List<EngineRequest> plan, EngineRequest request, int tokens) {
    int computed = request.computedTokens + tokens;
    if (computed > request.untouchedUntilTokens) {
      request.untouchedUntilTokens = computed + cache.untouchedTokens(request, computed);
    }
    request.stepTokens = tokens;
    plan.add(request);
  }

  private boolean allocateOrPreempt(EngineRequest request, int tokens) {
    while (!cache.allocate(
        request, cache.noHit(), request.computedTokens, request.computedTokens + tokens)) {
      EngineRequest victim = running.remove(running.size() - 1);
      cache.release(victim);
      victim.computedTokens = 0;
      victim.untouchedUntilTokens = 0;
      waiting.addFirst(victim);
      preemptions++;
      if (victim.equals(request)) {
        return false;
      }
    }
    return true;
  }

  private void admit(List<EngineRequest> plan, int budgetTokens) {
    int budget = budgetTokens;
    while (budget > 0 && !waiting.isEmpty() && running.size() < config.runningSequences()) {
      EngineRequest request = waiting.element();
      KvCache.Hit hit =
          request.readsCache() ? cache.find(request, request.lengthTokens) : cache.noHit();
      int received = Math.min(request.receivedAtAdmission(), request.lengthTokens - 1);
      int computed = Math.max(hit.tokens(), received);
      int tokens = Math.min(budget, request.lengthTokens - computed);
      if (!cache.allocate(request, hit, hit.tokens(), computed + tokens)) {
        break;
      }
      running.add(waiting.remove());
      request.computedTokens = computed;
      request.loadTokens = hit.hostTokens();
      count(request, hit);
      plan(plan, request, tokens);
      budget -= tokens;
    }
  }

  private void count(EngineRequest request, KvCache.Hit hit) {
    if (!request.firstScheduled(hit)) {
      return;
    }
    receivedTokens += request.receivedTokens();
    if (request.readsCache()) {
      cacheQueriesTokens += request.lengthTokens;
      cacheHitsTokens += hit.tokens() - hit.hostTokens();
      hostHitsTokens += hit.hostTokens();
    }
  }
}
