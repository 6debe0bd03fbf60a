package dev.warmpath.simulator.capture;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.warmpath.eventingest.capture.CaptureHeader;
import dev.warmpath.eventingest.capture.CaptureHeader.CaptureStream;
import dev.warmpath.eventingest.capture.CaptureRecord;
import dev.warmpath.eventingest.capture.CaptureWriter;
import dev.warmpath.eventingest.wire.StreamMessage;
import dev.warmpath.kvindex.IndexLimits;
import dev.warmpath.kvindex.runs.RunKvIndex;
import dev.warmpath.simulator.capture.CaptureVerifier.VerifyReport.Verdicts;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Captures that a small engine writes. */
final class CaptureVerifierTest {

  @TempDir Path folder;

  private final List<CaptureRecord> records = new ArrayList<>();
  private final TestEngine engine = new TestEngine();
  private final Random random = new Random(7);
  private int recorded;
  private int requests;
  private double time;
  private String kind = "warmpath-sim";

  @Test
  void predictsEveryQuietRequest() throws IOException {
    mark("engine-started");
    serve(60);

    CaptureVerifier.VerifyReport report = verify();
    assertThat(report.judged()).isEqualTo(new Verdicts(60, 0, 0));
    assertThat(report.requests()).isEqualTo(60);
    assertThat(report.events()).isPositive();
    assertThat(report.blocks()).isPositive();
    assertThat(report.engine()).isEqualTo("warmpath-sim");
    assertThat(report.truncated()).isFalse();
  }

  @Test
  void newLifetimeBeginsEmpty() throws IOException {
    serve(20);
    mark("engine-stopped");
    engine.restart();
    recorded = 0;
    mark("engine-started");
    mark("quiescent");
    serve(20);

    assertThat(verify().judged()).isEqualTo(new Verdicts(40, 0, 0));
  }

  @Test
  void restartThatNobodyMarkedIsSeenByTheSequence() throws IOException {
    serve(20);
    engine.restart();
    recorded = 0;
    engine.serve(prompt(0));
    record();
    serve(20);

    assertThat(verify().judged()).isEqualTo(new Verdicts(40, 0, 0));
  }

  @ParameterizedTest
  @ValueSource(ints = {2, 3})
  void gapIsFilledFromTheReplay(int frames) throws IOException {
    serve(20);
    mark("subscriber-lost");
    missSome();
    mark("subscriber-back");
    replay(frames);
    serve(20);

    assertThat(verify().judged()).isEqualTo(new Verdicts(40, 0, 0));
  }

  @Test
  void gapThatIsNotFilledNeverOverPredicts() throws IOException {
    serve(20);
    missSome();
    engine.serve(prompt(1));
    record();
    serve(40);

    CaptureVerifier.VerifyReport report = verify();
    assertThat(report.judged().over()).isZero();
    assertThat(report.judged().under()).isPositive();
    assertThat(report.judged().exact()).isPositive();
  }

  @Test
  void resetCountsBeforeItsEventComes() throws IOException {
    serve(20);
    record("prefix-cache-reset", Map.of("status", 200L));
    engine.clear();
    serve(5);

    assertThat(verify().judged()).isEqualTo(new Verdicts(25, 0, 0));
  }

  @Test
  void resetThatFailedDoesNotCount() throws IOException {
    serve(20);
    record("prefix-cache-reset", Map.of("status", 200L, "success", false));
    serve(20);

    assertThat(verify().judged()).isEqualTo(new Verdicts(40, 0, 0));
  }

  @Test
  void requestsWithoutAMarkAreBusy() throws IOException {
    serve(5);
    mark("quiescent");
    int[] prompt = prompt(1);
    request("a", prompt, Map.of());
    request("b", prompt, Map.of());
    engine.serve(prompt);
    record();
    respond("a", 1_000_000L);
    respond("b", 0L);

    CaptureVerifier.VerifyReport report = verify();
    assertThat(report.judged().under()).as("a is behind the mark").isEqualTo(1);
    assertThat(report.busy().exact() + report.busy().over()).isEqualTo(1);
  }

  @Test
  void overPredictionIsSeen() throws IOException {
    serve(5);
    engine.serve(prompt(1));
    record();
    mark("quiescent");
    request("liar", prompt(1), Map.of());
    respond("liar", 0L);

    assertThat(verify().judged()).isEqualTo(new Verdicts(5, 1, 0));
  }

  @Test
  void requestsThatProveNothingAreSkippedByReason() throws IOException {
    mark("quiescent");
    request("nil", prompt(1), Map.of());
    respond("nil", null);
    request("lost", prompt(1), Map.of());
    mark("quiescent");
    records.add(new CaptureRecord.Request(time++, 1, "text", Map.of("prompt", "x")));
    respond("text", 0L);

    assertThat(verify().skipped())
        .isEqualTo(Map.of("no_cached_tokens", 1L, "no_response", 1L, "no_token_ids", 1L));
  }

  @Test
  void requestsThatSkipReadsAreZero() throws IOException {
    engine.serve(prompt(1));
    record();
    mark("quiescent");
    request("logprobs", prompt(1), Map.of("prompt_logprobs", 1L));
    respond("logprobs", 0L);

    assertThat(verify().judged()).isEqualTo(new Verdicts(1, 0, 0));
  }

  /** vLLM before 0.19: the router credits a salted block to plain requests, so that is judged. */
  @Test
  void saltThatNoStoreShowsIsTakenForPlain() throws IOException {
    mark("quiescent");
    request("salted", prompt(1), Map.of("cache_salt", "pepper"));
    engine.serve(prompt(1));
    record();
    respond("salted", 0L);
    mark("quiescent");
    request("plain", prompt(1), Map.of());
    respond("plain", 0L);

    assertThat(verify().judged()).isEqualTo(new Verdicts(1, 1, 0));
  }

  /** As the router, which predicts nothing for it. */
  @Test
  void extraKeyThatNoHashShowsIsNotPredicted() throws IOException {
    kind = "sglang";
    mark("quiescent");
    request("keyed", prompt(1), Map.of("extra_key", "x"));
    engine.serve(prompt(1));
    record();
    respond("keyed", 0L);
    mark("quiescent");
    request("plain", prompt(1), Map.of());
    respond("plain", 0L);

    CaptureVerifier.VerifyReport report = verify();
    assertThat(report.skipped()).isEqualTo(Map.of("hidden_namespace", 1L));
    assertThat(report.judged()).isEqualTo(new Verdicts(1, 0, 0));
  }

  @Test
  void fileThatEndsEarlyIsReadAsFarAsItGoes() throws IOException {
    serve(20);
    Path whole = write();
    Path cut = folder.resolve("cut.wpc");
    byte[] bytes = Files.readAllBytes(whole);
    Files.write(cut, java.util.Arrays.copyOf(bytes, bytes.length - 5));

    CaptureVerifier.VerifyReport report =
        CaptureVerifier.verify(cut, new RunKvIndex(IndexLimits.unbounded(1000)));
    assertThat(report.truncated()).isTrue();
    assertThat(report.judged()).isEqualTo(new Verdicts(19, 0, 0));
  }

  @Test
  void fileThatIsNoCaptureIsNamed() throws IOException {
    Path file = Files.writeString(folder.resolve("letter.wpc"), "dear reader");
    assertThatThrownBy(
            () -> CaptureVerifier.verify(file, new RunKvIndex(IndexLimits.unbounded(1000))))
        .isInstanceOf(IOException.class)
        .hasMessageContaining("letter.wpc");
  }

  /** Requests one after another, each behind a mark; now and then something is evicted. */
  private void serve(int count) {
    for (int i = 0; i < count; i++) {
      if (random.nextInt(3) == 0) {
        engine.evict(random);
        record();
      }
      mark("quiescent");
      int[] prompt = prompt(random.nextInt(8));
      String id = "r" + requests++;
      request(id, prompt, Map.of());
      long cached = engine.reusable(prompt);
      engine.serve(prompt);
      record();
      respond(id, cached);
    }
  }

  private void missSome() {
    for (int i = 0; i < 5; i++) {
      engine.evict(random).serve(prompt(random.nextInt(8)));
    }
    recorded = engine.published().size();
  }

  private static int[] prompt(int number) {
    int shared = number % 3 * 8;
    return IntStream.range(0, 25).map(i -> i < shared ? i : 1000 * (number + 1) + i).toArray();
  }

  /** Records what the engine published meanwhile. */
  private void record() {
    for (; recorded < engine.published().size(); recorded++) {
      records.add(
          new CaptureRecord.Events(time++, 1, new byte[0], recorded, engine.payload(recorded)));
    }
  }

  private void replay(int frames) {
    List<List<byte[]>> replies = new ArrayList<>();
    for (int i = 0; i < engine.published().size(); i++) {
      replies.add(reply(frames, StreamMessage.sequenceFrame(i), engine.payload(i)));
    }
    replies.add(reply(frames, StreamMessage.sequenceFrame(-1), new byte[0]));
    records.add(new CaptureRecord.Replay(time++, 1, 0, replies));
  }

  private static List<byte[]> reply(int frames, byte[] sequence, byte[] payload) {
    return frames == 2 ? List.of(sequence, payload) : List.of(new byte[0], sequence, payload);
  }

  private void mark(String name) {
    record(name, Map.of());
  }

  private void record(String mark, Map<String, Object> detail) {
    records.add(new CaptureRecord.Mark(time++, 1, mark, new HashMap<>(detail)));
  }

  private void request(String id, int[] prompt, Map<String, Object> more) {
    Map<String, Object> body = new HashMap<>(more);
    body.put("token_ids", IntStream.of(prompt).mapToObj(Long::valueOf).toList());
    records.add(new CaptureRecord.Request(time++, 1, id, body));
  }

  private void respond(String id, Long cachedTokens) {
    Map<String, Object> result = new HashMap<>();
    result.put("status", 200L);
    result.put("cached_tokens", cachedTokens);
    records.add(new CaptureRecord.Response(time++, 1, id, result));
  }

  private CaptureVerifier.VerifyReport verify() throws IOException {
    return CaptureVerifier.verify(write(), new RunKvIndex(IndexLimits.unbounded(1000)));
  }

  private Path write() throws IOException {
    Path file = folder.resolve("capture.wpc");
    CaptureHeader header =
        CaptureHeader.of(Instant.EPOCH, "test", List.of(CaptureStream.live(1, "r", kind, "m")));
    try (CaptureWriter writer = CaptureWriter.create(file, header)) {
      for (CaptureRecord record : records) {
        writer.write(record);
      }
    }
    return file;
  }
}
