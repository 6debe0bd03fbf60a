package dev.warmpath.eventingest.snapshot;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.warmpath.eventingest.snapshot.IngestSnapshot.Bounds;
import dev.warmpath.kvindex.IndexLimits;
import dev.warmpath.kvindex.runs.RunKvIndex;
import dev.warmpath.kvindex.snapshot.SnapshotException.Reason;
import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.time.Instant;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Timeout(60)
final class SnapshotDirectoryTest {

  private static final Instant TAKEN = IngestSnapshotTest.snapshot().taken();

  @TempDir private Path dir;

  @Test
  void keepsTheLastTwo() throws IOException {
    try (SnapshotDirectory directory = SnapshotDirectory.open(dir.resolve("new/one"))) {
      assertThat(directory.snapshots()).isEmpty();
      for (String text : new String[] {"first", "second", "third"}) {
        assertThat(directory.replace(out -> out.write(text.getBytes(US_ASCII))))
            .isEqualTo(text.length());
      }
      assertThat(directory.snapshots()).hasSize(2);
      assertThat(directory.snapshots().get(0)).hasContent("third");
      assertThat(directory.snapshots().get(1)).hasContent("second");
      try (var files = Files.list(directory.path())) {
        assertThat(files.map(Path::getFileName).map(Path::toString))
            .containsExactlyInAnyOrder("index.wpsnap", "index.wpsnap.1", "lock");
      }
    }
  }

  @Test
  void onlyTheOwnerMayReadThem() throws IOException {
    Path left = Files.write(dir.resolve("index.wpsnap.tmp"), new byte[10]);
    Files.setPosixFilePermissions(left, PosixFilePermissions.fromString("rw-r--r--"));
    try (SnapshotDirectory directory = SnapshotDirectory.open(dir)) {
      directory.replace(out -> out.write(1));
      assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(dir.resolve("lock"))))
          .isEqualTo("rw-------");
      assertThat(
              PosixFilePermissions.toString(
                  Files.getPosixFilePermissions(directory.snapshots().get(0))))
          .isEqualTo("rw-------");
    }
  }

  @Test
  void writeThatFailsHalfWayKeepsTheOldOne() throws IOException {
    try (SnapshotDirectory directory = SnapshotDirectory.open(dir)) {
      directory.replace(out -> out.write(1));
      assertThatThrownBy(() ->
              directory.replace(out -> {
                out.write(new byte[50]);
                out.flush();
                throw new IOException("no space left");
              }))
          .hasMessage("no space left");
      assertThat(directory.snapshots()).singleElement().isEqualTo(dir.resolve("index.wpsnap"));
      assertThat(dir.resolve("index.wpsnap")).hasBinaryContent(new byte[] {1});
      assertThat(dir.resolve("index.wpsnap.tmp")).doesNotExist();
    }
  }

  @Test
  void leftoversOfAKilledProcessAreRemoved() throws IOException {
    Files.write(dir.resolve("index.wpsnap.tmp"), new byte[10]);
    try (SnapshotDirectory directory = SnapshotDirectory.open(dir)) {
      assertThat(dir.resolve("index.wpsnap.tmp")).as("another router may write it").exists();
      directory.take();
      assertThat(dir.resolve("index.wpsnap.tmp")).doesNotExist();
    }
  }

  @Test
  void secondOwnerInThisProcessIsRefusedAndTakesNothingAway() throws Exception {
    SnapshotDirectory first = SnapshotDirectory.open(dir);
    first.replace(out -> out.write(1));
    SnapshotDirectory second = SnapshotDirectory.open(dir);
    String process = "in use by another router, process " + ProcessHandle.current().pid();
    assertThatThrownBy(second::take)
        .isInstanceOf(SnapshotDirectory.InUseException.class)
        .hasMessageContaining(process);
    assertThatThrownBy(() -> second.replace(out -> out.write(2)))
        .isInstanceOf(SnapshotDirectory.InUseException.class);
    assertThat(second.isTaken()).isFalse();
    assertThat(second.snapshots()).as("it may read").hasSize(1);
    second.close();
    assertThat(otherProcess()).contains(process);
    first.close();
    assertThat(otherProcess()).isEqualTo("opened");
    second.replace(out -> out.write(2));
    assertThat(second.isTaken()).isTrue();
    second.close();
  }

  @Test
  void newestThatCanBeUsedIsRead() throws IOException {
    try (SnapshotDirectory directory = SnapshotDirectory.open(dir)) {
      directory.replace(out -> out.write(IngestSnapshotTest.bytes()));
      directory.replace(out -> out.write(new byte[100]));

      RunKvIndex index = new RunKvIndex(IndexLimits.unbounded(9));
      assertThat(directory.read(index, bounds(TAKEN))).isEqualTo(IngestSnapshotTest.snapshot());
      assertThat(index.stats(0).namedBlocks()).isEqualTo(3);
      assertThat(directory.refused()).isEqualTo(Map.of(Reason.DAMAGED, 1));
    }
  }

  /** Its first half has been read into the index when it turns out. */
  @Test
  void nothingOfADamagedOneIsInTheIndexThatThePreviousIsReadInto() throws IOException {
    try (SnapshotDirectory directory = SnapshotDirectory.open(dir)) {
      directory.replace(out -> out.write(IngestSnapshotTest.bytes()));
      byte[] bytes = IngestSnapshotTest.bytes();
      bytes[bytes.length - 1] ^= 1;
      directory.replace(out -> out.write(bytes));

      RunKvIndex index = new RunKvIndex(IndexLimits.unbounded(9));
      assertThat(directory.read(index, bounds(TAKEN))).isEqualTo(IngestSnapshotTest.snapshot());
      assertThat(index.stats(0).namedBlocks()).isEqualTo(3);
      assertThat(directory.refused()).isEqualTo(Map.of(Reason.DAMAGED, 1));
    }
  }

  @Test
  void oldAndLargeOnesAreRefused() throws IOException {
    try (SnapshotDirectory directory = SnapshotDirectory.open(dir)) {
      directory.replace(out -> out.write(IngestSnapshotTest.bytes()));
      RunKvIndex index = new RunKvIndex(IndexLimits.unbounded(9));
      assertThat(directory.read(index, bounds(TAKEN.plusSeconds(3601)))).isNull();
      assertThat(directory.refused()).isEqualTo(Map.of(Reason.TOO_OLD, 1));
      assertThat(directory.read(index, new Bounds(99, Duration.ofHours(1), TAKEN))).isNull();
      assertThat(directory.refused()).isEqualTo(Map.of(Reason.TOO_OLD, 1, Reason.TOO_LARGE, 1));
      assertThat(directory.read(index, bounds(TAKEN.plusSeconds(3600)))).isNotNull();
    }
  }

  @Test
  void whatCannotBeReadIsRefused() throws IOException {
    try (SnapshotDirectory directory = SnapshotDirectory.open(dir)) {
      Files.createDirectory(dir.resolve("index.wpsnap"));
      RunKvIndex index = new RunKvIndex(IndexLimits.unbounded(9));
      assertThat(directory.read(index, bounds(TAKEN))).isNull();
      assertThat(directory.refused()).isEqualTo(Map.of(Reason.UNREADABLE, 1));
    }
  }

  private static Bounds bounds(Instant now) {
    return new Bounds(1 << 20, Duration.ofHours(1), now);
  }

  /** What {@link Opener} says in a process of its own. */
  private String otherProcess() throws IOException, InterruptedException {
    Process process =
        new ProcessBuilder(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-cp",
                System.getProperty("java.class.path"),
                Opener.class.getName(),
                dir.toString())
            .redirectError(ProcessBuilder.Redirect.DISCARD)
            .start();
    String said = new String(process.getInputStream().readAllBytes(), US_ASCII);
    assertThat(process.waitFor(30, TimeUnit.SECONDS)).isTrue();
    return said.strip();
  }

  /** Tries to take a directory and says how that went. */
  static final class Opener {

    private Opener() {}

    public static void main(String[] args) {
      try {
        SnapshotDirectory directory = SnapshotDirectory.open(new File(args[0]).toPath());
        directory.take();
        directory.close();
        System.out.println("opened");
      } catch (IOException e) {
        System.out.println(e.getMessage());
      }
    }
  }
}
