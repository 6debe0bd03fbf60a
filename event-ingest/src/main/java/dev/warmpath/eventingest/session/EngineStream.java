package dev.warmpath.eventingest.session;

import dev.warmpath.eventingest.EngineSource;
import dev.warmpath.eventingest.ReportedReuse;
import dev.warmpath.eventingest.Trust;
import dev.warmpath.eventingest.TrustState;
import dev.warmpath.eventingest.apply.EventApplier;
import dev.warmpath.eventingest.count.StreamCounter;
import dev.warmpath.eventingest.count.StreamCounters;
import dev.warmpath.eventingest.session.ReplayAsker.Progress;
import dev.warmpath.eventingest.snapshot.EngineFate;
import dev.warmpath.eventingest.snapshot.ResumeListener;
import dev.warmpath.eventingest.snapshot.StreamSnapshot;
import dev.warmpath.eventingest.wire.StreamMessage;
import java.time.Duration;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Keeps one engine's batches in order and complete, or else suspends what the engine held.
 *
 * <p>Sequence numbers begin at 0 with each lifetime of the engine's process. A jump is repaired by
 * a replay, which begins one batch early: that batch proves by its bytes that the process is still
 * the same. What no replay brings back is lost; then what the engine held is suspended, because
 * removals may have been among it, until what follows shows that it is still there; or forgotten,
 * if the process may be another one. {@link #trust} says what that leaves to believe.
 *
 * <p>Confined to the writer; {@link #trust}, {@link #lastSequence} and {@link #bufferedBatches} may
 * be read by any thread.
 */
public final class EngineStream {

  /*
   *            first batch is 0                    jump, reconnect, silence
   *   silent ───────────────────▶ live ◀──────────────────────────────────▶ replaying
   *     │  first batch is not 0                      end, or attempts used up: lost
   *     └──────────────────────────────────────────────────────────────────────▲
   *
   * I1  every batch below `next` in this lifetime was applied, or counted as lost and what was held suspended
   * I2  `cache` is complete only if nothing was lost since the engine held nothing
   * I3  nothing is credited that may be of another lifetime than what is heard next; it is suspended if
   *     the process's start is known, which will tell, and forgotten if not
   * I4  a batch that comes behind a later one is not applied, but counted, and what was held suspended
   * I5  while a replay repairs something no live batch is applied; they wait with `sequencer`
   */

  /** By then the engine's metrics have been read a few times. */
  private static final Duration START_WAIT = Duration.ofSeconds(60);

  private final EngineSource source;
  private final StreamSockets sockets;
  private final LongSupplier nanoClock;
  private final StreamCounters counters;
  private final ReplayAsker asker;
  private final Lifetime lifetime = new Lifetime();
  private final KnownCache cache;
  private final LiveBuffer buffer;
  private final Sequencer sequencer;
  private final ReuseJudge judge;
  private long connectedNanos;

  /**
   * @param nanoClock counts nanoseconds from anywhere, never back; {@link ReportedReuse} is by it
   */
  public EngineStream(
      EventApplier applier,
      StreamSockets sockets,
      StreamLimits limits,
      LongSupplier nanoClock,
      StreamCounters counters) {
    this.sockets = sockets;
    this.nanoClock = nanoClock;
    this.counters = counters;
    source = applier.source();
    asker = new ReplayAsker(sockets, limits, nanoClock, counters);
    cache = new KnownCache(applier, lifetime, sockets, nanoClock, counters);
    buffer = new LiveBuffer(limits);
    sequencer = new Sequencer(cache, lifetime, asker, buffer, counters);
    judge = new ReuseJudge(source.rules().remedy() == null, counters, nanoClock);
    connectedNanos = nanoClock.getAsLong();
  }

  /**
   * Goes on where a stream of another process left off, with what the index has kept; before the
   * first connection. Nothing is applied before a replay has shown that the engine's process is the
   * same; if it does not, all is forgotten.
   */
  public void resume(StreamSnapshot snapshot, ResumeListener listener) {
    lifetime.resume(snapshot, listener);
    cache.resume(snapshot.gap());
    updateTrust();
  }

  /** What another process needs to go on here, or null if there is nothing to go on from. */
  public @Nullable StreamSnapshot snapshot() {
    if (!lifetime.started() || sequencer.isClearing() || !lifetime.isShownByLast()) {
      return null;
    }
    long last = lifetime.lastSequence();
    return new StreamSnapshot(
        last, lifetime.digest(last), lifetime.start().seconds(), cache.gap(), cache.learned());
  }

  /** How far the engine is believed. */
  public TrustState trust() {
    return cache.trust();
  }

  /** The last batch applied in this lifetime, −1 before the first. */
  public long lastSequence() {
    return lifetime.lastSequence();
  }

  /** Live batches that wait for the end of a replay. */
  public int bufferedBatches() {
    return buffer.waiting();
  }

  /** The live connection is up, for the first time or again. */
  public void connected() {
    if (lifetime.started() && lifetime.continuity().isDecided()) {
      counters.add(StreamCounter.RECONNECTS);
    }
    cache.connected(true);
    connectedNanos = nanoClock.getAsLong();
    asker.connected();
    if (lifetime.started()) {
      lifetime.unheard();
      sequencer.replayOrLose(
          lifetime.continuity().isDecided() ? "reconnected" : "restored from a snapshot");
    } else {
      cache.forgetSuspended();
      lifetime.cleared();
      if (sequencer.mayAsk()) {
        sequencer.requestReplay("first contact");
      }
    }
    updateTrust();
  }

  /** The live connection is gone: what the engine does now is not heard. */
  public void disconnected() {
    cache.connected(false);
    lifetime.unheard();
    asker.disconnected();
    updateTrust();
  }

  /** One message of the live connection. */
  public void live(StreamMessage batch) {
    asker.heard();
    sequencer.live(batch);
    updateTrust();
  }

  /** Live messages were refused for lack of room; no later one may come to show the gap. */
  public void liveRefused() {
    sequencer.liveRefused();
    updateTrust();
  }

  /** One batch of the answer to a replay. */
  public void replayed(long replayId, StreamMessage batch) {
    Progress current = asker.current(replayId);
    if (current != null) {
      sequencer.replayed(current, batch);
      updateTrust();
    }
  }

  /**
   * A replay is over.
   *
   * @param whole whether the engine said so; else it fell silent or could not be asked
   */
  public void replayEnded(long replayId, boolean whole) {
    Progress current = asker.current(replayId);
    if (current != null) {
      sequencer.ended(current, whole);
      updateTrust();
    }
  }

  /** The engine's cache is known to be empty although its own event may come late. */
  public void cleared(String why) {
    cache.clear();
    if (lifetime.started()) {
      cache.complete();
    }
    sequencer.cleared();
    updateTrust();
  }

  /** The engine's process is known to be gone or new. */
  public void restarted(String why) {
    sequencer.newLifetime(why);
    if (cache.isConnected() && sequencer.mayAsk()) {
      sequencer.requestReplay(why);
    }
    updateTrust();
  }

  /**
   * The engine's process was seen to have started then, in seconds since 1970. If that is not when
   * the process did that what is held is of, all is forgotten. If it is, and no replay vouches for
   * what was restored, its names are kept.
   */
  public void runsSince(double startSeconds) {
    if (lifetime.start().isKnown() && lifetime.start().seconds() != startSeconds) {
      restarted("the process started at another time than the one that was known");
    }
    lifetime.runsSince(startSeconds);
    updateTrust();
  }

  /** Something speaks against what is believed of this lifetime. */
  public void suspend(String why) {
    if (lifetime.started()) {
      cache.eventsLost(why);
      updateTrust();
    }
  }

  /**
   * The router has failed at something of this engine's, perhaps half-way. All is forgotten and
   * asked for again: at once, but at most once a rest, since the same batch may fail again.
   *
   * @throws RuntimeException or an error if that fails too; then the index may be wrong
   */
  public void failed(String why) {
    sequencer.forget(why);
    cache.mayBeReplayed(sockets.canReplay());
    if (cache.isConnected() && sequencer.mayAsk()) {
      sequencer.requestReplay(why);
    }
    asker.rest();
    updateTrust();
  }

  /** The engine is not followed any more: nothing will show whether what was restored is true. */
  public void removed() {
    lifetime.decided(EngineFate.NOT_CONFIGURED, "it was removed");
  }

  /** Nobody will call this any more: nothing is believed from now on. */
  public void abandon(String why) {
    cache.abandon(why);
  }

  /** The engine answered how much of a prompt it reused. */
  public void reused(ReportedReuse reuse) {
    judge.answered(reuse);
    if (!reuse.isShort()) {
      cache.reused(reuse.prompt(), reuse.cachedTokens(), reuse.dispatchedNanos());
    }
  }

  /**
   * Lets time pass: the replay socket is asked after a silence whether something was missed, and
   * after a rest for what it did not answer.
   */
  public void tick() {
    if (asker.checkDue() || (cache.mayBeReplayed() && asker.retryDue())) {
      check("silence");
    }
    if (lifetime.continuity().awaitsStart()
        && nanoClock.getAsLong() - connectedNanos > START_WAIT.toNanos()) {
      lifetime.decided(EngineFate.NO_ANSWER, "nobody says when the process started");
      cache.forgetSuspended();
      updateTrust();
    }
    if (judge.isOverPredicted(trust().trust() == Trust.EXACT)) {
      overPredicted();
    }
  }

  private void overPredicted() {
    String remedy = source.rules().remedy();
    suspend(
        "the engine keeps reusing less than the index shows"
            + (remedy == null ? "" : ": " + remedy));
  }

  /**
   * The engine is well again after it was not. Its socket shows most restarts; where another
   * process may stand behind the same connection, the last batch asked for again does.
   */
  public void recovered() {
    check("its health came back");
  }

  private void check(String why) {
    if (cache.isConnected() && !sequencer.isRunning() && sequencer.mayAsk()) {
      sequencer.check(why);
      updateTrust();
    }
  }

  private void updateTrust() {
    judge.applied();
    cache.updateTrust(sequencer.repairing());
  }
}
