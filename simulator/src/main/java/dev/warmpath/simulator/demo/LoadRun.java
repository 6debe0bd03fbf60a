package dev.warmpath.simulator.demo;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.function.IntConsumer;
import org.jspecify.annotations.Nullable;

/**
 * Runs a load: several clients, who take the chats in a fixed order, round after round, whoever
 * answers first. So the same load gives the same requests in nearly the same order, whatever serves
 * it.
 *
 * <p>Thread-safe; runs once.
 */
public final class LoadRun {

  private final ChatLoad load;
  private final ChatSender client;
  private final int clients;
  private final IntConsumer progress;
  private final ChatSlot[] seats;
  private final List<ChatReply> replies = new ArrayList<>();
  private int sent;

  /** The place of one active chat; guarded by the run. */
  private static final class ChatSlot {
    private final int firstNumber;
    private int generation;
    private Chat chat;
    private boolean busy;

    ChatSlot(int firstNumber, Chat chat) {
      this.firstNumber = firstNumber;
      this.chat = chat;
    }
  }

  /**
   * @param clients requests in flight at a time; at most the load's active chats
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
    seats = new ChatSlot[load.activeChats()];
    Arrays.setAll(seats, number -> new ChatSlot(number, load.chat(number)));
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
    try {
      ChatSlot seat = next();
      while (seat != null) {
        ChatReply reply = client.send(seat.chat.nextTurn());
        progress.accept(done(seat, reply));
        seat = Thread.currentThread().isInterrupted() ? null : next();
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  /** The next chat in order, as soon as its last turn is over; null when all is sent. */
  private synchronized @Nullable ChatSlot next() throws InterruptedException {
    if (sent == load.requests()) {
      return null;
    }
    ChatSlot seat = seats[sent++ % seats.length];
    while (seat.busy) {
      wait();
    }
    seat.busy = true;
    return seat;
  }

  /** Notes the reply; a chat that is over or broken makes room for a new one. */
  private synchronized int done(ChatSlot seat, ChatReply reply) {
    replies.add(reply);
    if (reply.error() == null) {
      seat.chat.answered(reply.text());
    }
    if (reply.error() != null || seat.chat.over()) {
      seat.generation++;
      seat.chat = load.chat(seat.firstNumber + seat.generation * seats.length);
    }
    seat.busy = false;
    notifyAll();
    return replies.size();
  }

  /** A thread of a load. */
  static Thread daemon(Runnable work) {
    Thread thread = new Thread(work, "load-client");
    thread.setDaemon(true);
    return thread;
  }
}
