package dev.warmpath.router.logs;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.ObjectMapper;
import dev.warmpath.router.logs.RequestLog.DropCause;
import dev.warmpath.router.logs.RequestLog.LineFormat;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Clock;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.function.LongSupplier;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class RequestLogTest {

  private static final ObjectMapper JSON = new ObjectMapper();

  @TempDir Path folder;
  private long nanos;

  @Test
  void writesAgainWhenTheDiskIsBack() throws Exception {
    Path file = folder.resolve("logs/log");
    RequestLog log = opened(new LogFiles(file, 600, 3));
    write(log, "a");
    assertThat(log.written()).isEqualTo(1);

    Files.move(file.getParent(), folder.resolve("away"));
    Files.writeString(folder.resolve("logs"), "no directory");
    write(log, "b".repeat(200)); // has to rotate
    write(log, "c", "d");
    assertThat(log.dropped(DropCause.DISK)).isEqualTo(3);
    assertThat(log.queue().isFailing()).isTrue();
    assertThat(log.written()).isEqualTo(1);

    Files.delete(folder.resolve("logs"));
    Files.move(folder.resolve("away"), file.getParent());
    nanos += DiskQueue.RETRY_NANOS - 1;
    write(log, "e");
    assertThat(log.dropped(DropCause.DISK)).isEqualTo(4);
    nanos += 1;
    write(log, "f");
    assertThat(log.written()).isEqualTo(2);
    assertThat(models(file)).containsExactly("header", "a", "header", "f");
  }

  @Test
  void aBugCostsItsRecordsAndTheNextFileHasAHeader() throws Exception {
    Path file = folder.resolve("log");
    LineFormat buggy =
        new LineFormat() {
          @Override
          public byte[] header(long nowMillis) {
            return "{}\n".getBytes(StandardCharsets.US_ASCII);
          }

          @Override
          public byte[] of(RequestLog.Waiting waiting) {
            throw new IllegalStateException("on purpose");
          }
        };
    RequestLog log = new RequestLog(new LogFiles(file, 500, 1), buggy, 1 << 20, clock(), nanos());
    log.queue().open();
    write(log, "a", "b");
    assertThat(log.dropped(DropCause.FAILURE)).isEqualTo(2);
    assertThat(log.dropped(DropCause.DISK)).isZero();
    nanos += DiskQueue.RETRY_NANOS;
    write(log, "c");
    assertThat(models(file)).containsExactly("header", "header");
  }

  @Test
  void keepsTheNewestFiles() throws Exception {
    Path file = folder.resolve("log");
    LogFiles files = new LogFiles(file, 500, 3);
    RequestLog log = opened(files);
    for (int i = 0; i < 10; i++) {
      write(log, "m" + i);
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
    RequestLog log = opened(new LogFiles(file, 500, 1));
    for (int i = 0; i < 10; i++) {
      write(log, "m" + i);
    }
    assertThat(models(file)).startsWith("header").endsWith("m9");
    try (Stream<Path> all = Files.list(folder)) {
      assertThat(all).hasSize(1);
    }
  }

  @Test
  void theQueueIsBoundedInBytes() throws Exception {
    RequestLog log = log(new LogFiles(folder.resolve("log"), 1 << 20, 1), 2_100);
    for (int i = 0; i < 5; i++) {
      log.add(decision("m"), null);
    }
    assertThat(log.dropped(DropCause.QUEUE_FULL)).isEqualTo(2);
    assertThat(log.queue().bytes()).isBetween(1_800L, 2_100L);
    log.queue().open();
    assertThat(log.queue().writeTurn()).isTrue();
    assertThat(log.written()).isEqualTo(3);
    assertThat(log.queue().bytes()).isZero();
    log.add(decision("m"), null);
    log.close();
    log.add(decision("m"), null);
    assertThat(log.dropped(DropCause.QUEUE_FULL)).isEqualTo(3);
    assertThat(log.queue().writeTurn()).isTrue();
    assertThat(log.written()).isEqualTo(4);
    assertThat(log.queue().writeTurn()).isFalse();
  }

  private RequestLog opened(LogFiles files) throws Exception {
    RequestLog log = log(files, 1 << 20);
    log.queue().open();
    return log;
  }

  private RequestLog log(LogFiles files, long maxQueueBytes) {
    DecisionLine lines = new DecisionLine(LogKey.fresh(new Random(1)));
    return new RequestLog(files, lines, maxQueueBytes, clock(), nanos());
  }

  private static Clock clock() {
    return Clock.systemUTC();
  }

  private LongSupplier nanos() {
    return () -> nanos;
  }

  private static void write(RequestLog log, String... models) throws InterruptedException {
    for (String model : models) {
      log.add(decision(model), null);
    }
    log.queue().writeTurn();
  }

  private static Decision decision(String model) {
    return new Decision(
        new Decision.Request("wp-1", "POST", "/v1/completions", null, model, null),
        null,
        new Decision.Times(0, Double.NaN, Double.NaN, 1),
        Decision.Tokens.NONE,
        new Decision.Result("rejected", 404, "model_not_found", 0));
  }

  private static List<String> models(Path file) throws Exception {
    List<String> models = new ArrayList<>();
    for (String line : Files.readAllLines(file)) {
      models.add(JSON.readTree(line).path("model").asText("header"));
    }
    return models;
  }
}
