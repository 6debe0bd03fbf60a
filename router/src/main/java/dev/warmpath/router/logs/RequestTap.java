package dev.warmpath.router.logs;

import dev.warmpath.eventingest.EngineId;
import dev.warmpath.eventingest.capture.CaptureRecord.Request;
import dev.warmpath.eventingest.capture.CaptureRecord.Response;
import dev.warmpath.router.dispatch.Assignment;
import dev.warmpath.router.dispatch.Choice;
import dev.warmpath.router.dispatch.DispatchListener;
import dev.warmpath.router.dispatch.Prediction;
import dev.warmpath.router.dispatch.PreparedRequest;
import dev.warmpath.router.fleet.Outcome;
import dev.warmpath.router.logs.RequestTap.TokenList;
import dev.warmpath.router.logs.TapQueue.RecordKind;
import dev.warmpath.tokenizer.PromptResult;
import dev.warmpath.tokenizer.body.FallbackCause;
import java.util.AbstractList;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
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

  /**
   * Token ids as a record's body has them, without a box for each.
   *
   * <p>Immutable, as long as nobody writes to the array.
   */
  static final class TokenList extends AbstractList<Long> {

    private final int[] ids;

    TokenList(int[] ids) {
      this.ids = ids;
    }

    @Override
    public Long get(int index) {
      return (long) ids[index];
    }

    @Override
    public int size() {
      return ids.length;
    }
  }

  /**
   * What a capture says of a dispatched request: its token ids where one sequence of them is known,
   * and what the router thought of it.
   *
   * <p>Immutable.
   */
  private record CapturedRequest(PreparedRequest request, Choice choice, boolean capsLoads) {

    /** About as much as the record takes. */
    long bytes() {
      return request.prompt().result() instanceof PromptResult.Tokens tokens
          ? (long) Integer.BYTES * tokens.totalTokens()
          : 0;
    }

    Map<String, @Nullable Object> fields() {
      Map<String, @Nullable Object> fields = new LinkedHashMap<>();
      fields.put("model", request.model());
      if (!(request.prompt().result() instanceof PromptResult.Tokens tokens)) {
        fields.put("unread", fallback().label());
      } else if (tokens.hasImages()) {
        fields.put("unread", FallbackCause.MULTIMODAL.label()); // ids alone do not tell its blocks
      } else if (tokens.comparable()) {
        prompt(tokens, fields);
      } else {
        fields.put("unread", "not_comparable");
      }
      fields.put("policy", choice.policy());
      fields.put("reason", choice.reason());
      Prediction prediction = choice.prediction();
      boolean predicted = prediction.predicts();
      fields.put("predicted_cached_tokens", predicted ? (long) prediction.cachedTokens() : null);
      fields.put("prediction_basis", prediction.basis().label());
      return fields;
    }

    private void prompt(PromptResult.Tokens tokens, Map<String, @Nullable Object> fields) {
      fields.put("token_ids", new TokenList(tokens.sequences().get(0)));
      if (tokens.keys().loraName() != null) {
        fields.put("lora_name", tokens.keys().loraName());
      }
      if (tokens.keys().cacheSalt() != null) {
        fields.put("cache_salt", tokens.keys().cacheSalt());
      }
      if (tokens.extraKey() != null) {
        fields.put("extra_key", tokens.extraKey());
      }
      if (!tokens.readsCache()) {
        fields.put("reads_cache", false);
      }
      if (choice.pulled() != null) {
        fields.put("pulled_tokens", (long) choice.pulled().tokens());
      }
      if (capsLoads) {
        fields.put("reads_slow_tiers", false);
      }
    }

    private FallbackCause fallback() {
      return Objects.requireNonNullElse(request.prompt().fallback(), FallbackCause.NO_PROMPT);
    }
  }
}
