package dev.warmpath.simulator.trace;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.BufferedReader;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A record of a router's decision log.
 *
 * @param arrivedMillis since 1970
 * @param model null if the client named none
 * @param session keyed hash, null if there is none
 * @param engine null if none was given the request
 * @param outcome how it ended, such as {@link #COMPLETED}
 * @param blocks null if the prompt's tokens were not known
 */
public record LoggedRequest(
    long arrivedMillis,
    @Nullable String model,
    @Nullable String session,
    @Nullable String engine,
    String outcome,
    Tokens tokens,
    Times times,
    @Nullable Blocks blocks) {

  /** The {@link #outcome} of a request that was answered to its end. */
  public static final String COMPLETED = "completed";

  /** A count of tokens that is not known. */
  public static final int UNKNOWN = -1;

  private static final String FORMAT = "warmpath-decisions";
  private static final int VERSION = 1;

  /**
   * Counts, or {@link #UNKNOWN}.
   *
   * @param cached prompt tokens that the engine reported as cached, else those predicted
   * @param answer as the engine reported, else the events of the stream
   */
  public record Tokens(int prompt, int cached, int answer) {}

  /**
   * Milliseconds since the arrival; NaN if it did not happen.
   *
   * @param dispatch when the last engine was sent the request
   * @param firstToken of a stream
   * @param total until the end
   */
  public record Times(double dispatch, double firstToken, double total) {}

  /**
   * The prompt's pieces of {@value DecisionLines#BLOCK_TOKENS} tokens.
   *
   * @param keep leading numbers that are those of the session's record before
   * @param others the other numbers
   */
  public record Blocks(int keep, List<Integer> others) {
    public Blocks {
      others = List.copyOf(others);
    }
  }

  /**
   * All records of a log.
   *
   * @throws TraceException if a line is not one of a decision log
   */
  public static List<LoggedRequest> readAll(Path file) throws IOException, TraceException {
    List<LoggedRequest> requests = new ArrayList<>();
    try (BufferedReader reader = TraceFile.open(file)) {
      int number = 0;
      for (String line = reader.readLine(); line != null; line = reader.readLine()) {
        number++;
        try {
          LoggedRequest request = parse(line);
          if (request != null) {
            requests.add(request);
          }
        } catch (IllegalArgumentException e) {
          throw new TraceException(file + ": line " + number + ": " + e.getMessage());
        }
      }
    }
    return requests;
  }

  /**
   * The record of a line; null for a header, and for the half line that a router leaves when it is
   * killed.
   *
   * @throws IllegalArgumentException saying what is wrong with it
   */
  static @Nullable LoggedRequest parse(String line) {
    if (!line.endsWith("}")) {
      return null;
    }
    JsonNode json = LineFields.object(line);
    if (json.has("format")) {
      requireKnown(json);
      return null;
    }
    return new LoggedRequest(
        (long) LineFields.number(json, "time_ms"),
        text(json, "model"),
        text(json, "session"),
        text(json, "engine"),
        json.path("outcome").asText(),
        new Tokens(
            count(json, "prompt_tokens"),
            count(json, json.has("cached_tokens") ? "cached_tokens" : "predicted_cached_tokens"),
            count(json, json.has("answer_tokens") ? "answer_tokens" : "answer_events")),
        new Times(millis(json, "dispatch_ms"), millis(json, "ttft_ms"), millis(json, "total_ms")),
        json.has("pieces") ? blocks(json) : null);
  }

  private static void requireKnown(JsonNode header) {
    String format = header.path("format").asText();
    int version = header.path("version").asInt();
    if (!format.equals(FORMAT) || version != VERSION) {
      throw new IllegalArgumentException(
          "format '%s' version %d, known is '%s' version %d"
              .formatted(format, version, FORMAT, VERSION));
    }
  }

  private static Blocks blocks(JsonNode json) {
    byte[] bytes;
    try {
      bytes = Base64.getDecoder().decode(json.path("pieces").asText());
    } catch (IllegalArgumentException e) {
      throw new IllegalArgumentException("'pieces' is not base64", e);
    }
    int keep = LineFields.whole(json, "keep", 0, LineFields.MOST_TOKENS);
    if (bytes.length % Integer.BYTES != 0) {
      throw new IllegalArgumentException(
          "'keep' is %d, 'pieces' has %d bytes".formatted(keep, bytes.length));
    }
    List<Integer> others = new ArrayList<>(bytes.length / Integer.BYTES);
    ByteBuffer numbers = ByteBuffer.wrap(bytes);
    while (numbers.hasRemaining()) {
      others.add(numbers.getInt());
    }
    return new Blocks(keep, others);
  }

  private static @Nullable String text(JsonNode json, String field) {
    return json.has(field) ? json.path(field).asText() : null;
  }

  private static int count(JsonNode json, String field) {
    return json.has(field) ? LineFields.whole(json, field, 0, LineFields.MOST_TOKENS) : UNKNOWN;
  }

  private static double millis(JsonNode json, String field) {
    return json.has(field) ? LineFields.number(json, field) : Double.NaN;
  }

  /** When it was over, since 1970. */
  public double endMillis() {
    return arrivedMillis + times.total;
  }

  /** Whether an engine computed its prompt, and how long prompt and answer were is known. */
  public boolean isReplayable() {
    return engine != null
        && !outcome.equals("error")
        && !outcome.equals("rejected")
        && tokens.prompt > 0
        && tokens.answer > 0
        && times.total >= 0;
  }
}
