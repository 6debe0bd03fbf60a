package dev.warmpath.simulator.capture;

import static org.assertj.core.api.Assertions.assertThat;

import dev.warmpath.eventingest.capture.CaptureHeader;
import dev.warmpath.eventingest.capture.CaptureHeader.CaptureStream;
import dev.warmpath.eventingest.capture.CaptureRecord;
import dev.warmpath.eventingest.capture.CaptureWriter;
import dev.warmpath.kvindex.CacheGroup;
import dev.warmpath.kvindex.IndexLimits;
import dev.warmpath.kvindex.block.PromptKeys;
import dev.warmpath.kvindex.enginehash.HashAlgorithm;
import dev.warmpath.kvindex.runs.RunKvIndex;
import dev.warmpath.simulator.capture.CaptureVerifier.Rehearsal;
import dev.warmpath.simulator.capture.FaultyFeed.Faults;
import dev.warmpath.simulator.engine.EngineConfig;
import dev.warmpath.simulator.engine.KvCacheConfig;
import dev.warmpath.simulator.engine.StepCost;
import dev.warmpath.simulator.engine.TestEngines;
import dev.warmpath.simulator.live.EventEncoder;
import dev.warmpath.simulator.live.TestHashing;
import dev.warmpath.simulator.live.TokenEngine;
import dev.warmpath.simulator.live.TokenEngine.StepResult;
import dev.warmpath.simulator.live.TokenRequest;
import dev.warmpath.simulator.live.WireForm;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What the simulated engine serves is what an index predicts from what it publishes. */
class SimulatedCaptureTest {

  private static final int BLOCK = 8;

  @TempDir private Path folder;

  @ParameterizedTest
  @CsvSource({
    "MAP,false,SHA256,0,0,1",
    "MAP,true,SHA256_CBOR,0,0,2",
    "ARRAY,false,SHA256_CBOR,0,0,3",
    "ARRAY,true,SHA256,0,0,4",
    "MAP,false,SHA256,20,0,5",
    "ARRAY,false,SHA256_CBOR,33,0,6",
    "MAP,false,SHA256,0,120,7",
    "ARRAY,true,SHA256_CBOR,0,120,8"
  })
  void everyQuietRequestIsPredictedExactly(
      WireForm form,
      boolean bytesHashes,
      HashAlgorithm hashing,
      int window,
      int hostBlocks,
      long seed)
      throws IOException {
    Path file = folder.resolve("simulated.wpc.gz");
    Recording recording = new Recording(form, bytesHashes, hashing, window, hostBlocks);
    try (CaptureWriter writer = recording.writer(file)) {
      recording.run(writer, new Random(seed));
    }

    CaptureVerifier.VerifyReport report =
        CaptureVerifier.verify(file, new RunKvIndex(IndexLimits.unbounded(1000)));

    assertThat(report.truncated()).isFalse();
    assertThat(report.skipped()).isEmpty();
    assertThat(report.judged().over()).isZero();
    assertThat(report.judged().under()).isZero();
    assertThat(report.judged().exact()).isGreaterThan(150);
    assertThat(recording.removedBlocks).isPositive();
    assertThat(recording.cachedTokens).isPositive();
    assertThat(recording.engine.load().hostHitsTokens() > 0).isEqualTo(hostBlocks > 0);

    CaptureVerifier.VerifyReport repaired = rehearse(file, true);
    assertThat(repaired.dropped()).isPositive();
    assertThat(repaired.judged().over()).isZero();
    assertThat(repaired.judged().under()).isZero();
    assertThat(repaired.judged().exact()).isGreaterThan(100);

    CaptureVerifier.VerifyReport lost = rehearse(file, false);
    assertThat(lost.dropped()).isPositive();
    assertThat(lost.judged().over()).isZero();
    assertThat(lost.judged().under()).isPositive();
  }

  private static CaptureVerifier.VerifyReport rehearse(Path file, boolean replays)
      throws IOException {
    Faults faults = new Faults(0.05, 0.02, 0.02, 0, 0, Duration.ZERO, 7);
    return CaptureVerifier.verify(
        file, new RunKvIndex(IndexLimits.unbounded(1000)), new Rehearsal(faults, replays));
  }

  /** Drives an engine with chats, copies, salts, adapters, bursts and resets. */
  private static final class Recording {
    private final EventEncoder encoder;
    private final TokenEngine engine;
    private final Map<String, @Nullable Object> noDetail = Map.of();
    private final List<int[]> seen = new ArrayList<>();
    private long sequence;
    private double time;
    private int requests;
    private int removedBlocks;
    private long cachedTokens;

    Recording(
        WireForm form, boolean bytesHashes, HashAlgorithm hashing, int window, int hostBlocks) {
      encoder = new EventEncoder(form, bytesHashes, true);
      List<CacheGroup> groups = new ArrayList<>();
      groups.add(new CacheGroup(0, CacheGroup.Kind.FULL_ATTENTION, BLOCK, 0));
      if (window > 0) {
        groups.add(new CacheGroup(1, CacheGroup.Kind.SLIDING_WINDOW, BLOCK, window));
      }
      KvCacheConfig cache = new KvCacheConfig(BLOCK, 90, groups).withHost(hostBlocks);
      EngineConfig config =
          new EngineConfig(cache, 64, 8, cache.maxSequenceTokens(), StepCost.H100X4);
      engine =
          new TokenEngine(
              config, TestHashing.of(hashing, BLOCK, Map.of("lora1", "/adapters/lora1")));
    }

    CaptureWriter writer(Path file) throws IOException {
      CaptureStream stream = CaptureStream.live(0, "sim-0", "warmpath-sim", "sim");
      return CaptureWriter.create(file, CaptureHeader.of(Instant.EPOCH, "test", List.of(stream)));
    }

    void run(CaptureWriter writer, Random random) throws IOException {
      for (int round = 0; round < 200; round++) {
        if (random.nextInt(40) == 0) {
          reset(writer);
        }
        writer.write(new CaptureRecord.Mark(tick(), 0, "quiescent", noDetail));
        serve(writer, List.of(request(random)));
        if (random.nextInt(8) == 0) {
          serve(writer, List.of(request(random), request(random), request(random)));
        }
      }
    }

    private void reset(CaptureWriter writer) throws IOException {
      assertThat(engine.resetPrefixCache()).isTrue();
      writer.write(
          new CaptureRecord.Mark(tick(), 0, "prefix-cache-reset", Map.of("success", true)));
    }

    private void serve(CaptureWriter writer, List<TokenRequest> burst) throws IOException {
      for (TokenRequest request : burst) {
        engine.submit(request);
        writer.write(new CaptureRecord.Request(tick(), 0, request.id(), body(request)));
      }
      Map<String, Integer> cached = new HashMap<>();
      while (!engine.idle()) {
        engine.beginStep();
        StepResult step = engine.endStep();
        publish(writer, step);
        step.tokens().forEach(token -> cached.put(token.requestId(), token.cachedTokens()));
      }
      for (TokenRequest request : burst) {
        long tokens = cached.get(request.id());
        cachedTokens += tokens;
        writer.write(
            new CaptureRecord.Response(tick(), 0, request.id(), Map.of("cached_tokens", tokens)));
      }
    }

    private void publish(CaptureWriter writer, StepResult step) throws IOException {
      if (step.events().isEmpty()) {
        return;
      }
      removedBlocks += TestEngines.removals(step);
      byte[] payload = encoder.encode(time, step.events(), 0);
      writer.write(new CaptureRecord.Events(tick(), 0, new byte[0], sequence++, payload));
    }

    private TokenRequest request(Random random) {
      int[] prompt = prompt(random);
      int[] answer = random.ints(1 + random.nextInt(20), 0, 1000).toArray();
      int[] whole = Arrays.copyOf(prompt, prompt.length + answer.length);
      System.arraycopy(answer, 0, whole, prompt.length, answer.length);
      seen.add(whole);
      String lora = random.nextInt(6) == 0 ? "lora1" : null;
      String salt = random.nextInt(6) == 0 ? "tenant" : null;
      return new TokenRequest(
          "r" + requests++, prompt, answer, new PromptKeys(lora, salt), random.nextInt(10) > 0);
    }

    /** Something new, a repetition, or a chat that goes on. */
    private int[] prompt(Random random) {
      int kind = random.nextInt(4);
      if (seen.isEmpty() || kind == 0) {
        return random.ints(1 + random.nextInt(80), 0, 1000).toArray();
      }
      int back = Math.min(seen.size(), 1 + random.nextInt(8));
      int[] base = seen.get(seen.size() - back);
      if (kind == 1 || base.length > 200) {
        return Arrays.copyOf(base, Math.min(base.length, 200));
      }
      int more = 1 + random.nextInt(30);
      int[] longer = Arrays.copyOf(base, base.length + more);
      for (int i = base.length; i < longer.length; i++) {
        longer[i] = random.nextInt(1000);
      }
      return longer;
    }

    private static Map<String, @Nullable Object> body(TokenRequest request) {
      Map<String, @Nullable Object> body = new HashMap<>();
      body.put("token_ids", Arrays.stream(request.prompt()).mapToObj(id -> (long) id).toList());
      if (request.keys().loraName() != null) {
        body.put("lora_name", request.keys().loraName());
      }
      if (request.keys().cacheSalt() != null) {
        body.put("cache_salt", request.keys().cacheSalt());
      }
      if (!request.readsCache()) {
        body.put("prompt_logprobs", 0L);
      }
      return body;
    }

    private double tick() {
      time += 0.001;
      return time;
    }
  }
}
