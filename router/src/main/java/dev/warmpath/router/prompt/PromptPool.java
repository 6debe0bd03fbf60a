package dev.warmpath.router.prompt;

import dev.warmpath.router.config.RouterConfig.Tokenizing;
import dev.warmpath.router.prompt.ReadRequest.Unread;
import dev.warmpath.tokenizer.PromptResult;
import dev.warmpath.tokenizer.RequestKind;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The threads that read prompts, so that event loops do not. At most a configured number of prompts
 * wait for them; one more is answered without its prompt. Of those that are given up, one thread
 * still finds out the model, which takes no more than a look through the bytes.
 *
 * <p>Thread-safe.
 */
public final class PromptPool implements AutoCloseable {

  private static final Logger LOG = LoggerFactory.getLogger(PromptPool.class);

  /** A prompt that is being read; who has no more time for it gives it up. Thread-safe. */
  public final class Ticket {
    private final AtomicBoolean settled = new AtomicBoolean();
    private final byte[] body;
    private final Consumer<ReadRequest> done;
    private @Nullable Thread reading;

    private Ticket(byte[] body, Consumer<ReadRequest> done) {
      this.body = body;
      this.done = done;
    }

    /** Answers soon without the prompt, unless it was answered already. */
    public void giveUp(Unread why) {
      if (!settled.compareAndSet(false, true)) {
        return;
      }
      stop();
      try {
        models.execute(() -> done.accept(reader.readModel(body, why)));
      } catch (RejectedExecutionException e) {
        done.accept(ReadRequest.without(null, body, why));
      }
    }

    /** Wants no answer any more. */
    public void drop() {
      settled.set(true);
      stop();
    }

    /** The thread that reads has better things to do. */
    private synchronized void stop() {
      if (reading != null) {
        reading.interrupt();
      }
    }

    /** Whether the prompt is still wanted: from now on its thread may be interrupted. */
    private synchronized boolean begin() {
      reading = settled.get() ? null : Thread.currentThread();
      return reading != null;
    }

    /** From now on nobody interrupts the thread, and nothing is left of an interrupt. */
    private synchronized void end() {
      reading = null;
      boolean unused = Thread.interrupted();
    }

    private void read(RequestKind kind) {
      if (!begin()) {
        return;
      }
      ReadRequest result;
      try {
        result = attempt(kind);
      } finally {
        end();
      }
      if (settled.get()) {
        return;
      }
      watch.read(kind, body, result);
      CompletableFuture<@Nullable PromptResult> asked = remote.ask(kind, body, result);
      if (asked == null) {
        answer(result);
      } else {
        CompletableFuture<?> unused =
            asked.whenComplete(
                (found, failure) -> answer(found == null ? result : result.with(found)));
      }
    }

    private void answer(ReadRequest result) {
      if (settled.compareAndSet(false, true)) {
        done.accept(result);
      }
    }

    private ReadRequest attempt(RequestKind kind) {
      try {
        return reader.read(kind, body);
      } catch (CancellationException e) {
        return ReadRequest.without(null, body, Unread.DEADLINE);
      } catch (RuntimeException | VirtualMachineError e) {
        LOG.error("reading a prompt failed, bodyBytes={}", body.length, e);
        return reader.readModel(body, Unread.FAILURE);
      }
    }
  }

  private final PromptReader reader;
  private final BodyWatch watch;
  private final RemoteReader remote;
  private final ThreadPoolExecutor threads;
  private final ExecutorService models;
  private final int longestBytes;

  /**
   * A pool without prompts.
   *
   * @param watch sees all that is read
   * @param remote is asked for what cannot be read here
   */
  public PromptPool(
      PromptReader reader,
      BodyWatch watch,
      RemoteReader remote,
      Tokenizing bounds,
      ThreadFactory factory) {
    this.reader = reader;
    this.watch = watch;
    this.remote = remote;
    this.longestBytes = bounds.bodyBytes();
    this.models = Executors.newSingleThreadExecutor(factory);
    int count =
        bounds.threads() > 0 ? bounds.threads() : Runtime.getRuntime().availableProcessors();
    this.threads =
        new ThreadPoolExecutor(
            count, count, 0, TimeUnit.SECONDS, new ArrayBlockingQueue<>(bounds.queue()), factory);
  }

  /**
   * Reads the prompt in {@code body}; the answer is given at most once, on a thread of the pool,
   * and without the prompt if the body is too long or the queue is full.
   */
  public Ticket read(RequestKind kind, byte[] body, Consumer<ReadRequest> done) {
    Ticket ticket = new Ticket(body, done);
    if (body.length > longestBytes) {
      ticket.giveUp(Unread.TOO_LONG);
      return ticket;
    }
    try {
      threads.execute(() -> ticket.read(kind));
    } catch (RejectedExecutionException e) {
      ticket.giveUp(Unread.QUEUE_FULL);
    }
    return ticket;
  }

  /** Finds out the model of a body that makes an engine compute nothing. */
  public Ticket readModel(byte[] body, Consumer<ReadRequest> done) {
    Ticket ticket = new Ticket(body, done);
    try {
      threads.execute(() -> ticket.answer(ReadRequest.ofModel(reader.model(body))));
    } catch (RejectedExecutionException e) {
      ticket.giveUp(Unread.QUEUE_FULL);
    }
    return ticket;
  }

  /** Reads the prompt on the caller's thread, as {@code explain} does. */
  public ReadRequest readNow(RequestKind kind, byte[] body) {
    return reader.read(kind, body);
  }

  /** Prompts that wait for a thread. */
  public int waiting() {
    return threads.getQueue().size();
  }

  @Override
  public void close() {
    threads.shutdownNow();
    models.shutdownNow();
  }
}
