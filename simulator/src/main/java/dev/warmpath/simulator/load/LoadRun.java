package dev.warmpath.simulator.load;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.function.IntConsumer;
import org.jspecify.annotations.Nullable;

/**
 * Runs a load: several clients take turns for the chats that wait longest.
 *
 * <p>Thread-safe; runs once.
 */
public final class LoadRun {

  private final ChatLoad load;
  private final ChatSender client;
  private final int clients;
  private final IntConsumer progress;
  private final Deque<Chat> waiting = new ArrayDeque<>();
  private final List<ChatReply> replies = new ArrayList<>();
  private int begun;
  private int sent;

  /**
   * @param clients requests in flight at a time; fewer than the load's active chats
   * @param progress is told how many requests are done, on the clients' threads
   */
  public LoadRun(ChatLoad load, ChatSender client, int clients, IntConsumer progress) {
    if (clients < 1 || clients > load.activeChats()) {
      throw new IllegalArgumentException(
          "clients=" + clients + " activeChats=" + load.activeChats());
    }
    this.load = load;
    this.client = client;
    this.clients = clients;
    this.progress = progress;
    while (begun < load.activeChats()) {
      waiting.add(load.chat(begun++));
    }
  }

  /** Runs to the end and reports. */
  public LoadReport run() throws InterruptedException {
    ExecutorService threads = Executors.newFixedThreadPool(clients, LoadRun::daemon);
    try {
      for (int i = 0; i < clients; i++) {
        threads.execute(this::takeTurns);
      }
      threads.shutdown();
      threads.awaitTermination(Long.MAX_VALUE, TimeUnit.NANOSECONDS);
    } finally {
      threads.shutdownNow();
    }
    synchronized (this) {
      return LoadReport.of(replies);
    }
  }

  private void takeTurns() {
    Chat chat = next();
    while (chat != null) {
      ChatReply reply = client.send(chat.nextTurn());
      progress.accept(done(chat, reply));
      chat = next();
    }
  }

  private synchronized @Nullable Chat next() {
    if (sent == load.requests()) {
      return null;
    }
    sent++;
    return waiting.remove();
  }

  /** Puts the chat back to the end of the line, or a new one if it is over or broken. */
  private synchronized int done(Chat chat, ChatReply reply) {
    replies.add(reply);
    if (reply.error() == null) {
      chat.answered(reply.text());
    }
    boolean goesOn = reply.error() == null && !chat.over();
    waiting.add(goesOn ? chat : load.chat(begun++));
    return replies.size();
  }

  private static Thread daemon(Runnable work) {
    Thread thread = new Thread(work, "load-client");
    thread.setDaemon(true);
    return thread;
  }
}
