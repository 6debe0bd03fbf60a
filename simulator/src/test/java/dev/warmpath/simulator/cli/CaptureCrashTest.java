package dev.warmpath.simulator.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.warmpath.eventingest.capture.CaptureHeader;
import dev.warmpath.eventingest.capture.CaptureHeader.CaptureStream;
import dev.warmpath.eventingest.capture.CaptureReader;
import dev.warmpath.eventingest.capture.CaptureRecord;
import dev.warmpath.eventingest.capture.CaptureRecord.Events;
import dev.warmpath.eventingest.capture.CaptureWriter;
import dev.warmpath.router.cli.Exit;
import dev.warmpath.router.cli.Main;
import dev.warmpath.router.cli.TestProgram;
import dev.warmpath.simulator.capture.CapturePublisher;
import dev.warmpath.simulator.capture.FaultyFeed;
import dev.warmpath.simulator.capture.FaultyFeed.Faults;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.zeromq.ZContext;

/** A recording process that is killed leaves a file that can be read. */
@Timeout(60)
class CaptureCrashTest {

  private static final int MESSAGES = 3_000;
  private static final int MESSAGE_BYTES = 500;
  private static final long KILLED_AT_BYTES = 50_000;

  @TempDir private Path folder;

  @ParameterizedTest
  @ValueSource(strings = {"killed.wpc", "killed.wpc.gz"})
  void whatWasHeardBeforeTheKillIsThere(String name) throws Exception {
    Path source = source();
    Path out = folder.resolve(name);
    AtomicLong ahead = new AtomicLong();
    try (ZContext context = new ZContext();
        CapturePublisher publisher =
            new CapturePublisher(
                context, "tcp://127.0.0.1:0", null, () -> System.nanoTime() + ahead.get());
        CaptureReader reader = CaptureReader.open(source)) {
      Process recorder = recorder(publisher.endpoint(), out);
      Thread killer = new Thread(() -> kill(recorder, out, ahead), "killer");
      publisher.serve(() -> publisher.subscribers() > 0 || !recorder.isAlive());
      killer.start();
      publisher.publish(reader, 0, 1, new FaultyFeed(Faults.NONE, 0));
      killer.join();
      assertThat(recorder.waitFor()).as("killed, not ended").isGreaterThan(128);
    }

    assertThat(heard(out)).isBetween(KILLED_AT_BYTES / MESSAGE_BYTES - 10, MESSAGES - 1L);
    TestProgram program = new TestProgram();
    assertThat(program.run("replay", "verify", out.toString())).isEqualTo(Exit.FAILED);
    assertThat(program.out()).as("it is read whole").contains("0 over");
    assertThat(program.err()).contains("no file has a request");
  }

  @Test
  void onlyTheOwnerMayReadACapture() throws IOException {
    assertThat(Files.getPosixFilePermissions(source())).hasSize(2);
  }

  /** From then on nobody hears the rest, which need not take its time. */
  private static void kill(Process recorder, Path out, AtomicLong ahead) {
    while (size(out) <= KILLED_AT_BYTES && recorder.isAlive()) {
      LockSupport.parkNanos(2_000_000);
    }
    recorder.destroyForcibly();
    ahead.set(TimeUnit.MILLISECONDS.toNanos(MESSAGES));
  }

  private static long size(Path file) {
    try {
      return Files.exists(file) ? Files.size(file) : 0;
    } catch (IOException e) {
      return 0;
    }
  }

  private Process recorder(String endpoint, Path out) throws IOException {
    return new ProcessBuilder(
            ProcessHandle.current().info().command().orElseThrow(),
            "-cp",
            System.getProperty("java.class.path"),
            Main.class.getName(),
            "capture",
            "--endpoint",
            endpoint,
            "--out",
            out.toString())
        .redirectErrorStream(true)
        .redirectOutput(folder.resolve("recorder.log").toFile())
        .start();
  }

  /** Messages that do not compress, a millisecond apart. */
  private Path source() throws IOException {
    Path file = folder.resolve("source.wpc");
    Random random = new Random(1);
    CaptureStream stream = CaptureStream.live(0, "engine-0", "vllm", "m");
    CaptureHeader header = CaptureHeader.of(Instant.EPOCH, "", List.of(stream));
    try (CaptureWriter writer = CaptureWriter.create(file, header)) {
      for (int i = 0; i < MESSAGES; i++) {
        byte[] payload = new byte[MESSAGE_BYTES];
        random.nextBytes(payload);
        writer.write(new Events(i / 1e3, 0, new byte[0], i, payload));
      }
    }
    return file;
  }

  /** How many messages the file holds, one after the other from the first on. */
  private static long heard(Path file) throws IOException {
    long heard = 0;
    try (CaptureReader reader = CaptureReader.open(file)) {
      CaptureRecord record = reader.next();
      while (record != null) {
        assertThat(((Events) record).sequence()).isEqualTo(heard);
        heard++;
        record = reader.next();
      }
    }
    return heard;
  }
}
