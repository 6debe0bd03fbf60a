package dev.warmpath.router.logs;

import dev.warmpath.eventingest.EngineId;
import dev.warmpath.eventingest.capture.CaptureRecord.Request;
import dev.warmpath.eventingest.capture.CaptureRecord.Response;
import dev.warmpath.router.dispatch.Assignment;
import dev.warmpath.router.dispatch.DispatchListener;
import dev.warmpath.router.dispatch.PreparedRequest;
import dev.warmpath.router.fleet.Outcome;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Puts dispatched requests and what became of them into a capture's queue.
 *
 * <p>Thread-safe.
 */
final class RequestTap implements DispatchListener {

  /** A request under way; what the engine reported of it, null until then. */
  private static final class Pending {
    private final int stream;
    private final String requestId;
    private volatile @Nullable Long promptTokens;
    private volatile @Nullable Long cachedTokens;

    Pending(int stream, String requestId) {
      this.stream = stream;
      this.requestId = requestId;
    }

    Map<String, @Nullable Object> result(Outcome outcome) {
      Map<String, @Nullable Object> result = new LinkedHashMap<>();
      result.put("outcome", outcome.name().toLowerCase(Locale.ROOT));
      result.put("prompt_tokens", promptTokens);
      result.put("cached_tokens", outcome == Outcome.COMPLETED ? cachedTokens : null);
      return result;
    }
  }

  private final StreamNumbers numbers;
  private final TapQueue queue;
  private final QuietWatch quiet;
  private final LongSupplier nanoClock;
  private final AtomicLong requests = new AtomicLong();

  /** As many as there are requests under way. */
  private final Map<Assignment, Pending> pending = new ConcurrentHashMap<>();

  RequestTap(StreamNumbers numbers, TapQueue queue, QuietWatch quiet, LongSupplier nanoClock) {
    this.numbers = numbers;
    this.queue = queue;
    this.quiet = quiet;
    this.nanoClock = nanoClock;
  }

  @Override
  public void assigned(PreparedRequest request, Assignment assignment) {
    int stream = numbers.of(new EngineId(assignment.replica().name(), assignment.dpRank()));
    if (stream != StreamNumbers.NONE) {
      Pending begun = new Pending(stream, "r" + requests.incrementAndGet());
      pending.put(assignment, begun);
      quiet.began(stream);
      CapturedRequest body =
          new CapturedRequest(request, assignment.choice(), assignment.capsLoads());
      queue.offer(
          stream,
          RecordKind.REQUEST,
          body.bytes(),
          time -> new Request(time, stream, begun.requestId, body.fields()));
    }
  }

  @Override
  public void reported(Assignment assignment, int promptTokens, int cachedTokens) {
    Pending under = pending.get(assignment);
    if (under != null) {
      under.promptTokens = (long) promptTokens;
      under.cachedTokens = assignment.isUntold() ? null : (Long) (long) cachedTokens;
    }
  }

  @Override
  public void finished(Assignment assignment, Outcome outcome) {
    Pending over = pending.remove(assignment);
    if (over != null) {
      Map<String, @Nullable Object> result = over.result(outcome);
      queue.offer(
          over.stream,
          RecordKind.RESPONSE,
          0,
          time -> new Response(time, over.stream, over.requestId, result));
      quiet.ended(over.stream, nanoClock.getAsLong());
    }
  }
}
