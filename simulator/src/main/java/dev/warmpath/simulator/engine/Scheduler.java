package dev.warmpath.simulator.engine;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/**
 * Decides what the next step computes: running sequences first, then waiting ones in order of
 * arrival, within the token budget and the free blocks.
 *
 * <p>When a running sequence finds no block, the one admitted last gives all of its own back and
 * waits again, at the front. In such a step nobody new is admitted.
 *
 * <p>A waiting request that finds blocks in host memory gets room for them and leaves the steps
 * until they are loaded, behind all loads that began before; then it goes on before those that
 * wait. One that finds what is being loaded for another waits until that is there.
 *
 * <p>Single writer.
 */
final class Scheduler {

  private final EngineConfig config;
  private final KvCache cache;
  private final List<EngineRequest> running = new ArrayList<>();
  private final Deque<EngineRequest> waiting = new ArrayDeque<>();

  /** Loads under way, in the order of their ends; also those whose request was given up. */
  private final Deque<EngineRequest> loading = new ArrayDeque<>();

  /** Names of the blocks that are being loaded. */
  private final Set<Long> loadingNames = new HashSet<>();

  /** What has been loaded and not been scheduled since. */
  private final Deque<EngineRequest> loaded = new ArrayDeque<>();

  /** Waiting ones that wait for what is being loaded for others, while it is decided who runs. */
  private final List<EngineRequest> skipped = new ArrayList<>();

  private long pathFreeNanos = Long.MIN_VALUE;
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

  /**
   * Takes out a request that has ended. Its blocks stay its own, or if this returns false, those of
   * its load, which gives them back when it ends.
   */
  boolean remove(EngineRequest request) {
    boolean isTaken = running.remove(request) || waiting.remove(request) || loaded.remove(request);
    return isTaken || !loading.contains(request);
  }

  boolean isEmpty() {
    return running.isEmpty() && waiting.isEmpty() && !holdsForLoads();
  }

  private boolean holdsForLoads() {
    return !loading.isEmpty() || !loaded.isEmpty();
  }

  boolean isLoading() {
    return !loading.isEmpty();
  }

  /** When the next load ends. */
  long loadEndsNanos() {
    return loading.element().loadEndsNanos;
  }

  EngineGauges load() {
    return new EngineGauges(
        running.size(),
        waiting.size() + loading.size() + loaded.size(),
        cache.usage(),
        cacheQueriesTokens,
        cacheHitsTokens,
        hostHitsTokens,
        receivedTokens,
        preemptions);
  }

  /** Adds the work of the next step to {@code plan}, in order. */
  void next(List<EngineRequest> plan, long nowNanos) {
    endLoads(nowNanos);
    long preemptedBefore = preemptions;
    int budget = scheduleRunning(plan);
    if (preemptions == preemptedBefore) {
      admit(plan, budget, nowNanos);
    }
  }

  /**
   * How many steps from now on only decode and touch no block: nothing waits, no prompt is under
   * way, and no sequence fills a block, needs one, leaves one behind or ends.
   */
  int plainSteps() {
    boolean isWaitedFor = !waiting.isEmpty() || holdsForLoads();
    if (running.isEmpty() || isWaitedFor || running.size() > config.stepTokens()) {
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

  private void endLoads(long nowNanos) {
    while (isLoading() && loadEndsNanos() <= nowNanos) {
      EngineRequest request = loading.remove();
      for (int block = block(request.loadFromTokens);
          block < block(request.loadToTokens);
          block++) {
        loadingNames.remove(request.name(block));
      }
      if (request.phase == EngineRequest.Phase.ENDED) {
        cache.release(request);
        continue;
      }
      request.loadNanos += nowNanos - request.loadBeginsNanos;
      cache.loaded(request, request.loadToTokens);
      loaded.add(request);
    }
  }

  private void admit(List<EngineRequest> plan, int budgetTokens, long nowNanos) {
    int budget = budgetTokens;
    while (budget > 0 && running.size() < config.runningSequences()) {
      EngineRequest request = loaded.isEmpty() ? waiting.peek() : loaded.element();
      if (request == null) {
        break;
      }
      int computed;
      if (loaded.isEmpty()) {
        KvCache.Hit hit = find(request);
        if (hit.hostTokens() > 0) {
          if (isBeingLoaded(request, hit)) {
            skipped.add(waiting.remove());
          } else if (!beginLoad(request, hit, nowNanos)) {
            break;
          }
          continue;
        }
        computed = computedBefore(request, hit);
        if (!allocate(request, hit, computed, budget)) {
          break;
        }
        running.add(waiting.remove());
        count(request, hit);
      } else {
        computed = request.computedTokens;
        if (!allocate(request, cache.noHit(), computed, budget)) {
          break;
        }
        running.add(loaded.remove());
      }
      request.computedTokens = computed;
      int tokens = Math.min(budget, request.pendingTokens());
      plan(plan, request, tokens);
      budget -= tokens;
    }
    for (int i = skipped.size() - 1; i >= 0; i--) {
      waiting.addFirst(skipped.get(i));
    }
    skipped.clear();
  }

  private KvCache.Hit find(EngineRequest request) {
    return request.readsCache()
        ? cache.find(request, request.lengthTokens, request.mostLoadTokens())
        : cache.noHit();
  }

  /** Tokens of a request that need no prefill. */
  private static int computedBefore(EngineRequest request, KvCache.Hit hit) {
    int received = Math.min(request.receivedAtAdmission(), request.lengthTokens - 1);
    return Math.max(hit.tokens(), received);
  }

  private boolean allocate(EngineRequest request, KvCache.Hit hit, int computed, int budget) {
    int tokens = Math.min(budget, request.lengthTokens - computed);
    int before = loaded.isEmpty() ? hit.tokens() : computed;
    return cache.allocate(request, hit, before, computed + tokens);
  }

  private boolean isBeingLoaded(EngineRequest request, KvCache.Hit hit) {
    if (isLoading()) {
      for (int i = block(hit.tokens() - hit.hostTokens()); i < block(hit.tokens()); i++) {
        if (loadingNames.contains(request.name(i))) {
          return true;
        }
      }
    }
    return false;
  }

  /** Loads what host memory has for the first one that waits, if all of it is sure to find room. */
  private boolean beginLoad(EngineRequest request, KvCache.Hit hit, long nowNanos) {
    if (!cache.allocateLoad(request, hit, request.lengthTokens, reservedBlocks())) {
      return false;
    }
    request.loadToTokens = hit.tokens();
    request.loadFromTokens = hit.tokens() - hit.hostTokens();
    for (int block = block(request.loadFromTokens); block < block(request.loadToTokens); block++) {
      loadingNames.add(request.name(block));
    }
    request.computedTokens = computedBefore(request, hit);
    count(request, hit);
    pathFreeNanos = Math.max(pathFreeNanos, nowNanos) + config.loadPath().nanos(hit.hostTokens());
    request.loadBeginsNanos = nowNanos;
    request.loadEndsNanos = pathFreeNanos;
    loading.add(waiting.remove());
    return true;
  }

  /**
   * Blocks that others still need whose prompts are under way. Without them, requests that hold
   * what they have loaded could wait for each other's blocks for ever.
   */
  private int reservedBlocks() {
    int blocks = 0;
    for (EngineRequest request : running) {
      blocks +=
          request.pendingTokens() > 1 ? cache.lackingBlocks(request, request.lengthTokens) : 0;
    }
    for (EngineRequest request : loading) {
      blocks += cache.lackingBlocks(request, request.lengthTokens);
    }
    for (EngineRequest request : loaded) {
      blocks += cache.lackingBlocks(request, request.lengthTokens);
    }
    return blocks;
  }

  private int block(int tokens) {
    return tokens / config.cache().blockSizeTokens();
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
