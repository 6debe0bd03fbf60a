package dev.warmpath.router.prompt;

import dev.warmpath.router.config.MemoryBudget;
import dev.warmpath.router.config.RouterConfig.Tokenizing;
import dev.warmpath.router.dispatch.PreparedRequest;
import dev.warmpath.router.dispatch.Prompt;
import dev.warmpath.router.dispatch.RoutingHints;
import dev.warmpath.router.metrics.Metric;
import dev.warmpath.router.metrics.MetricValues;
import dev.warmpath.tokenizer.PromptResult;
import dev.warmpath.tokenizer.RequestKind;
import dev.warmpath.tokenizer.body.FallbackCause;
import dev.warmpath.tokenizer.encode.EncodeGuard;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Reads prompts: those that are known to be short on the event loop that asks, the others on
 * threads of its own, for which at most a configured number of prompts wait. A body whose prompt
 * finds no place, is too long or takes too long goes to one more thread, which looks through it
 * once for everything but the prompt; as many bodies wait for that. One more is answered null: not
 * even its model is known.
 *
 * <p>Thread-safe.
 */
public final class PromptPool implements AutoCloseable {

  private static final Logger LOG = LoggerFactory.getLogger(PromptPool.class);

  /**
   * A body that is being read; who has no more time for it gives it up. A ticket without use for
   * its place in a queue leaves it, and with it the body. Thread-safe.
   */
  public final class Ticket {
    private final byte[] body;
    private final @Nullable String contentType;
    private final RoutingHints hints;
    private final Consumer<@Nullable ReadRequest> done;
    private final AtomicBoolean promptWanted = new AtomicBoolean(true);
    private final AtomicBoolean settled = new AtomicBoolean();
    private @Nullable Thread reading;
    private @Nullable PromptWork begun;
    private volatile @Nullable Runnable queuedRead;
    private volatile @Nullable Runnable queuedScan;

    private Ticket(
        byte[] body,
        @Nullable String contentType,
        RoutingHints hints,
        Consumer<@Nullable ReadRequest> done) {
      this.body = body;
      this.contentType = contentType;
      this.hints = hints;
      this.done = done;
    }

    /**
     * Answers soon without the prompt, unless it was answered already.
     *
     * @return whether the prompt was still wanted
     */
    public boolean giveUp(FallbackCause cause) {
      if (!promptWanted.compareAndSet(true, false)) {
        return false;
      }
      stop();
      leaveThreads();
      scan(cause);
      return true;
    }

    /** Wants no answer any more. */
    public void drop() {
      settled.set(true);
      stop();
      leaveThreads();
      if (queuedScan != null) {
        scanner.remove(queuedScan);
      }
    }

    /** No thread begins it any more. */
    private void leaveThreads() {
      Runnable place = queuedRead;
      if (place != null && threads.remove(place) && begun != null) {
        begun.close();
      }
    }

    /** Reads it on the caller's event loop, and leaves to the pool what takes too long there. */
    private void readOn(LoopBudget loop, RequestKind kind) {
      PromptWork work = PromptWork.beginOnLoop(runningNanos, trees());
      boolean isOver = true;
      try {
        read(kind, work);
        readOnLoops.increment();
      } catch (EncodeGuard.TooMuchException e) {
        isOver = false;
      } finally {
        work.stop();
        loop.spend(work.nanos());
      }
      if (!isOver) {
        begun = work;
        handedOver.increment();
        queue(kind);
      }
    }

    private void queue(RequestKind kind) {
      Runnable place = () -> readInPool(kind);
      queuedRead = place;
      try {
        threads.execute(place);
      } catch (RejectedExecutionException e) {
        if (begun != null) {
          begun.close();
        }
        giveUp(FallbackCause.QUEUE_FULL);
      }
    }

    private void scan(@Nullable FallbackCause cause) {
      promptWanted.set(false);
      Runnable place =
          () -> {
            if (!settled.get()) {
              answer(withoutPrompt(cause));
            }
          };
      queuedScan = place;
      try {
        scanner.execute(place);
      } catch (RejectedExecutionException e) {
        answer(null);
      }
    }

    private @Nullable ReadRequest withoutPrompt(@Nullable FallbackCause cause) {
      try {
        return reader.readWithoutPrompt(body, contentType, hints, cause);
      } catch (RuntimeException | Error e) {
        LOG.error("reading a body failed, bodyBytes={}", body.length, e);
        return null;
      }
    }

    /** The thread that reads has better things to do. */
    private synchronized void stop() {
      if (reading != null) {
        reading.interrupt();
      }
    }

    /** Whether the prompt is still wanted: from now on its thread may be interrupted. */
    private synchronized boolean begin() {
      boolean wanted = promptWanted.get() && !settled.get();
      reading = wanted ? Thread.currentThread() : null;
      return wanted;
    }

    /** From now on nobody interrupts the thread, and nothing is left of an interrupt. */
    private synchronized void end() {
      reading = null;
      boolean unused = Thread.interrupted();
    }

    private void readInPool(RequestKind kind) {
      PromptWork earlier = begun;
      if (!begin()) {
        if (earlier != null) {
          earlier.close();
        }
        return;
      }
      PromptWork work = earlier == null ? PromptWork.begin(runningNanos, trees()) : earlier;
      if (earlier == null) {
        readInPool.increment();
      } else {
        work.goOn();
      }
      read(kind, work);
    }

    /**
     * Reads the prompt and answers with it.
     *
     * @throws EncodeGuard.TooMuchException where it would take too long; then it was not answered
     */
    private void read(RequestKind kind, PromptWork work) {
      boolean isOpen = false;
      try {
        ReadRequest result = attempt(kind, work);
        if (result != null && promptWanted.get() && !settled.get()) {
          isOpen = show(kind, result, work);
          if (!isOpen) {
            answerRead(result);
          }
          work.done();
        }
      } catch (EncodeGuard.TooMuchException e) {
        isOpen = true;
        throw e;
      } finally {
        if (!isOpen) {
          work.close();
        }
      }
    }

    /** Shows what was read to others; whether one of them answers, as {@link #askElsewhere}. */
    private boolean show(RequestKind kind, ReadRequest result, PromptWork work) {
      try {
        watch.read(kind, result.body(body), result);
        return askElsewhere(kind, result, work);
      } catch (RuntimeException e) {
        LOG.error("what was read was shown to others in vain, bodyBytes={}", body.length, e);
        return false;
      }
    }

    /** Whether somebody is asked for the prompt: the answer, and its tree's end, come then. */
    private boolean askElsewhere(RequestKind kind, ReadRequest result, PromptWork work) {
      CompletableFuture<@Nullable PromptResult> asked = remote.ask(kind, result.body(body), result);
      if (asked == null) {
        return false;
      }
      CompletableFuture<?> unused =
          asked.whenComplete((found, failure) -> {
            try (work) {
              answerRead(found == null ? result : result.with(found(result.request(), found)));
            }
          });
      return true;
    }

    private void answerRead(ReadRequest result) {
      if (promptWanted.compareAndSet(true, false)) {
        answer(result);
      }
    }

    private void answer(@Nullable ReadRequest result) {
      if (settled.compareAndSet(false, true)) {
        done.accept(result);
      }
    }

    /** Null if the prompt was given up meanwhile. */
    private @Nullable ReadRequest attempt(RequestKind kind, PromptWork work) {
      try {
        return reader.read(kind, body, hints, work);
      } catch (EncodeGuard.TooMuchException e) {
        throw e;
      } catch (CancellationException e) {
        giveUp(FallbackCause.DEADLINE);
      } catch (RuntimeException | VirtualMachineError e) {
        LOG.error("reading a prompt failed, bodyBytes={}", body.length, e);
        giveUp(FallbackCause.FAILURE);
      } finally {
        end();
      }
      return null;
    }
  }

  private final PromptReader reader;
  private final BodyWatch watch;
  private final RemoteReader remote;
  private final ThreadPoolExecutor threads;
  private final ThreadPoolExecutor scanner;
  private final int longestBytes;
  private final long deadlineMs;
  private final int waitingLimit;
  private final LongSupplier runningNanos;
  private final LongAdder readOnLoops = new LongAdder();
  private final LongAdder handedOver = new LongAdder();
  private final LongAdder readInPool = new LongAdder();

  /**
   * A pool without prompts.
   *
   * @param watch sees all that is read
   * @param remote is asked for what cannot be read here
   * @param runningNanos how long the calling thread has run so far, on a processor
   */
  public PromptPool(
      PromptReader reader,
      BodyWatch watch,
      RemoteReader remote,
      Tokenizing bounds,
      ThreadFactory factory,
      LongSupplier runningNanos) {
    this.reader = reader;
    this.watch = watch;
    this.remote = remote;
    this.longestBytes = bounds.bodyBytes();
    this.deadlineMs = bounds.deadlineMs();
    this.waitingLimit = bounds.queue();
    this.runningNanos = runningNanos;
    this.scanner = threads(1, bounds, factory);
    int count = bounds.threads() > 0 ? bounds.threads() : MemoryBudget.usualTokenizerThreads();
    this.threads = threads(count, bounds, factory);
  }

  private static ThreadPoolExecutor threads(int count, Tokenizing bounds, ThreadFactory factory) {
    return new ThreadPoolExecutor(
        count, count, 0, TimeUnit.SECONDS, new ArrayBlockingQueue<>(bounds.queue()), factory);
  }

  /**
   * Reads the prompt in {@code body}; the answer is given at most once, on any thread or before
   * this returns, and without the prompt if the body is too long or the queue is full.
   *
   * @param hints what the request's headers say
   * @param loop of the caller's event loop; null to read it on another thread whatever it takes
   */
  public Ticket read(
      RequestKind kind,
      byte[] body,
      RoutingHints hints,
      @Nullable LoopBudget loop,
      Consumer<@Nullable ReadRequest> done) {
    Ticket ticket = new Ticket(body, null, hints, done);
    if (body.length > longestBytes) {
      ticket.giveUp(FallbackCause.TOO_LONG);
    } else if (loop != null
        && body.length <= PromptWork.LOOP_BODY_BYTES
        && loop.has(PromptWork.LOOP_NANOS)) {
      ticket.readOn(loop, kind);
    } else {
      ticket.queue(kind);
    }
    return ticket;
  }

  /**
   * Reads a body that has no prompt, or none whose blocks matter.
   *
   * @param contentType the request's, or null: JSON
   */
  public Ticket readWithoutPrompt(
      byte[] body,
      @Nullable String contentType,
      RoutingHints hints,
      Consumer<@Nullable ReadRequest> done) {
    Ticket ticket = new Ticket(body, contentType, hints, done);
    ticket.scan(null);
    return ticket;
  }

  /**
   * Does what a body needs before it can be read, on the thread that reads those without a prompt.
   *
   * @return false if too many wait for that
   */
  public boolean execute(Runnable work) {
    try {
      scanner.execute(work);
      return true;
    } catch (RejectedExecutionException e) {
      return false;
    }
  }

  /** Does not do it if it was not begun. */
  public void withdraw(Runnable work) {
    scanner.remove(work);
  }

  /**
   * Reads the prompt on the caller's thread, and waits for an engine if one has to be asked, just
   * as a request would.
   */
  public PreparedRequest readNow(RequestKind kind, byte[] body, RoutingHints hints) {
    if (body.length > longestBytes) {
      return reader.readWithoutPrompt(body, null, hints, FallbackCause.TOO_LONG).request();
    }
    try (PromptWork work = PromptWork.begin(runningNanos, trees())) {
      ReadRequest result = reader.read(kind, body, hints, work);
      CompletableFuture<@Nullable PromptResult> asked = remote.ask(kind, result.body(body), result);
      PromptResult found =
          asked == null
              ? null
              : asked
                  .completeOnTimeout(null, deadlineMs, TimeUnit.MILLISECONDS)
                  .exceptionally(failure -> null)
                  .join();
      return found == null ? result.request() : found(result.request(), found);
    }
  }

  /** The engine that was asked knows no names of images. */
  private static PreparedRequest found(PreparedRequest request, PromptResult prompt) {
    return request.with(Prompt.of(prompt, request.prompt().hasUnreadImages()));
  }

  /** What a body says besides its prompt, on the caller's thread. */
  public PromptReader reader() {
    return reader;
  }

  /** What the bodies that are being read take. */
  public TreeRoom trees() {
    return reader.trees();
  }

  /** Prompts that wait for a thread. */
  public int waiting() {
    return threads.getQueue().size();
  }

  /** Bodies that wait to be read without their prompt. */
  public int scansWaiting() {
    return scanner.getQueue().size();
  }

  /** Prompts that event loops read. */
  long readOnLoops() {
    return readOnLoops.sum();
  }

  /** Prompts that the pool read. */
  long readInPool() {
    return readInPool.sum();
  }

  /** Prompts that event loops began, and left to the pool. */
  long handedOver() {
    return handedOver.sum();
  }

  /** Where prompts were read, and how many prompts and bodies wait, for a scrape. */
  public void collect(MetricValues to) {
    to.add(Metric.PROMPTS_READ_TOTAL, readOnLoops(), "event_loop");
    to.add(Metric.PROMPTS_READ_TOTAL, readInPool(), "pool");
    to.add(Metric.PROMPTS_READ_TOTAL, handedOver(), "handed_over");
    to.add(Metric.TOKENIZER_WAITING, waiting());
    to.add(Metric.TOKENIZER_QUEUE_LIMIT, waitingLimit);
    to.add(Metric.BODY_SCANS_WAITING, scansWaiting());
    to.add(Metric.PROMPT_MEMORY_BYTES, trees().bytes());
    to.add(Metric.PROMPT_MEMORY_MAX_BYTES, trees().limitBytes());
  }

  @Override
  public void close() {
    threads.shutdownNow();
    scanner.shutdownNow();
  }

  /**
   * Sees what was read before its request is dispatched. Called on the pool's threads and event
   * loops; implementations are fast and throw nothing.
   *
   * <p>Thread-safe.
   */
  @FunctionalInterface
  public interface BodyWatch {

    /** Ignores everything. */
    BodyWatch NONE = (kind, body, read) -> {};

    /** This was read from {@code body}, which is not to be changed. */
    void read(RequestKind kind, byte[] body, ReadRequest read);
  }

  /**
   * Finds out elsewhere what could not be read here. Called on the pool's threads and event loops;
   * does not block.
   *
   * <p>Thread-safe.
   */
  @FunctionalInterface
  public interface RemoteReader {

    /** Asks nobody. */
    RemoteReader NONE = (kind, body, local) -> null;

    /**
     * The prompt of {@code body}, of which {@code local} was read here; its tree may be used until
     * the future is completed.
     *
     * @return null where there is no need, or nobody to ask; else a prompt, or null in the end,
     *     soon
     */
    @Nullable CompletableFuture<@Nullable PromptResult> ask(
        RequestKind kind, byte[] body, ReadRequest local);
  }
}
