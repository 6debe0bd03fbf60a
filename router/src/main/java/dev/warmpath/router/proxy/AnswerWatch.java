package dev.warmpath.router.proxy;

import dev.warmpath.router.dispatch.Assignment;
import dev.warmpath.router.fleet.Outcome;
import dev.warmpath.router.logs.RequestTrace;
import org.jspecify.annotations.Nullable;

/**
 * What an engine's answer shows of its request, chunk by chunk: when its prompt was computed, how
 * its tokens follow each other, what it reports in the end.
 *
 * <p>Confined to its event loop.
 */
public final class AnswerWatch {

  private static final int UNAVAILABLE = 503;
  private static final long UNKNOWN = Long.MIN_VALUE;

  private final RoutedRequest request;
  private final Assignment assignment;
  private final boolean good;
  private final UsageScanner scanner;
  private long contentNanos = UNKNOWN;
  private int contentChunks;
  private boolean wasPaused;
  private boolean named;

  /**
   * @param contentType that of the answer, or "" if it has none
   */
  public AnswerWatch(RoutedRequest request, Assignment assignment, int status, String contentType) {
    this.request = request;
    this.assignment = assignment;
    this.good = status < 400;
    this.scanner = UsageScanner.of(contentType);
    request.timeline().answered(scanner);
  }

  /**
   * Looks at the next bytes, which are not kept.
   *
   * @return whether they brought the first content of a stream
   */
  public boolean feed(byte[] chunk, long nowNanos) {
    int before = scanner.contentEvents();
    boolean onlyComments = !scanner.begun();
    scanner.feed(chunk);
    if (!good) {
      return false;
    }
    if (onlyComments && scanner.begun()) {
      assignment.meters().recordFirstByte(request.elapsedNanos());
    }
    if (!named && scanner.id() != null) {
      named = true;
      request.keepResponseId(assignment, scanner.id());
    }
    if (scanner.contentEvents() == before) {
      return false;
    }
    boolean isFirst = before == 0;
    if (isFirst) {
      assignment.firstToken();
      request.timeline().firstToken();
      RequestTrace trace = request.trace();
      if (trace != null) {
        trace.firstToken();
      }
    } else if (contentNanos != UNKNOWN) {
      assignment.meters().recordTokenGap(nowNanos - contentNanos);
    }
    contentNanos = nowNanos;
    contentChunks++;
    return isFirst;
  }

  /** The client reads too slowly: the next content is late for its sake. */
  public void paused() {
    contentNanos = UNKNOWN;
    wasPaused = true;
  }

  UsageScanner scanner() {
    return scanner;
  }

  /**
   * The answer is over, and so is what the engine reported, unless that is an error.
   *
   * @param comparable whether the tokens that were cached are those of the assignment's engine
   */
  public void report(boolean comparable) {
    report(scanner.usage(), comparable);
  }

  /**
   * The same where the engine's report is not all there is to know.
   *
   * @param comparable whether the tokens that were cached are those of the assignment's engine
   */
  void report(Usage reported, boolean comparable) {
    if (!good) {
      return;
    }
    assignment
        .meters()
        .countTokens(
            request.model(),
            reported.promptTokens(),
            reported.cachedTokens(),
            reported.answerTokens());
    boolean isTold = reported.answerTokens() != Usage.ABSENT;
    assignment.served(
        request.model(),
        reported.cachedTokens(),
        isTold ? reported.answerTokens() : scanner.contentEvents());
    if (isTold && contentChunks > 0 && !wasPaused && !scanner.hasChoices()) {
      // A chunk may bring several tokens, the first one too, whose time is not seen.
      long decoded = (long) reported.answerTokens() * (contentChunks - 1) / contentChunks;
      assignment.streamed((int) decoded, contentNanos);
    }
    RequestTrace trace = request.trace();
    if (trace != null) {
      trace.usage(reported.promptTokens(), reported.cachedTokens(), reported.answerTokens());
    }
    if (reported.tellsCachedTokens() && comparable) {
      assignment.usage(reported.promptTokens(), reported.cachedTokens());
    }
  }

  /** An engine that says when it wants to be asked again is left alone until then. */
  public static void rest(@Nullable String retryAfter, Assignment assignment) {
    if (retryAfter != null
        && retryAfter.length() < 6
        && retryAfter.chars().allMatch(Character::isDigit)) {
      assignment.rest(Integer.parseInt(retryAfter));
    }
  }

  /** How a request ended that was answered whole with this status. */
  public static Outcome outcome(int status) {
    if (status < 400) {
      return Outcome.COMPLETED;
    }
    if (status == UNAVAILABLE) {
      return Outcome.UNAVAILABLE;
    }
    return status < 500 ? Outcome.REFUSED : Outcome.FAILED;
  }
}
