package dev.warmpath.router.dispatch;

import dev.warmpath.router.dispatch.DispatchResult.NoCandidate;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BiFunction;
import java.util.function.Consumer;
import java.util.function.IntSupplier;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Requests that wait because every replica that could take them is full. The lowest priority number
 * goes first. Among equal ones each share (one client's requests for one pool of replicas) has its
 * turn, and within a share the first that came. A pool that is full holds back no request of
 * another pool.
 *
 * <p>Thread-safe.
 */
final class WaitingRequests {

  private static final Logger LOG = LoggerFactory.getLogger(WaitingRequests.class);

  /** At so many of each pool that wait although there is room a drain looks. */
  private static final int MOST_HELD_TRIES = 8;

  /** What waits although there is room is not tried more often than that, unless a request ends. */
  private static final long HELD_REST_NANOS = TimeUnit.MILLISECONDS.toNanos(20);

  /** In so much time another router hears that there is a place, takes it, and that is heard. */
  private static final long OTHERS_TURN_NANOS = TimeUnit.MILLISECONDS.toNanos(25);

  /** A request that waits; it can be withdrawn. */
  final class Entry implements DispatchResult.Queued {
    private final PreparedRequest request;
    private final Consumer<DispatchResult> later;
    private final long sinceNanos;
    private boolean waiting = true;
    private boolean held;

    private Entry(
        PreparedRequest request, boolean held, Consumer<DispatchResult> later, long sinceNanos) {
      this.request = request;
      this.held = held;
      this.later = later;
      this.sinceNanos = sinceNanos;
    }

    boolean isWaitingForRoom() {
      synchronized (WaitingRequests.this) {
        return waiting && !held;
      }
    }

    PreparedRequest request() {
      return request;
    }

    /** When it came. */
    long sinceNanos() {
      return sinceNanos;
    }

    @Override
    public boolean withdraw() {
      synchronized (WaitingRequests.this) {
        boolean withdrawn = waiting && remove(this);
        waiting = false;
        return withdrawn;
      }
    }
  }

  /** Which replicas can take a request: those with its model, or those that alone can answer. */
  private record Pool(@Nullable String model, @Nullable Set<String> onlyReplicas, boolean held) {

    static Pool of(PreparedRequest request, boolean held) {
      return new Pool(request.model(), request.onlyReplicas(), held);
    }
  }

  /** Whose requests for which replicas. */
  private record Share(@Nullable String client, Pool pool) {

    static Share of(Entry entry) {
      return new Share(entry.request.client(), Pool.of(entry.request, entry.held));
    }
  }

  private final IntSupplier limit;
  private final BiFunction<Entry, Long, DispatchResult> assign;
  private final TreeMap<Integer, Map<Share, Deque<Entry>>> byPriority = new TreeMap<>();
  private final LongSupplier nanoClock;
  private boolean draining;
  private volatile int elsewhere;
  private volatile long longestElsewhereMillis;
  private volatile boolean deferred;
  private volatile long deferredNanos;
  private final AtomicInteger count = new AtomicInteger();
  private final AtomicInteger held = new AtomicInteger();
  private final Map<Pool, Long> heldTokens = new HashMap<>();
  private volatile long heldTriedNanos;

  /**
   * @param limit requests that may wait
   * @param assign tries to give a request to an engine
   */
  WaitingRequests(
      IntSupplier limit, BiFunction<Entry, Long, DispatchResult> assign, LongSupplier nanoClock) {
    this.limit = limit;
    this.assign = assign;
    this.nanoClock = nanoClock;
  }

  /** So many wait at other routers too, one of them for so long. */
  void elsewhere(int others, long longestMillis) {
    elsewhere = others;
    longestElsewhereMillis = longestMillis;
  }

  /** Whether one waits here or elsewhere. */
  boolean anybody() {
    return count.get() > 0 || elsewhere > 0;
  }

  /** How long one has waited for room at most; 0 if none does. */
  synchronized long longestMillis(long nowNanos) {
    long longest = 0;
    for (Map<Share, Deque<Entry>> shares : byPriority.values()) {
      for (Deque<Entry> share : shares.values()) {
        Entry first = share.element();
        longest = first.held ? longest : Math.max(longest, nowNanos - first.sinceNanos);
      }
    }
    return TimeUnit.NANOSECONDS.toMillis(longest);
  }

  /** How many wait. */
  int count() {
    return count.get();
  }

  int limit() {
    return limit.getAsInt();
  }

  /**
   * Lets a request wait.
   *
   * @param later gets what became of it, on any thread, unless it is withdrawn before
   * @return null if too many wait
   */
  @Nullable Entry add(PreparedRequest request, boolean held, Consumer<DispatchResult> later) {
    Entry entry = new Entry(request, held, later, nanoClock.getAsLong());
    synchronized (this) {
      if (count.get() + elsewhere >= limit()) {
        return null;
      }
      insert(entry);
    }
    return entry;
  }

  private void insert(Entry entry) {
    Deque<Entry> share =
        byPriority
            .computeIfAbsent(entry.request.priority(), priority -> new LinkedHashMap<>())
            .computeIfAbsent(Share.of(entry), key -> new ArrayDeque<>());
    Deque<Entry> younger = new ArrayDeque<>();
    while (!share.isEmpty() && share.getLast().sinceNanos > entry.sinceNanos) {
      younger.addFirst(share.removeLast());
    }
    share.add(entry);
    share.addAll(younger);
    count.incrementAndGet();
    if (entry.held) {
      held.incrementAndGet();
      heldTokens.merge(Share.of(entry).pool(), tokens(entry), Long::sum);
    }
  }

  private static long tokens(Entry entry) {
    return entry.request.promptTokens();
  }

  private long heldTokens(Entry entry) {
    long all = heldTokens(entry.request);
    return entry.held ? Math.max(0, all - tokens(entry)) : all;
  }

  /** Prompt tokens of those that wait for the same replicas although there is room. */
  synchronized long heldTokens(PreparedRequest request) {
    return heldTokens.getOrDefault(Pool.of(request, true), 0L);
  }

  private boolean remove(Entry entry) {
    Map<Share, Deque<Entry>> shares =
        Objects.requireNonNull(byPriority.get(entry.request.priority()));
    Deque<Entry> share = Objects.requireNonNull(shares.get(Share.of(entry)));
    boolean removed = share.remove(entry);
    count.addAndGet(removed ? -1 : 0);
    if (removed && entry.held) {
      held.decrementAndGet();
      long left = heldTokens.getOrDefault(Share.of(entry).pool(), 0L) - tokens(entry);
      if (left > 0) {
        heldTokens.put(Share.of(entry).pool(), left);
      } else {
        heldTokens.remove(Share.of(entry).pool());
      }
    }
    if (share.isEmpty()) {
      shares.remove(Share.of(entry));
    }
    if (shares.isEmpty()) {
      byPriority.remove(entry.request.priority());
    }
    return removed;
  }

  /**
   * There may be room: gives engines to as many as find one. If a request of another router waits
   * longer than all of these, that router is given the time to take the place first.
   */
  void drain() {
    if (count.get() == 0) {
      return;
    }
    long now = nanoClock.getAsLong();
    if (elsewhere > 0 && longestMillis(now) < longestElsewhereMillis) {
      deferredNanos = deferred ? deferredNanos : now;
      deferred = true;
    } else {
      drainNow();
    }
  }

  /** Whether another router is given the time to take a place first. */
  boolean isDeferred() {
    return deferred;
  }

  /** Time passes: the others may have had enough of it. */
  void drainDeferred() {
    if (deferred && nanoClock.getAsLong() - deferredNanos >= OTHERS_TURN_NANOS) {
      deferred = false;
      drainNow();
    }
  }

  /** A prompt is computed, or time has passed: what waits although there is room may go. */
  void drainHeld() {
    if (held.get() > 0 && nanoClock.getAsLong() - heldTriedNanos >= HELD_REST_NANOS) {
      drain();
    }
  }

  private void drainNow() {
    List<Runnable> answers = new ArrayList<>();
    synchronized (this) {
      if (draining) {
        return; // what it gives an engine to failed, and gave the place back: it goes on by itself
      }
      draining = true;
      heldTriedNanos = nanoClock.getAsLong();
      try {
        Set<Pool> fullPools = new HashSet<>();
        for (Map<Share, Deque<Entry>> shares : List.copyOf(byPriority.values())) {
          drain(shares, fullPools, answers);
        }
      } finally {
        draining = false;
      }
    }
    answers.forEach(WaitingRequests::run);
  }

  /**
   * Goes round the shares until each is empty or its pool is full. Of those that wait although
   * there is room, each client's first ones are tried.
   */
  private void drain(Map<Share, Deque<Entry>> shares, Set<Pool> fullPools, List<Runnable> answers) {
    Map<Pool, Integer> heldTries = new HashMap<>();
    Set<Entry> tried = new HashSet<>();
    boolean progress = true;
    while (progress) {
      progress = false;
      for (Share share : List.copyOf(shares.keySet())) {
        Entry next = fullPools.contains(share.pool()) ? null : next(shares.get(share), tried);
        if (next == null) {
          continue;
        }
        DispatchResult result = assigned(next);
        if (waits(result)) {
          boolean isHeld = isHeld(result);
          if (isHeld != next.held) {
            flag(next, isHeld);
          }
          if (!isHeld) {
            fullPools.add(share.pool());
          } else if (heldTries.merge(Pool.of(next.request, true), 1, Integer::sum)
              >= MOST_HELD_TRIES) {
            fullPools.add(share.pool());
            fullPools.add(Pool.of(next.request, true));
          }
          tried.add(next);
          progress = true;
          continue;
        }
        next.waiting = false;
        remove(next);
        moveBehind(shares, share);
        answers.add(() -> next.later.accept(result));
        progress = true;
      }
    }
  }

  private static @Nullable Entry next(@Nullable Deque<Entry> entries, Set<Entry> tried) {
    if (entries != null) {
      for (Entry entry : entries) {
        if (!tried.contains(entry)) {
          return entry;
        }
      }
    }
    return null;
  }

  private void flag(Entry entry, boolean isHeld) {
    remove(entry);
    entry.held = isHeld;
    insert(entry);
  }

  private DispatchResult assigned(Entry entry) {
    try {
      return assign.apply(entry, heldTokens(entry));
    } catch (RuntimeException | Error e) {
      LOG.error("a bug in choosing an engine for a request that waited", e);
      return new NoCandidate(DispatchResult.Cause.FAILURE);
    }
  }

  /** One that cannot be told leaves the others. */
  private static void run(Runnable answer) {
    try {
      answer.run();
    } catch (RuntimeException | Error e) {
      LOG.error("a request that waited was not told", e);
    }
  }

  /** The share had its turn. */
  private static void moveBehind(Map<Share, Deque<Entry>> shares, Share share) {
    Deque<Entry> rest = shares.remove(share);
    if (rest != null) {
      shares.put(share, rest);
    }
  }

  /** Whether a request with this result waits. */
  static boolean waits(DispatchResult result) {
    return isHeld(result)
        || (result instanceof NoCandidate none && none.cause() == DispatchResult.Cause.FULL);
  }

  /** Whether it waits although there is room. */
  static boolean isHeld(DispatchResult result) {
    return result instanceof NoCandidate none && none.cause() == DispatchResult.Cause.HELD;
  }

  /** How many wait although there is room. */
  int held() {
    return held.get();
  }

  /** Whether a request would overtake one that waits for the same replicas. */
  boolean precedes(PreparedRequest request) {
    if (count.get() == 0) {
      return false;
    }
    Pool pool = Pool.of(request, false);
    synchronized (this) {
      for (Map<Share, Deque<Entry>> shares :
          byPriority.headMap(request.priority(), true).values()) {
        if (shares.keySet().stream().anyMatch(share -> share.pool().equals(pool))) {
          return true;
        }
      }
      return false;
    }
  }
}
