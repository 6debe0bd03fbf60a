package dev.warmpath.simulator.cli;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.warmpath.eventingest.capture.CaptureHeader.CaptureStream;
import dev.warmpath.eventingest.capture.CaptureReader;
import dev.warmpath.eventingest.capture.CaptureRecord;
import dev.warmpath.tokenizer.ModelTokenizer;
import dev.warmpath.tokenizer.PromptResult;
import dev.warmpath.tokenizer.PromptResult.Inexact;
import dev.warmpath.tokenizer.PromptResult.Tokens;
import dev.warmpath.tokenizer.RequestKind;
import dev.warmpath.tokenizer.chat.ChatOptions.Dialect;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.function.BiFunction;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Renders the requests of capture files and compares the tokens with those that the engine
 * reported.
 *
 * <p>Requests without messages or prompt are passed over: they were sent as token ids.
 *
 * <p>Confined to the thread that checks.
 */
final class CaptureRendering {

  private static final ObjectMapper MAPPER = new ObjectMapper();

  /** What in a recorded request is not part of the body that was sent. */
  private static final List<String> NOT_SENT = List.of("token_ids", "lora_name");

  private final BiFunction<String, Dialect, ModelTokenizer> tokenizerOfModel;
  private final Consumer<String> findings;

  /**
   * A check that finds the tokenizer of a model and its engine with {@code tokenizerOfModel}; it
   * tells {@code findings} about each prompt that is not exact, without any of its text.
   */
  public CaptureRendering(
      BiFunction<String, Dialect, ModelTokenizer> tokenizerOfModel, Consumer<String> findings) {
    this.tokenizerOfModel = tokenizerOfModel;
    this.findings = findings;
  }

  /** Checks one file. */
  public RenderTotals check(Path file) throws IOException {
    RenderTotals totals = RenderTotals.NONE;
    try (CaptureReader reader = CaptureReader.open(file)) {
      CaptureRecord record = reader.next();
      while (record != null) {
        if (record instanceof CaptureRecord.Request request) {
          ModelTokenizer tokenizer =
              reader.header().stream(request.stream()).map(this::tokenizer).orElse(null);
          totals = totals.plus(check(file + " " + request.requestId(), tokenizer, request));
        }
        record = reader.next();
      }
    }
    return totals;
  }

  private RenderTotals check(
      String where, @Nullable ModelTokenizer tokenizer, CaptureRecord.Request request) {
    RequestKind kind = kind(request.body());
    int[] engineIds = request.tokenIds();
    if (kind == null || engineIds == null || tokenizer == null) {
      return RenderTotals.NONE;
    }
    PromptResult result = tokenizer.prompt(kind, body(request), request.text("lora_name"));
    if (result instanceof Inexact inexact) {
      findings.accept(
          "%s: inexact: %s: %s".formatted(where, inexact.cause().label(), inexact.detail()));
      return new RenderTotals(0, 0, 1);
    }
    int[] ids = ((Tokens) result).sequences().get(0);
    int differs = Arrays.mismatch(ids, engineIds);
    if (differs < 0) {
      return new RenderTotals(1, 0, 0);
    }
    findings.accept(
        "%s: wrong from token %d on: %d tokens, the engine has %d"
            .formatted(where, differs, ids.length, engineIds.length));
    return new RenderTotals(0, 1, 0);
  }

  private ModelTokenizer tokenizer(CaptureStream stream) {
    Dialect dialect = stream.engine().equals("sglang") ? Dialect.SGLANG : Dialect.VLLM;
    return tokenizerOfModel.apply(stream.model(), dialect);
  }

  private static @Nullable RequestKind kind(Map<String, @Nullable Object> body) {
    if (body.get("messages") != null) {
      return RequestKind.CHAT;
    }
    return body.get("prompt") != null ? RequestKind.COMPLETION : null;
  }

  private static ObjectNode body(CaptureRecord.Request request) {
    ObjectNode body = MAPPER.valueToTree(request.body());
    return body.remove(NOT_SENT);
  }
}
