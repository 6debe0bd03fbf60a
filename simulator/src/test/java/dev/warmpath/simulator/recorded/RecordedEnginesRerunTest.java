package dev.warmpath.simulator.recorded;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;

/**
 * The requests that real engines served, served once more by the simulated engine: it must reuse as
 * many tokens as they reported.
 *
 * <p>Each cell is exact/over/under. Requests behind a {@code quiescent} mark are quiet; how the
 * others overlapped with each other the record shows only roughly.
 */
class RecordedEnginesRerunTest {

  private static final Path CAPTURES = Path.of("../event-ingest/src/test/resources/captures");
  private static final String SUFFIX = ".wpc.gz";

  private static final String EXPECTED =
      """
      capture                           blocks  quiet       others
      sglang-0.5.23-p1-basics           1025    122/0/0     24/18/0
      sglang-0.5.23-p16-basics          256     182/0/0     31/11/0
      sglang-0.5.23-p16-concurrent      256     25/0/3      155/3/5
      sglang-0.5.23-p16-dynamo-keys     384     85/0/0      0/0/0
      sglang-0.5.23-p16-hicache         129     118/4/4     0/0/0
      sglang-0.5.23-p16-lora-salt       384     96/0/0      0/0/0
      sglang-0.5.23-p16-restart-gap     628     101/0/0     24/0/0
      sglang-0.5.23-p64-chats           127     129/0/0     0/0/0
      vllm-0.15.1-basics                123     83/0/0      56/0/0
      vllm-0.22.1-basics                123     100/0/0     53/0/0
      vllm-0.26.0-basics                128     108/0/0     64/0/0
      vllm-0.32.0-basics                128     148/0/0     64/0/0
      vllm-0.32.0-bytes-cbor            64      108/0/0     64/0/0
      vllm-0.32.0-chat-tools            680     69/0/0      0/0/0
      vllm-0.32.0-concurrent            128     214/0/0     159/1/0
      vllm-0.32.0-gap-replay            116     121/0/0     59/0/0
      vllm-0.32.0-hybrid                555     91/0/0      0/0/0
      vllm-0.32.0-lora-salt             160     95/0/0      0/0/0
      vllm-0.32.0-mamba                 220     95/0/0      0/0/0
      vllm-0.32.0-restart               128     180/0/0     0/0/0
      """;

  @Test
  void projectsOwnCaptures() throws Exception {
    assertThat(table(CAPTURES)).isEqualTo(EXPECTED);
  }

  /** Other captures: {@code -Dwarmpath.captures=FOLDER}. Shows what it finds. */
  @Test
  @EnabledIfSystemProperty(named = "warmpath.captures", matches = ".+")
  void otherCaptures() throws Exception {
    System.out.print(table(Path.of(System.getProperty("warmpath.captures"))));
  }

  private static String table(Path folder) throws Exception {
    StringBuilder table = new StringBuilder(row("capture", "blocks", "quiet", "others"));
    for (Path file : captures(folder)) {
      RecordedEngine recorded = new RecordedEngine(file);
      String name = file.getFileName().toString().replace(SUFFIX, "");
      if (recorded.stream.config("bigram") == null) {
        Map<String, Integer> cached = Rerun.cachedTokens(recorded, recorded.config());
        Cell quiet = Cell.of(recorded, cached, true);
        Cell others = Cell.of(recorded, cached, false);
        table.append(row(name, recorded.blocks(), quiet, others));
      }
    }
    return table.toString();
  }

  private static List<Path> captures(Path folder) throws IOException {
    try (Stream<Path> files = Files.list(folder)) {
      return files.filter(file -> file.toString().endsWith(SUFFIX)).sorted().toList();
    }
  }

  private static String row(String name, Object blocks, Object quiet, Object others) {
    return "%-34s%-8s%-12s%s\n".formatted(name, blocks, quiet, others);
  }

  /** How many requests reused as much as the real engine reported, more and less. */
  private record Cell(int exact, int over, int under) {

    static Cell of(RecordedEngine recorded, Map<String, Integer> cached, boolean quiet) {
      int[] counts = new int[3];
      for (RecordedRequest request : recorded.requests.values()) {
        Long real = request.cachedTokens();
        if (real != null && request.quiet() == quiet) {
          long simulated = cached.getOrDefault(request.id(), 0);
          counts[simulated == real ? 0 : simulated > real ? 1 : 2]++;
        }
      }
      return new Cell(counts[0], counts[1], counts[2]);
    }

    @Override
    public String toString() {
      return exact + "/" + over + "/" + under;
    }
  }
}
