package dev.warmpath.router.logs;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonGenerator;
import dev.warmpath.kvindex.block.BlockChain;
import dev.warmpath.router.dispatch.Choice;
import dev.warmpath.router.logs.RequestLog.LineFormat;
import dev.warmpath.router.logs.RequestLog.Waiting;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.Base64;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Writes a decision as a line of JSON. What is not known is left out.
 *
 * <p>Confined to the log's thread.
 */
final class DecisionLine implements LineFormat {

  static final String FORMAT = "warmpath-decisions";
  static final int VERSION = 1;

  private static final JsonFactory JSON = new JsonFactory();

  private final LogKey key;
  private final PromptHashes prompts;

  DecisionLine(LogKey key) {
    this.key = key;
    this.prompts = new PromptHashes(key);
  }

  /** The first line of a file, or of what a process adds to one: nothing before it counts. */
  @Override
  public byte[] header(long nowMillis) throws IOException {
    prompts.forget();
    ByteArrayOutputStream line = new ByteArrayOutputStream();
    try (JsonGenerator json = JSON.createGenerator(line)) {
      json.writeStartObject();
      json.writeStringField("format", FORMAT);
      json.writeNumberField("version", VERSION);
      json.writeNumberField("time_ms", nowMillis);
      json.writeStringField("key", key.id());
      json.writeNumberField("piece_tokens", PromptPieces.TOKENS);
      json.writeEndObject();
    }
    line.write('\n');
    return line.toByteArray();
  }

  @Override
  public byte[] of(Waiting waiting) throws IOException {
    ByteArrayOutputStream line = new ByteArrayOutputStream(512);
    try (JsonGenerator json = JSON.createGenerator(line)) {
      json.writeStartObject();
      json.writeNumberField("time_ms", waiting.arrivedMillis());
      fields(json, waiting.decision(), waiting.pieces());
      json.writeEndObject();
    }
    line.write('\n');
    return line.toByteArray();
  }

  private void fields(JsonGenerator json, Decision decision, @Nullable BlockChain pieces)
      throws IOException {
    String session = session(decision.request().session());
    text(json, "path", decision.request().path());
    text(json, "client", decision.request().client());
    text(json, "model", decision.request().model());
    text(json, "session", session);
    if (decision.choice() != null) {
      choice(json, decision.choice());
    }
    tokens(json, decision.tokens());
    times(json, decision.times());
    result(json, decision.result());
    if (pieces != null) {
      String model = decision.request().model(); // prompts of different models share nothing
      PromptHashes.Pieces hashes =
          prompts.of(pieces, session == null ? null : session + "/" + model);
      json.writeNumberField("keep", hashes.keep());
      json.writeStringField("pieces", hashes.others());
    }
  }

  private @Nullable String session(@Nullable String session) {
    return session == null
        ? null
        : Base64.getEncoder().withoutPadding().encodeToString(key.session(session));
  }

  private static void choice(JsonGenerator json, Choice choice) throws IOException {
    engine(json, choice);
    text(json, "prefill_engine", choice.prefill() == null ? null : choice.prefill().engine());
    Choice.Pulled pulled = choice.pulled();
    if (pulled != null) {
      json.writeStringField("pulled_from", pulled.from());
      json.writeNumberField("pulled_tokens", pulled.tokens());
    }
    json.writeStringField("policy", choice.policy());
    json.writeStringField("reason", choice.reason());
    json.writeNumberField("in_flight", choice.inFlight());
    json.writeNumberField("waiting", choice.waiting());
    millis(json, "queued_prefill_ms", choice.prefillBacklogMillis());
    millis(json, "prefill_ms", choice.prefillMillis());
  }

  static void engine(JsonGenerator json, Choice choice) throws IOException {
    json.writeStringField("engine", choice.engine());
    count(json, "predicted_cached_tokens", choice.prediction().cachedTokens());
  }

  static void tokens(JsonGenerator json, Decision.Tokens tokens) throws IOException {
    count(json, "prompt_tokens", tokens.prompt());
    count(json, "cached_tokens", tokens.cached());
    count(json, "answer_tokens", tokens.answer());
    if (tokens.answer() == Decision.UNKNOWN && tokens.answerEvents() > 0) {
      count(json, "answer_events", tokens.answerEvents());
    }
  }

  static void times(JsonGenerator json, Decision.Times times) throws IOException {
    millis(json, "wait_ms", times.waited());
    millis(json, "dispatch_ms", times.dispatch());
    millis(json, "ttft_ms", times.firstToken());
    millis(json, "total_ms", times.total());
  }

  static void result(JsonGenerator json, Decision.Result result) throws IOException {
    json.writeStringField("outcome", result.outcome());
    json.writeNumberField("status", result.status());
    text(json, "code", result.code());
    json.writeNumberField("attempts", result.attempts());
  }

  static void text(JsonGenerator json, String name, @Nullable String value) throws IOException {
    if (value != null) {
      json.writeStringField(name, value);
    }
  }

  static void count(JsonGenerator json, String name, int value) throws IOException {
    if (value >= 0) {
      json.writeNumberField(name, value);
    }
  }

  /** To a tenth of a millisecond. */
  private static void millis(JsonGenerator json, String name, double millis) throws IOException {
    if (!Double.isNaN(millis)) {
      json.writeNumberField(name, Math.round(10 * millis) / 10.0);
    }
  }

  /**
   * A prompt as the log shows it: 32 bits for each piece of {@value PromptPieces#TOKENS} tokens.
   * Equal numbers in the same place behind equal ones stand for equal prefixes. Of a session's
   * prompt only what differs from the one before is written.
   *
   * <p>Confined to the log's thread.
   */
  static final class PromptHashes {

    /** Bound of what is remembered of sessions, 4 MiB. */
    private static final int MOST_REMEMBERED = 1 << 20;

    /**
     * A prompt's pieces.
     *
     * @param keep leading pieces that are those of the session's prompt before
     * @param others the other pieces, base64 of 4 bytes each
     */
    record Pieces(int keep, String others) {}

    private final LogKey key;
    private final LinkedHashMap<String, int[]> bySession = new LinkedHashMap<>(16, 0.75f, true);
    private int remembered;

    PromptHashes(LogKey key) {
      this.key = key;
    }

    /** The pieces of a prompt; {@code session} remembers them for the next one. */
    Pieces of(BlockChain chain, @Nullable String session) {
      int[] before = session == null ? new int[0] : bySession.getOrDefault(session, new int[0]);
      int[] now = new int[chain.blocks()];
      Arrays.setAll(now, i -> key.block(chain.blockKey(i)));
      int differ = Arrays.mismatch(before, now);
      int keep = differ < 0 ? now.length : differ;
      if (session != null) {
        remember(session, now);
      }
      return new Pieces(keep, base64(now, keep));
    }

    /** A new file begins: its lines refer to none of another. */
    void forget() {
      bySession.clear();
      remembered = 0;
    }

    private void remember(String session, int[] pieces) {
      int[] replaced = bySession.put(session, pieces);
      remembered += pieces.length - (replaced == null ? 0 : replaced.length);
      Iterator<Map.Entry<String, int[]>> oldest = bySession.entrySet().iterator();
      while (remembered > MOST_REMEMBERED && oldest.hasNext()) {
        remembered -= oldest.next().getValue().length;
        oldest.remove();
      }
    }

    private static String base64(int[] pieces, int from) {
      ByteBuffer bytes = ByteBuffer.allocate(Integer.BYTES * (pieces.length - from));
      bytes.asIntBuffer().put(pieces, from, pieces.length - from);
      return Base64.getEncoder().withoutPadding().encodeToString(bytes.array());
    }
  }
}
