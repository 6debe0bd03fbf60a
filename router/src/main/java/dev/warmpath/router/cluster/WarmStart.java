package dev.warmpath.router.cluster;

import dev.warmpath.router.cluster.SeedMessage.Refusal;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.function.BiConsumer;
import java.util.function.BooleanSupplier;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Gets a router that starts the snapshot of one that runs, or finds out that there is none to get.
 *
 * <p>{@link #tick} lets time pass, some ten times a second. It ends once, with an {@link Outcome}
 * that never changes again, in about {@code limitNanos} at most.
 *
 * <p>Thread-safe.
 */
public final class WarmStart {

  /*
   * The order is the proof. This router subscribes to the engines, and what they publish is held; then it asks, and the
   * neighbour writes its snapshot. So each engine's snapshot ends at or behind the first batch that is held, unless the
   * engine published nothing meanwhile or the neighbour is late; EngineStream finds that batch by its bytes. A snapshot
   * that ends before what is held is kept while other neighbours are tried and all are asked anew a few times; it is
   * taken if none is better, and the engine's replay may fill the gap.
   *
   *   LISTENING   until the subscriptions stand, and others are there or it is clear that none come
   *   ASKING      Wanted to all others, again and again, until all have answered or it has lasted long enough;
   *               the best offer is taken: most engines known exactly, then most blocks, then the longest life
   *   TAKING      Take to the best, which writes its snapshot; Taken says how large it is
   *   PULLING     a window of chunks; each is asked for again after a while, in any order
   *   JUDGING     how it fits what is held; whole and fitting, it is read into the index
   *   RESTING     all that were there have been tried; those that were busy or late may not be so any more
   *   ENDED
   *
   * What goes wrong with one neighbour leads to the next best one. Every state is bounded: by its own time, and all
   * together by the limit, after which only the reading of a snapshot that is here goes on.
   */

  /** How it ended. */
  public enum Outcome {
    /** Not yet. */
    WAITING,
    /** There is no neighbour that knows anything: the engines are learned as always. */
    NOBODY_HAS_STATE,
    /** A neighbour knows the engines, but its snapshot could not be got in time. */
    REFUSED,
    /** The index is a neighbour's. */
    SEEDED;

    /** The name in metrics, logs and pages. */
    public String label() {
      return name().toLowerCase(Locale.ROOT);
    }
  }

  /**
   * How a snapshot fits what was held.
   *
   * @param gaps engines whose held batches begin too late to prove that they go on where it ends
   * @param fittingBlocks named blocks of all other engines
   */
  public record Fit(int gaps, long fittingBlocks) {}

  /** What becomes of a snapshot. Called by one thread at a time. */
  public interface Graft {

    /** Engines whose batches are heard and held; 0 while those of some are not. */
    int listening();

    /** How it fits. */
    Fit judge(InputStream snapshot) throws IOException;

    /** Takes it over as a whole, or not at all. */
    void take(InputStream snapshot) throws IOException;

    /** Nothing more comes; what was not taken never will be. */
    void ended(Outcome outcome);
  }

  private enum State {
    LISTENING,
    ASKING,
    TAKING,
    PULLING,
    JUDGING,
    RESTING,
    ENDED
  }

  /** Chunks asked for, and not yet written, at a time. */
  static final int WINDOW = 4;

  /** Subscriptions are waited for no longer: an engine may be down. */
  static final long LISTEN_NANOS = TimeUnit.SECONDS.toNanos(5);

  /** A subscription takes effect soon after its connection is up; the fleet is known by then. */
  static final long SETTLE_NANOS = TimeUnit.MILLISECONDS.toNanos(300);

  /** A router that has met nobody by then is alone. */
  static final long ALONE_NANOS = TimeUnit.SECONDS.toNanos(3);

  /**
   * The same, if there may be others: a mesh that has just lost its first member lets nobody join
   * for some 5 s (until it is missed, two tries, a merge), as long as sentinels take to agree.
   */
  static final long EXPECTED_NANOS = TimeUnit.SECONDS.toNanos(8);

  /** Questions are repeated so often. */
  static final long REPEAT_NANOS = TimeUnit.MILLISECONDS.toNanos(400);

  /** Who has not answered by then is passed over. */
  static final long ANSWER_NANOS = TimeUnit.SECONDS.toNanos(2);

  /** A neighbour writes its snapshot in this time, or gives up. */
  static final long WRITE_NANOS = TimeUnit.SECONDS.toNanos(15);

  /** A neighbour that sends nothing for so long is left. */
  static final long STALL_NANOS = TimeUnit.SECONDS.toNanos(4);

  static final long REST_NANOS = TimeUnit.SECONDS.toNanos(1);

  /** Rounds after which a snapshot that does not fit everywhere is taken. */
  static final int ROUNDS = 3;

  private static final Comparator<SeedMessage.Offer> BETTER =
      Comparator.comparingInt(SeedMessage.Offer::exactEngines)
          .thenComparingLong(SeedMessage.Offer::blocks)
          .thenComparingLong(SeedMessage.Offer::ageMillis);

  private static final Logger LOG = LoggerFactory.getLogger(WarmStart.class);

  private final Graft graft;
  private final Path folder;
  private final long maxBytes;
  private final long limitNanos;
  private final Executor work;
  private final LongSupplier nanoClock;
  private final BiConsumer<RouterId, SeedMessage> send;
  private final long beganNanos;

  /** Since then all that could be reached is reached. */
  private long aloneNanos;

  private State state = State.LISTENING;
  private long stateNanos;
  private long repeatNanos;
  private long listeningNanos;
  private int listening;
  private Set<RouterId> others = Set.of();

  /** Counts questions to all, and snapshots that are asked for. */
  private long attempt;

  private final Map<RouterId, SeedMessage.Offer> offers = new HashMap<>();

  /** Those of this round that gave nothing that was taken, and why. */
  private final Map<RouterId, String> tried = new TreeMap<>();

  private final Set<RouterId> silent = new HashSet<>();

  /** Whether somebody knows the engines: then readiness waits. */
  private boolean someoneHasState;

  private @Nullable RouterId donor;
  private @Nullable SeedFile file;
  private long bytes;
  private int nextChunk;
  private int writtenChunks;

  /** A chunk that was asked for so often, the last time then, and whether it has come. */
  private record Asked(long atNanos, int times, boolean isHere) {

    /** A slow link is not asked faster than it brings. */
    boolean isOverdue(long nowNanos) {
      return !isHere && nowNanos - atNanos > REPEAT_NANOS << Math.min(times - 1, 3);
    }
  }

  /** By chunk. */
  private final Map<Integer, Asked> asked = new TreeMap<>();

  /** The best that does not fit everywhere. */
  private @Nullable SeedFile candidate;

  private @Nullable RouterId candidateOf;
  private long candidateBlocks;
  private int rounds;

  private volatile Outcome outcome = Outcome.WAITING;
  private volatile double seconds;
  private long receivedBytes;

  WarmStart(
      Graft graft,
      Path folder,
      long maxBytes,
      long limitNanos,
      Executor work,
      LongSupplier nanoClock,
      BiConsumer<RouterId, SeedMessage> send) {
    this.graft = graft;
    this.folder = folder;
    this.maxBytes = maxBytes;
    this.limitNanos = limitNanos;
    this.work = work;
    this.nanoClock = nanoClock;
    this.send = send;
    beganNanos = nanoClock.getAsLong();
    stateNanos = beganNanos;
    aloneNanos = beganNanos;
    repeatNanos = beganNanos;
  }

  /** How it ended, or that it has not yet. */
  public Outcome outcome() {
    return outcome;
  }

  /** Until the end, or until now. */
  double seconds() {
    return outcome == Outcome.WAITING ? nanosSince(beganNanos) / 1e9 : seconds;
  }

  /** Of chunks that were asked for. */
  synchronized long receivedBytes() {
    return receivedBytes;
  }

  // What others tell.

  synchronized void reachable(Set<RouterId> now) {
    others = Set.copyOf(now);
    if (donor != null && !others.contains(donor) && isExchanging()) {
      leave("it is gone");
    }
  }

  synchronized void received(RouterId from, SeedMessage message) {
    if (message.attempt() != attempt) {
      return;
    }
    if (message instanceof SeedMessage.Offer offer && state == State.ASKING) {
      offered(from, offer);
    } else if (!from.equals(donor)) {
      return; // of an earlier choice
    } else if (message instanceof SeedMessage.Taken taken && state == State.TAKING) {
      taken(taken);
    } else if (message instanceof SeedMessage.Chunk chunk && state == State.PULLING) {
      arrived(chunk);
    }
  }

  private void offered(RouterId from, SeedMessage.Offer offer) {
    offers.put(from, offer);
    someoneHasState |=
        offer.refusal() == Refusal.NONE
            || offer.refusal() == Refusal.BUSY
            || offer.refusal() == Refusal.FAILED;
    if (offers.keySet().containsAll(others)) {
      choose();
    }
  }

  /**
   * Lets time pass.
   *
   * @param mayMeet whether there may be others that cannot be reached yet
   */
  synchronized void tick(BooleanSupplier mayMeet) {
    if (state == State.ENDED || state == State.JUDGING) {
      return;
    }
    if (nanosSince(beganNanos) > limitNanos) {
      endByLimit();
      return;
    }
    switch (state) {
      case LISTENING -> listen(mayMeet);
      case ASKING -> {
        if (nanosSince(stateNanos) > ANSWER_NANOS) {
          choose();
        } else if (isRepeatDue()) {
          askAll();
        }
      }
      case TAKING -> {
        if (nanosSince(stateNanos) > WRITE_NANOS) {
          leave("it does not write its snapshot");
        } else if (isRepeatDue()) {
          tell(new SeedMessage.Take(attempt));
        }
      }
      case PULLING -> {
        if (nanosSince(stateNanos) > STALL_NANOS) {
          leave("it stalls at chunk " + writtenChunks + " of " + SeedMessage.chunks(bytes));
        } else {
          pullAgain();
        }
      }
      case RESTING -> {
        if (nanosSince(stateNanos) > REST_NANOS) {
          tried.clear();
          ask();
        }
      }
      default -> {}
    }
  }

  // Listening.

  private void listen(BooleanSupplier mayMeet) {
    int now = graft.listening();
    if (now != listening) {
      listening = now;
      listeningNanos = nanoClock.getAsLong();
    }
    boolean stands =
        nanosSince(beganNanos) >= LISTEN_NANOS
            || (listening > 0 && nanosSince(listeningNanos) >= SETTLE_NANOS);
    boolean expects = mayMeet.getAsBoolean();
    aloneNanos = expects ? nanoClock.getAsLong() : aloneNanos;
    boolean waited = nanosSince(beganNanos) > EXPECTED_NANOS;
    if (others.isEmpty() && (expects ? waited : nanosSince(aloneNanos) > ALONE_NANOS)) {
      end(Outcome.NOBODY_HAS_STATE);
    } else if (stands && !others.isEmpty()) {
      ask();
    }
  }

  // Asking.

  private void ask() {
    enter(State.ASKING);
    rounds++;
    attempt++;
    offers.clear();
    askAll();
  }

  private void askAll() {
    repeatNanos = nanoClock.getAsLong();
    for (RouterId other : others) {
      if (!offers.containsKey(other)) {
        send.accept(other, new SeedMessage.Wanted(attempt));
      }
    }
  }

  /** Takes the best of the offers, or what there is if no other is left. */
  private void choose() {
    silent.clear();
    others.stream().filter(other -> !offers.containsKey(other)).forEach(silent::add);
    RouterId best =
        offers.entrySet().stream()
            .filter(each ->
                each.getValue().refusal() == Refusal.NONE
                    && others.contains(each.getKey())
                    && !tried.containsKey(each.getKey()))
            .max(Map.Entry.comparingByValue(BETTER))
            .map(Map.Entry::getKey)
            .orElse(null);
    if (best != null) {
      donor = best;
      attempt++;
      enter(State.TAKING);
      tell(new SeedMessage.Take(attempt));
    } else if (candidate != null && rounds >= ROUNDS) {
      takeCandidate();
    } else if (candidate == null && !someoneHasState && silent.isEmpty()) {
      end(Outcome.NOBODY_HAS_STATE);
    } else {
      enter(State.RESTING);
    }
  }

  // Getting it.

  private void taken(SeedMessage.Taken taken) {
    if (taken.refusal() != Refusal.NONE) {
      leave(taken.refusal().name().toLowerCase(Locale.ROOT));
    } else if (taken.bytes() < 1 || taken.bytes() > maxBytes) {
      leave(taken.bytes() + " bytes, at most " + maxBytes);
    } else {
      try {
        file = SeedFile.open(folder);
        bytes = taken.bytes();
        nextChunk = 0;
        writtenChunks = 0;
        asked.clear();
        enter(State.PULLING);
        pull();
      } catch (IOException e) {
        leave("no file for it: " + e);
      }
    }
  }

  private void pull() {
    while (asked.size() < WINDOW && nextChunk < SeedMessage.chunks(bytes)) {
      asked.put(nextChunk, new Asked(nanoClock.getAsLong(), 1, false));
      tell(new SeedMessage.Pull(attempt, nextChunk++));
    }
  }

  private void pullAgain() {
    long now = nanoClock.getAsLong();
    asked.replaceAll((chunk, question) -> {
      if (!question.isOverdue(now)) {
        return question;
      }
      tell(new SeedMessage.Pull(attempt, chunk));
      return new Asked(now, question.times() + 1, false);
    });
  }

  private void arrived(SeedMessage.Chunk chunk) {
    Asked question = asked.get(chunk.chunk());
    SeedFile into = file;
    if (question == null
        || question.isHere()
        || into == null
        || chunk.bytes().length != SeedMessage.length(bytes, chunk.chunk())) {
      return;
    }
    asked.put(chunk.chunk(), new Asked(question.atNanos(), question.times(), true));
    stateNanos = nanoClock.getAsLong(); // it goes on
    receivedBytes += chunk.bytes().length;
    long of = attempt;
    run(() -> {
      try {
        into.write(chunk.chunk(), chunk.bytes());
        written(of, chunk.chunk());
      } catch (IOException e) {
        notWritten(of, e);
      }
    });
  }

  private synchronized void written(long of, int chunk) {
    if (of != attempt || state != State.PULLING) {
      return;
    }
    asked.remove(chunk);
    writtenChunks++;
    if (writtenChunks == SeedMessage.chunks(bytes)) {
      tell(new SeedMessage.End(attempt));
      judge();
    } else {
      pull();
    }
  }

  private synchronized void notWritten(long of, IOException thrown) {
    if (of == attempt && state == State.PULLING) {
      leave("its snapshot cannot be kept: " + thrown);
    }
  }

  // Judging and taking it.

  private void judge() {
    SeedFile whole = file;
    RouterId from = donor;
    if (whole == null || from == null) {
      throw new IllegalStateException("state=" + state + " without a snapshot");
    }
    file = null;
    enter(State.JUDGING);
    run(() -> {
      try {
        Fit fit = graft.judge(whole.input());
        if (fit.gaps() > 0) {
          keep(whole, from, fit);
        } else {
          take(whole, from);
        }
      } catch (IOException | RuntimeException | Error e) {
        whole.close();
        damaged(from, e);
      }
    });
  }

  private synchronized void keep(SeedFile whole, RouterId from, Fit fit) {
    if (candidate == null || fit.fittingBlocks() > candidateBlocks) {
      closeCandidate();
      candidate = whole;
      candidateOf = from;
      candidateBlocks = fit.fittingBlocks();
    } else {
      whole.close();
    }
    leave("its snapshot ends before the batches held of " + fit.gaps() + " engines");
  }

  private synchronized void takeCandidate() {
    SeedFile best = candidate;
    RouterId from = candidateOf;
    if (best == null || from == null) {
      return;
    }
    candidate = null;
    enter(State.JUDGING);
    run(() -> {
      try {
        take(best, from);
      } catch (IOException | RuntimeException | Error e) {
        best.close();
        damaged(from, e);
      }
    });
  }

  private void take(SeedFile whole, RouterId from) throws IOException {
    long size = whole.bytes();
    graft.take(whole.input());
    whole.close();
    synchronized (this) {
      LOG.info("seeded by router={}, {} bytes in {} s", from, size, nanosSince(beganNanos) / 1e9);
      end(Outcome.SEEDED);
    }
  }

  private synchronized void damaged(RouterId from, Throwable thrown) {
    donor = from;
    leave("its snapshot cannot be used: " + thrown.getMessage());
  }

  // From one neighbour to the next, and the end.

  /** Goes on without this neighbour. */
  private void leave(String why) {
    RouterId left = donor;
    if (left != null) {
      LOG.info("router={} does not seed this one: {}", left, why);
      if (isExchanging()) {
        tell(new SeedMessage.End(attempt));
      }
      tried.put(left, why);
    }
    donor = null;
    closeFile();
    attempt++;
    if (nanosSince(beganNanos) > limitNanos) {
      endByLimit();
    } else {
      choose();
    }
  }

  private boolean isExchanging() {
    return state == State.TAKING || state == State.PULLING;
  }

  private void endByLimit() {
    if (candidate != null) {
      takeCandidate();
    } else if (someoneHasState || !silent.isEmpty()) {
      end(Outcome.REFUSED);
    } else {
      end(Outcome.NOBODY_HAS_STATE);
    }
  }

  private void end(Outcome how) {
    seconds = nanosSince(beganNanos) / 1e9;
    closeFile();
    closeCandidate();
    enter(State.ENDED);
    if (how == Outcome.NOBODY_HAS_STATE) {
      LOG.info("no neighbour knows the engines: they are learned from their events");
    } else if (how == Outcome.REFUSED) {
      LOG.warn(
          "no neighbour's snapshot was got in {} s, the engines are learned from their events: {},"
              + " silent {}",
          seconds,
          tried,
          silent);
    }
    graft.ended(how);
    outcome = how;
  }

  /** Ends it if it has not ended. */
  synchronized void close() {
    if (state != State.ENDED && state != State.JUDGING) {
      end(Outcome.NOBODY_HAS_STATE);
    }
  }

  private void closeFile() {
    if (file != null) {
      file.close();
      file = null;
    }
  }

  private void closeCandidate() {
    if (candidate != null) {
      candidate.close();
      candidate = null;
    }
  }

  private void run(Runnable task) {
    try {
      work.execute(task);
    } catch (RejectedExecutionException e) {
      LOG.debug("the process ends");
    }
  }

  private void tell(SeedMessage message) {
    RouterId to = donor;
    if (to != null) {
      repeatNanos = nanoClock.getAsLong();
      send.accept(to, message);
    }
  }

  private void enter(State next) {
    state = next;
    stateNanos = nanoClock.getAsLong();
  }

  private boolean isRepeatDue() {
    return nanosSince(repeatNanos) > REPEAT_NANOS;
  }

  private long nanosSince(long then) {
    return nanoClock.getAsLong() - then;
  }
}
