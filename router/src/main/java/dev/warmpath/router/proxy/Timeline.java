package dev.warmpath.router.proxy;

import dev.warmpath.router.dispatch.Assignment;
import dev.warmpath.router.dispatch.Choice;
import dev.warmpath.router.dispatch.PreparedRequest;
import dev.warmpath.router.logs.Decision;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * When an exchange waited, was given to an engine and brought its first token, for the decision
 * log.
 *
 * <p>Confined to its event loop.
 */
final class Timeline {

  private static final long NEVER = -1;
  private static final double NANOS_PER_MILLI = 1e6;

  private final LongSupplier elapsedNanos;

  /** When each step was, in nanoseconds since the request's head. */
  private long bodyNanos;

  private long queuedNanos = NEVER;
  private long waitNanos;
  private long dispatchNanos = NEVER;
  private long firstTokenNanos = NEVER;
  private int attempts;
  private @Nullable Choice choice;
  private @Nullable UsageScanner answer;
  private @Nullable String code;

  /**
   * @param elapsedNanos time since the request's head
   */
  Timeline(LongSupplier elapsedNanos) {
    this.elapsedNanos = elapsedNanos;
  }

  /** Its body has come. */
  void bodyEnded() {
    bodyNanos = elapsedNanos.getAsLong();
  }

  /** The router's own time: since the body came, without the wait in the queue. */
  long routingNanos() {
    return elapsedNanos.getAsLong() - bodyNanos - waitNanos;
  }

  /** It waits in the queue, since then. */
  void queued(long sinceHeadNanos) {
    queuedNanos = sinceHeadNanos;
  }

  /** It waits no more; without effect if it did not. */
  void leaveQueue() {
    if (queuedNanos != NEVER) {
      waitNanos = elapsedNanos.getAsLong() - queuedNanos;
      queuedNanos = NEVER;
    }
  }

  /** An engine is sent the request. */
  void dispatched(Assignment to) {
    attempts++;
    choice = to.choice();
    answer = null;
    dispatchNanos = elapsedNanos.getAsLong();
  }

  /** The engine's good answer is looked through by {@code scanner}. */
  void answered(UsageScanner scanner) {
    answer = scanner;
  }

  /** A stream brought content; only the first time counts. */
  void firstToken() {
    if (firstTokenNanos == NEVER) {
      firstTokenNanos = elapsedNanos.getAsLong();
    }
  }

  /** The router answers with an error of its own. */
  void rejected(String errorCode) {
    code = errorCode;
  }

  /** What the last engine said; without a count of the answer, as many as its events. */
  Usage usage() {
    UsageScanner scanner = answer;
    if (scanner == null) {
      return Usage.NONE;
    }
    Usage said = scanner.usage();
    int answered =
        said.answerTokens() == Usage.ABSENT ? scanner.contentEvents() : said.answerTokens();
    return new Usage(said.promptTokens(), said.cachedTokens(), answered);
  }

  /** How many engines were sent the request. */
  int attempts() {
    return attempts;
  }

  /**
   * The record of the exchange, which is over now.
   *
   * @param prepared null if its body was not read
   */
  Decision decision(
      Decision.Request request,
      @Nullable PreparedRequest prepared,
      int status,
      ResponseEnd ending) {
    leaveQueue();
    return new Decision(
        request,
        choice,
        times(),
        tokens(prepared, status),
        new Decision.Result(outcome(status, ending), status, code, attempts));
  }

  private Decision.Times times() {
    return new Decision.Times(
        millis(waitNanos),
        millis(dispatchNanos),
        millis(firstTokenNanos),
        millis(elapsedNanos.getAsLong()));
  }

  private Decision.Tokens tokens(@Nullable PreparedRequest prepared, int status) {
    if (prepared == null) {
      return Decision.Tokens.NONE;
    }
    int counted = prepared.prompt().lengthTokens();
    int estimated = prepared.estimatedTokens();
    UsageScanner good = status < 400 ? answer : null;
    if (good == null) {
      return new Decision.Tokens(counted, estimated, Decision.UNKNOWN, Decision.UNKNOWN, 0);
    }
    Usage usage = good.usage();
    return new Decision.Tokens(
        usage.promptTokens() == Usage.ABSENT ? counted : usage.promptTokens(),
        estimated,
        usage.cachedTokens(),
        usage.answerTokens(),
        good.contentEvents());
  }

  /** The word for it. */
  String outcome(int status, ResponseEnd ending) {
    if (code != null) {
      return "rejected";
    }
    if (ending != ResponseEnd.COMPLETE) {
      return ending.label();
    }
    return status < 400 ? "completed" : "error";
  }

  private static double millis(long nanos) {
    return nanos == NEVER ? Double.NaN : nanos / NANOS_PER_MILLI;
  }
}
