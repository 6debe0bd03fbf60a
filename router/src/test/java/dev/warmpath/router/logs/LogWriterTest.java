package dev.warmpath.router.logs;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.ObjectMapper;
import dev.warmpath.router.logs.LogQueue.DropCause;
import dev.warmpath.router.logs.LogQueue.Waiting;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Clock;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class LogWriterTest {

  private static final ObjectMapper JSON = new ObjectMapper();

  @TempDir Path folder;
  private long nanos;

  @Test
  void writesAgainWhenTheDiskIsBack() throws Exception {
    Path file = folder.resolve("logs/log");
    LogQueue queue = new LogQueue(1 << 20);
    LogFiles files = new LogFiles(file, 600, 3);
    LogWriter writer = writer(queue, files);
    writer.open();
    writer.write(List.of(record("a")));
    assertThat(writer.written()).isEqualTo(1);

    Files.move(file.getParent(), folder.resolve("away"));
    Files.writeString(folder.resolve("logs"), "no directory");
    writer.write(List.of(record("b".repeat(200)))); // has to rotate
    writer.write(List.of(record("c"), record("d")));
    assertThat(queue.dropped()).containsEntry(DropCause.DISK, 3L);
    assertThat(writer.written()).isEqualTo(1);

    Files.delete(folder.resolve("logs"));
    Files.move(folder.resolve("away"), file.getParent());
    nanos += LogWriter.RETRY_NANOS - 1;
    writer.write(List.of(record("e")));
    assertThat(queue.dropped()).containsEntry(DropCause.DISK, 4L);
    nanos += 1;
    writer.write(List.of(record("f")));
    assertThat(writer.written()).isEqualTo(2);
    assertThat(models(file)).containsExactly("header", "a", "header", "f");
  }

  @Test
  void keepsTheNewestFiles() throws Exception {
    Path file = folder.resolve("log");
    LogFiles files = new LogFiles(file, 500, 3);
    LogWriter writer = writer(new LogQueue(1 << 20), files);
    writer.open();
    for (int i = 0; i < 10; i++) {
      writer.write(List.of(record("m" + i)));
    }
    List<String> kept = new ArrayList<>();
    for (String name : List.of("log.2", "log.1", "log")) {
      List<String> models = models(folder.resolve(name));
      assertThat(models).startsWith("header");
      kept.addAll(models.subList(1, models.size()));
      assertThat(Files.size(folder.resolve(name))).isLessThanOrEqualTo(500);
    }
    assertThat(kept).endsWith("m8", "m9").doesNotContain("m0").doesNotHaveDuplicates();
    try (Stream<Path> all = Files.list(folder)) {
      assertThat(all).hasSize(3);
    }
    assertThat(files.bytes())
        .isEqualTo(
            Files.size(file)
                + Files.size(folder.resolve("log.1"))
                + Files.size(folder.resolve("log.2")));
  }

  @Test
  void oneFileIsEnough() throws Exception {
    Path file = folder.resolve("log");
    LogWriter writer = writer(new LogQueue(1 << 20), new LogFiles(file, 500, 1));
    writer.open();
    for (int i = 0; i < 10; i++) {
      writer.write(List.of(record("m" + i)));
    }
    assertThat(models(file)).startsWith("header").endsWith("m9");
    try (Stream<Path> all = Files.list(folder)) {
      assertThat(all).hasSize(1);
    }
  }

  @Test
  void theQueueIsBoundedInBytes() throws Exception {
    LogQueue queue = new LogQueue(2_100);
    for (int i = 0; i < 5; i++) {
      queue.offer(record("m"));
    }
    assertThat(queue.dropped()).containsEntry(DropCause.QUEUE_FULL, 2L);
    assertThat(queue.bytes()).isBetween(1_800L, 2_100L);
    List<Waiting> taken = new ArrayList<>();
    assertThat(queue.drainTo(taken, 2)).isTrue();
    assertThat(taken).hasSize(2);
    queue.offer(record("m"));
    queue.close();
    queue.offer(record("m"));
    assertThat(queue.dropped()).containsEntry(DropCause.QUEUE_FULL, 3L);
    taken.clear();
    assertThat(queue.drainTo(taken, 9)).isTrue();
    assertThat(taken).hasSize(2);
    taken.clear();
    assertThat(queue.drainTo(taken, 9)).isFalse();
    assertThat(queue.bytes()).isZero();
  }

  private LogWriter writer(LogQueue queue, LogFiles files) {
    LogKey key = LogKey.fresh(new Random(1));
    return new LogWriter(queue, files, new DecisionLine(key), Clock.systemUTC(), () -> nanos);
  }

  private static Waiting record(String model) {
    Decision decision =
        new Decision(
            new Decision.Request("wp-1", "POST", "/v1/completions", null, model, null),
            null,
            new Decision.Times(0, Double.NaN, Double.NaN, 1),
            Decision.Tokens.NONE,
            new Decision.Result("rejected", 404, "model_not_found", 0));
    return new Waiting(0, decision, null);
  }

  private static List<String> models(Path file) throws Exception {
    List<String> models = new ArrayList<>();
    for (String line : Files.readAllLines(file)) {
      models.add(JSON.readTree(line).path("model").asText("header"));
    }
    return models;
  }
}
