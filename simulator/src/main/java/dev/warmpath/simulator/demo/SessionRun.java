package dev.warmpath.simulator.demo;

import dev.warmpath.simulator.demo.SessionLoad.Session;
import dev.warmpath.simulator.study.Distribution;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;

/**
 * Runs a load of sessions: open by sessions, one request after the other within each. A session
 * ends with its first error.
 *
 * <p>Thread-safe; runs once.
 */
public final class SessionRun {

  private static final int MOST_IN_FLIGHT = 1_000; // more wait, and are late

  private final SessionLoad load;
  private final ChatSender client;
  private final LongSupplier nanoClock;
  private final List<String> systemPrompts;
  private final List<ChatReply> replies = new ArrayList<>();
  private final List<Double> lateMillis = new ArrayList<>();

  public SessionRun(SessionLoad load, ChatSender client, LongSupplier nanoClock) {
    this.load = load;
    this.client = client;
    this.nanoClock = nanoClock;
    systemPrompts = load.systemPrompts();
  }

  /** Runs until the last session has ended, and reports. */
  public SessionReport run() throws InterruptedException {
    List<Session> sessions = load.sessions();
    int threads = Math.max(1, Math.min(sessions.size(), MOST_IN_FLIGHT));
    ScheduledThreadPoolExecutor clock = new ScheduledThreadPoolExecutor(threads, LoadRun::daemon);
    try {
      long begin = nanoClock.getAsLong();
      await(sessions.stream().map(session -> new Running(session, begin, clock).start()).toList());
    } finally {
      clock.shutdownNow();
    }
    return report();
  }

  private static void await(List<CompletableFuture<Void>> sessions) throws InterruptedException {
    try {
      CompletableFuture.allOf(sessions.toArray(CompletableFuture[]::new)).get();
    } catch (ExecutionException e) {
      throw new IllegalStateException("a session failed", e.getCause());
    }
  }

  private synchronized void done(ChatReply reply, double late) {
    replies.add(reply);
    lateMillis.add(late);
  }

  private synchronized SessionReport report() {
    double[] late = lateMillis.stream().mapToDouble(Double::doubleValue).toArray();
    return new SessionReport(LoadReport.of(replies), Distribution.of(late));
  }

  /** A session on its way. Confined to one thread at a time. */
  private final class Running {
    private final Session session;
    private final ScheduledThreadPoolExecutor clock;
    private final Chat chat;
    private final CompletableFuture<Void> over = new CompletableFuture<>();
    private long dueNanos;
    private int turn;

    Running(Session session, long begin, ScheduledThreadPoolExecutor clock) {
      this.session = session;
      this.clock = clock;
      chat = load.chat(session, systemPrompts);
      dueNanos = begin + (long) (session.atSeconds() * 1e9);
    }

    CompletableFuture<Void> start() {
      schedule();
      return over;
    }

    private void schedule() {
      var unused =
          clock.schedule(this::takeTurn, dueNanos - nanoClock.getAsLong(), TimeUnit.NANOSECONDS);
    }

    private void takeTurn() {
      try {
        String body = chat.nextTurn();
        double late = (nanoClock.getAsLong() - dueNanos) / 1e6;
        ChatReply reply = client.send(body);
        done(reply, late);
        answered(reply);
      } catch (RuntimeException e) {
        over.completeExceptionally(e);
      }
    }

    private void answered(ChatReply reply) {
      chat.answered(reply.text());
      turn++;
      if (reply.error() != null || chat.over()) {
        over.complete(null);
      } else {
        dueNanos = nanoClock.getAsLong() + (long) (session.thinkSeconds().get(turn) * 1e9);
        schedule();
      }
    }
  }

  /**
   * What a run of sessions gave.
   *
   * @param lateMillis from the instant at which a request was due until it was sent: how late the
   *     load itself was
   */
  public record SessionReport(LoadReport load, Distribution lateMillis) {}
}
