package dev.warmpath.simulator.trace;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.warmpath.eventingest.capture.CaptureHeader;
import dev.warmpath.eventingest.capture.CaptureHeader.CaptureStream;
import dev.warmpath.eventingest.capture.CaptureReader;
import dev.warmpath.eventingest.capture.CaptureRecord;
import dev.warmpath.eventingest.capture.CaptureRecord.Mark;
import dev.warmpath.eventingest.capture.CaptureRecord.Request;
import dev.warmpath.eventingest.capture.CaptureRecord.Response;
import dev.warmpath.eventingest.capture.CaptureWriter;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.LongStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class CaptureTraceTest {

  private static final Path CAPTURES = Path.of("../event-ingest/src/test/resources/captures");

  @TempDir Path folder;

  @Test
  void requestsShareTheBlocksThatTheirTokensShare() throws Exception {
    Trace trace =
        trace(
            request(10, "a", 1, 11, Map.of()),
            response("a", Map.of("status", 200L, "completion_tokens", 7L)),
            request(12.5, "b", 1, 9, Map.of()),
            request(13, "c", 2, 8, Map.of()),
            response("c", Map.of("status", 200L)),
            response("b", Map.of("completion_tokens", 3L)));
    assertThat(trace.name()).isEqualTo("tiny.0");
    assertThat(trace.blockSizeTokens()).isEqualTo(4);
    assertThat(trace.requests()).isEqualTo(3);
    assertThat(seconds(trace)).containsExactly(0.0, 2.5, 3.0);
    assertThat(trace.after(1)).isEqualTo(Trace.NONE);
    assertThat(List.of(trace.promptTokens(0), trace.promptTokens(1))).containsExactly(11, 9);
    assertThat(List.of(trace.answerTokens(0), trace.answerTokens(1), trace.answerTokens(2)))
        .as("of unknown length: one")
        .containsExactly(7, 3, 1);
    assertThat(trace.blockNumbers(0)).containsExactly(0, 1);
    assertThat(trace.blockNumbers(1)).containsExactly(0, 1);
    assertThat(trace.blockNumbers(2)).containsExactly(2, 3);
  }

  @Test
  void adaptersSaltsAndKeysPartPrompts() throws Exception {
    List<CaptureRecord> records = new ArrayList<>();
    List<Map<String, @Nullable Object>> spaces =
        List.of(
            Map.of(),
            Map.of("lora_name", "l"),
            Map.of("cache_salt", "s"),
            Map.of("extra_key", "s"),
            Map.of("cache_salt", "s"));
    for (int i = 0; i < spaces.size(); i++) {
      records.add(request(i, "r" + i, 1, 8, spaces.get(i)));
      records.add(response("r" + i, Map.of("status", 200L)));
    }
    Trace trace = trace(records.toArray(CaptureRecord[]::new));
    assertThat(trace.blockNumbers(1)).containsExactly(2, 3);
    assertThat(trace.blockNumbers(2)).containsExactly(4, 5);
    assertThat(trace.blockNumbers(3)).containsExactly(6, 7);
    assertThat(trace.blockNumbers(4)).isEqualTo(trace.blockNumbers(2));
  }

  @Test
  void whatWasNotServedIsLeftOutAndWhatReadsNoCacheSharesNothing() throws Exception {
    Trace trace =
        trace(
            new Mark(0, 0, "quiescent", Map.of()),
            request(1, "refused", 1, 8, Map.of()),
            response("refused", Map.of("status", 400L)),
            request(2, "logprobs", 1, 8, Map.of("prompt_logprobs", 0L)),
            response("logprobs", Map.of("status", 200L)),
            request(3, "unread", 1, 8, Map.of("reads_cache", false)),
            response("unread", Map.of("status", 200L)),
            request(3, "left", 1, 8, Map.of()),
            response("left", Map.of("outcome", "cancelled")),
            request(3.5, "routed", 2, 8, Map.of()),
            response("routed", Map.of("outcome", "completed")),
            new Request(4, 0, "text", Map.of("prompt", "x")),
            response("text", Map.of("status", 200L)),
            request(5, "cut", 1, 8, Map.of()));
    assertThat(seconds(trace)).containsExactly(0.0, 1.0, 1.5);
    assertThat(trace.blocks(0) + trace.blocks(1)).isZero();
  }

  @Test
  void theLimitCountsRequests() throws Exception {
    Path file =
        write(
            request(1, "a", 1, 8, Map.of()),
            request(2, "b", 1, 8, Map.of()),
            response("b", Map.of("status", 200L)),
            response("a", Map.of("status", 200L, "completion_tokens", 5L)));
    Trace trace = TraceFile.read(file, TraceFormat.CAPTURE, 1);
    assertThat(trace.requests()).isEqualTo(1);
    assertThat(trace.answerTokens(0)).isEqualTo(5);
  }

  @Test
  void errorsNameTheFile() throws Exception {
    Path none = folder.resolve("none.wpc");
    assertThatThrownBy(() -> TraceFile.read(none, TraceFormat.CAPTURE, 9))
        .isInstanceOf(IOException.class)
        .hasMessage("no such file: " + none);
    Path text = Files.writeString(folder.resolve("text.wpc"), "no capture");
    assertThatThrownBy(() -> TraceFile.read(text, TraceFormat.CAPTURE, 9))
        .isInstanceOf(IOException.class)
        .hasMessageStartingWith(text + ": not a capture file");
    Path empty = write(new Mark(0, 0, "quiescent", Map.of()));
    assertThatThrownBy(() -> TraceFile.read(empty, TraceFormat.CAPTURE, 9))
        .isInstanceOf(TraceException.class)
        .hasMessage(empty + ": no requests of the format 'capture'");
  }

  /** Nothing is evicted there: what a prompt shares with those before it, the engine had cached. */
  @Test
  void recordedEnginesHadCachedWhatTheTraceShares() throws Exception {
    Path file = CAPTURES.resolve("vllm-0.32.0-chat-tools.wpc.gz");
    Trace trace = TraceFile.read(file, TraceFormat.CAPTURE, Integer.MAX_VALUE);
    List<Long> cached = cachedTokens(file);
    assertThat(trace.name()).isEqualTo("vllm-0.32.0-chat-tools");
    assertThat(trace.requests()).isEqualTo(cached.size());
    Set<Integer> seen = new HashSet<>();
    int exact = 0;
    for (int request = 0; request < trace.requests(); request++) {
      long shared = shared(trace, request, seen);
      assertThat(cached.get(request)).as("request %d", request).isGreaterThanOrEqualTo(shared);
      exact += cached.get(request) == shared ? 1 : 0;
    }
    assertThat(exact).as("without a block of an answer").isGreaterThan(trace.requests() / 2);
    assertThat(seen).isNotEmpty();
  }

  /** Tokens of full blocks that are known, short of the last token; adds the others. */
  private static long shared(Trace trace, int request, Set<Integer> seen) {
    int size = trace.blockSizeTokens();
    int[] numbers = trace.blockNumbers(request);
    int most = (trace.promptTokens(request) - 1) / size;
    int shared = 0;
    while (shared < Math.min(most, numbers.length) && seen.contains(numbers[shared])) {
      shared++;
    }
    Arrays.stream(numbers).forEach(seen::add);
    return (long) shared * size;
  }

  private static List<Long> cachedTokens(Path file) throws IOException {
    List<String> order = new ArrayList<>();
    Map<String, Long> cached = new HashMap<>();
    try (CaptureReader reader = CaptureReader.open(file)) {
      for (CaptureRecord record = reader.next(); record != null; record = reader.next()) {
        if (record instanceof Request request) {
          order.add(request.requestId());
        } else if (record instanceof Response response && response.cachedTokens() != null) {
          cached.put(response.requestId(), response.cachedTokens());
        }
      }
    }
    return order.stream().filter(cached::containsKey).map(cached::get).toList();
  }

  private static List<Double> seconds(Trace trace) {
    List<Double> seconds = new ArrayList<>();
    for (int i = 0; i < trace.requests(); i++) {
      seconds.add(trace.seconds(i));
    }
    return seconds;
  }

  private Trace trace(CaptureRecord... records) throws Exception {
    return TraceFile.read(write(records), TraceFormat.CAPTURE, Integer.MAX_VALUE);
  }

  private Path write(CaptureRecord... records) throws IOException {
    Path file = folder.resolve("tiny.0.wpc.gz");
    CaptureStream stream = new CaptureStream(0, "r", 0, "vllm", "model", Map.of("block_size", 4L));
    CaptureHeader header = CaptureHeader.of(Instant.EPOCH, "made by a test", List.of(stream));
    try (CaptureWriter writer = CaptureWriter.create(file, header)) {
      for (CaptureRecord record : records) {
        writer.write(record);
      }
    }
    return file;
  }

  /** A request with {@code count} tokens that count up from 100 times {@code prompt}. */
  private static Request request(
      double seconds, String id, int prompt, int count, Map<String, @Nullable Object> more) {
    Map<String, @Nullable Object> body = new HashMap<>(more);
    body.put("token_ids", LongStream.range(100L * prompt, 100L * prompt + count).boxed().toList());
    return new Request(seconds, 0, id, body);
  }

  private static Response response(String id, Map<String, @Nullable Object> result) {
    return new Response(20, 0, id, result);
  }
}
