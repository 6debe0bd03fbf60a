package dev.warmpath.router.logs;

import dev.warmpath.router.dispatch.Choice;
import org.jspecify.annotations.Nullable;

/**
 * A request that is over: what the logs write and the console keeps.
 *
 * <p>Immutable.
 *
 * @param choice the last engine that was given the request, or null
 */
public record Decision(
    Request request, @Nullable Choice choice, Times times, Tokens tokens, Result result) {

  /** A number that is not known. */
  public static final int UNKNOWN = -1;

  /** So many characters of what a client wrote are logged, or told back. */
  private static final int SHOWN_CHARS = 200;

  private static final long OVERHEAD_BYTES = 600;

  /**
   * What the client asked for; of long texts the beginning.
   *
   * @param id its name in logs
   * @param path the route, or the path itself if there is no such route
   * @param client the name of its API key, or null
   * @param model the model it named, or null
   * @param session its session in clear, or null; the log holds a keyed hash
   */
  public record Request(
      String id,
      String method,
      String path,
      @Nullable String client,
      @Nullable String model,
      @Nullable String session) {

    public Request {
      method = shown(method);
      path = shown(path);
      model = model == null ? null : shown(model);
    }
  }

  /** As much of a client's own text as is logged, or told back. */
  public static String shown(String text) {
    return text.length() <= SHOWN_CHARS ? text : text.substring(0, SHOWN_CHARS - 1) + "…";
  }

  /** A request that the router answered at once. */
  public static Decision declined(Request request, int status, String code) {
    return new Decision(
        request,
        null,
        new Times(0, Double.NaN, Double.NaN, 0),
        Tokens.NONE,
        new Result("rejected", status, code, 0));
  }

  /**
   * Milliseconds since the request's head, NaN for what did not happen.
   *
   * @param waited time spent in the router's queue; 0 if it did not wait
   * @param dispatch when the last engine was given the request
   * @param firstToken when a stream brought its first content
   * @param total when the request was over
   */
  public record Times(double waited, double dispatch, double firstToken, double total) {}

  /**
   * Counts of tokens, or {@link #UNKNOWN}.
   *
   * @param prompt as the engine counts it, else as the router does
   * @param estimated how long the prompt may be, where its tokens are not known; 0 if it was not
   *     read
   * @param cached prompt tokens that the engine did not compute
   * @param answer as the engine counts it
   * @param answerEvents events of a stream that brought content
   */
  public record Tokens(int prompt, int estimated, int cached, int answer, int answerEvents) {

    /** Of a request whose body was not read. */
    public static final Tokens NONE = new Tokens(UNKNOWN, 0, UNKNOWN, UNKNOWN, 0);
  }

  /**
   * How it ended.
   *
   * @param outcome a word of the log
   * @param status HTTP status that the client was sent, 499 if it left before
   * @param code the router's own error, or null
   * @param attempts engines that were given the request
   */
  public record Result(String outcome, int status, @Nullable String code, int attempts) {}

  /** About as many bytes as it takes in memory. */
  public long bytes() {
    long chosen = choice == null ? 0 : choice.bytes();
    return OVERHEAD_BYTES + chosen + length(request.model) + length(request.session);
  }

  private static long length(@Nullable String text) {
    return text == null ? 0 : 2L * text.length();
  }
}
