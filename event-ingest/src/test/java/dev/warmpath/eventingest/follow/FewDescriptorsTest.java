package dev.warmpath.eventingest.follow;

import static org.assertj.core.api.Assertions.assertThat;

import dev.warmpath.eventingest.Await;
import dev.warmpath.eventingest.Clocks;
import dev.warmpath.eventingest.EngineDialect;
import dev.warmpath.eventingest.EngineId;
import dev.warmpath.eventingest.EngineSource;
import dev.warmpath.eventingest.StreamCounter;
import dev.warmpath.eventingest.TestEngine;
import dev.warmpath.eventingest.TestPublisher;
import dev.warmpath.eventingest.Trust;
import dev.warmpath.kvindex.IndexLimits;
import dev.warmpath.kvindex.runs.RunKvIndex;
import java.io.BufferedReader;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A process that may open fewer files than its fleet needs. */
@Timeout(120)
class FewDescriptorsTest {

  private static final int LIMIT = 512;
  private static final int ENGINES = 300;

  @Test
  void enginesBeyondTheDescriptorsLeaveTheRepairsOfOthersAlone() throws Exception {
    TestEngine engine = new TestEngine().serve(1, 2, 3, 4).serve(5, 6, 7, 8).serve(9, 10, 11, 12);
    try (TestPublisher publisher = new TestPublisher(3)) {
      publisher.publish(engine.payload(0));
      Process router = start(publisher);
      try (BufferedReader lines = router.inputReader(StandardCharsets.UTF_8)) {
        assertThat(lines.readLine()).isEqualTo("1 block");
        assertThat(lines.readLine()).isEqualTo("no descriptors for more engines");
        publisher.keep(engine.payload(1)); // is never heard
        publisher.publish(engine.payload(2));
        assertThat(lines.readLine()).isEqualTo("3 blocks");
      } finally {
        router.destroyForcibly().waitFor();
      }
    }
  }

  private static Process start(TestPublisher publisher) throws IOException {
    String java = Path.of(System.getProperty("java.home"), "bin", "java").toString();
    ProcessBuilder builder =
        new ProcessBuilder(
            "sh",
            "-c",
            "ulimit -n " + LIMIT + " && exec \"$@\"",
            "sh",
            java,
            "-cp",
            System.getProperty("java.class.path"),
            Follower.class.getName(),
            publisher.endpoint(),
            publisher.replayEndpoint());
    return builder.redirectError(ProcessBuilder.Redirect.INHERIT).start();
  }

  /** Follows one engine that is there and many that are not. */
  static final class Follower {

    private Follower() {}

    public static void main(String[] endpoints) {
      try {
        follow(endpoints);
      } finally {
        Runtime.getRuntime().halt(0); // its threads may have died for lack of descriptors
      }
    }

    private static void follow(String[] endpoints) {
      EventIngest ingest =
          new EventIngest(new RunKvIndex(IndexLimits.unbounded(10)), Clocks.ofTheMachine());
      EngineId engine = add(ingest, "there", endpoints[0], endpoints[1]);
      await(ingest, engine, 1);
      System.out.println("1 block");
      for (int i = 0; i < ENGINES; i++) {
        add(ingest, "away-" + i, "tcp://127.0.0.1:*", null);
      }
      EngineId followed = new EngineId("away-20", 0);
      Await.until("many are followed", () -> ingest.boundEndpoint(followed) != null);
      System.out.println("no descriptors for more engines");
      await(ingest, engine, 3);
      System.out.println("3 blocks");
    }

    private static EngineId add(
        EventIngest ingest, String name, String endpoint, @Nullable String replayEndpoint) {
      EngineId id = new EngineId(name, 0);
      boolean bind = replayEndpoint == null;
      ingest.add(new EngineSource(id, "m", endpoint, bind, replayEndpoint, EngineDialect.VLLM));
      return id;
    }

    private static void await(EventIngest ingest, EngineId engine, long blocks) {
      Await.until(
          blocks + " blocks",
          () ->
              ingest.count(engine, StreamCounter.BLOCKS_STORED) == blocks
                  && Objects.requireNonNull(ingest.view(engine)).trust() == Trust.EXACT);
    }
  }
}
