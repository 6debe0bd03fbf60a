package dev.warmpath.eventingest.follow;

import static org.assertj.core.api.Assertions.assertThat;

import dev.warmpath.eventingest.Await;
import dev.warmpath.eventingest.Clocks;
import dev.warmpath.eventingest.EngineDialect;
import dev.warmpath.eventingest.EngineId;
import dev.warmpath.eventingest.EngineSource;
import dev.warmpath.eventingest.EngineStatus;
import dev.warmpath.eventingest.TestPublisher;
import dev.warmpath.eventingest.WireBatch;
import dev.warmpath.kvindex.IndexLimits;
import dev.warmpath.kvindex.runs.RunKvIndex;
import java.util.List;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Engines of one model that were started with different block sizes. */
class LayoutWatchTest {

  private final EventIngest ingest =
      new EventIngest(new RunKvIndex(IndexLimits.unbounded(100)), Clocks.ofTheMachine());
  private final TestPublisher a = new TestPublisher(3);
  private final TestPublisher b = new TestPublisher(3);
  private final TestPublisher c = new TestPublisher(3);

  @BeforeEach
  void follow() {
    a.keep(store(16));
    b.keep(store(16));
    c.keep(store(32));
    add("a", "m", a);
    add("b", "m", b);
  }

  @AfterEach
  void close() {
    ingest.close();
    a.close();
    b.close();
    c.close();
  }

  @Test
  void eachSaysHowItDiffersUntilItDoesNoMore() {
    add("c", "m", c);
    Await.until("alarm", () -> mismatch("a") != null && mismatch("c") != null);
    assertThat(mismatch("a")).isEqualTo("16 tokens a block, but 32 tokens a block on c/0");
    assertThat(mismatch("c")).startsWith("32 tokens a block, but 16 tokens a block on ");

    ingest.remove(new EngineId("c", 0));
    Await.until("peace", () -> mismatch("a") == null && mismatch("b") == null);
  }

  @Test
  void otherModelsAndUnknownOnesAreNotCompared() {
    add("c", "", c);
    add("d", "n", c);
    Await.until("all are known", () -> ingest.status().stream().allMatch(s -> s.space() != null));
    add("e", "m", c);
    Await.until("a look at all", () -> mismatch("a") != null && mismatch("e") != null);
    assertThat(mismatch("a")).endsWith("on e/0");
    assertThat(mismatch("c")).isNull();
    assertThat(mismatch("d")).isNull();
  }

  @Test
  void timesAreCounted() {
    Await.until("known", () -> status("a").space() != null);
    Await.until(
        "a time",
        () -> {
          a.publish(store(16)); // until it is heard live
          return batches() > 0 && ingest.visibleTimes().sumSeconds() > 0;
        });
  }

  private long batches() {
    return IntStream.range(0, ingest.visibleTimes().buckets())
        .mapToLong(ingest.visibleTimes()::count)
        .sum();
  }

  private void add(String replica, String model, TestPublisher engine) {
    ingest.add(
        new EngineSource(
            new EngineId(replica, 0),
            model,
            engine.endpoint(),
            false,
            engine.replayEndpoint(),
            EngineDialect.VLLM));
  }

  private @Nullable String mismatch(String replica) {
    return status(replica).layoutMismatch();
  }

  private EngineStatus status(String replica) {
    return ingest.status().stream()
        .filter(status -> status.id().replica().equals(replica))
        .findFirst()
        .orElseThrow();
  }

  private static byte[] store(int blockSize) {
    List<Integer> tokens = IntStream.range(0, blockSize).boxed().toList();
    return WireBatch.of(List.of("BlockStored", List.of(7), "nil", tokens, blockSize, "nil", "GPU"));
  }
}
