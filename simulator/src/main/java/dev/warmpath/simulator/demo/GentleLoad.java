package dev.warmpath.simulator.demo;

import java.util.concurrent.TimeUnit;

/**
 * Few chats at a time, until the end, so that a console has something to show: the demo's load with
 * other words in each round.
 *
 * <p>Thread-safe.
 */
final class GentleLoad implements AutoCloseable {

  private static final int CLIENTS = 2;
  private static final long REST_SECONDS = 1;

  private final DemoPlan plan;
  private final ChatSender client;
  private final Thread thread;

  /** Begins at once. */
  GentleLoad(DemoPlan plan, ChatSender client) {
    this.plan = plan;
    this.client = client;
    thread = new Thread(this::run, "gentle-load");
    thread.setDaemon(true);
    thread.start();
  }

  @Override
  public void close() {
    thread.interrupt();
    try {
      thread.join();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private void run() {
    try {
      for (int round = 1; true; round++) {
        new LoadRun(plan.gentleLoad(round), this::send, CLIENTS, done -> {}).run();
      }
    } catch (InterruptedException e) {
      return; // closed
    }
  }

  /** Rests after a failure, as when all replicas were drained on the console. */
  private ChatReply send(String body) {
    ChatReply reply = client.send(body);
    if (reply.error() != null) {
      try {
        TimeUnit.SECONDS.sleep(REST_SECONDS);
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
      }
    }
    return reply;
  }
}
