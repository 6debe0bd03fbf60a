package dev.warmpath.router.config;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.warmpath.router.config.FileWatch.WatchedFile;
import dev.warmpath.router.rig.Rig;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class FileWatchTest {

  @TempDir private Path folder;
  private final FileWatch watch = new FileWatch(5);
  private final List<String> loaded = new CopyOnWriteArrayList<>();

  @AfterEach
  void stop() {
    watch.close();
  }

  @Test
  void filesAreTakenOverTogetherWhenOneChanges() throws IOException {
    Path a = write("a", "1");
    Path b = write("b", "2");
    watch.add("pair", List.of(a, b), this::load);
    assertThat(loaded).containsExactly("12");
    write("b", "3");
    Rig.until(() -> loaded.size() == 2);
    assertThat(loaded).containsExactly("12", "13");
  }

  @Test
  void aDirectoryThatIsSwappedByItsLinkIsFollowed() throws IOException {
    Files.createDirectory(folder.resolve("one"));
    Files.createDirectory(folder.resolve("two"));
    Files.writeString(folder.resolve("one/f"), "old");
    Files.writeString(folder.resolve("two/f"), "new");
    Path data = Files.createSymbolicLink(folder.resolve("data"), Path.of("one"));
    watch.add("link", List.of(data.resolve("f")), this::load);
    Path next = Files.createSymbolicLink(folder.resolve("next"), Path.of("two"));
    Files.move(next, data, StandardCopyOption.ATOMIC_MOVE);
    Rig.until(() -> loaded.size() == 2);
    assertThat(loaded).containsExactly("old", "new");
  }

  @Test
  void whatCannotBeUsedIsKeptOutUntilItChanges() throws IOException {
    Path a = write("a", "good");
    watch.add("one", List.of(a), this::load);
    write("a", "bad");
    Rig.until(() -> status().stale());
    assertThat(status()).isEqualTo(new WatchedFile("one", "bad", 0, 1));
    write("a", "better");
    Rig.until(() -> !status().stale());
    assertThat(status()).isEqualTo(new WatchedFile("one", null, 1, 1));
    Files.delete(a);
    Rig.until(() -> status().stale());
    write("a", "better");
    Rig.until(() -> !status().stale());
    assertThat(loaded).containsExactly("good", "better");
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "\n \n", "\0\0\0"})
  void anEmptyFileIsStale(String nothing) throws IOException {
    Path a = write("a", "good");
    watch.add("one", List.of(a), this::load);
    Files.writeString(a, nothing);
    Rig.until(() -> status().stale());
    assertThat(status().problem()).isEqualTo(a + ": is empty");
    Files.writeString(a, "better");
    Rig.until(() -> !status().stale());
    assertThat(loaded).containsExactly("good", "better");
  }

  /** Each look finds one letter more, as of a file that is written in place; then no more. */
  @Test
  void whatGrowsFromLookToLookIsTakenAsAWhole() throws IOException {
    String text = "new contents";
    AtomicInteger looks = new AtomicInteger();
    FileContents contents =
        new FileContents(
            new BoundedRead(
                List.of(Path.of("growing")),
                file -> text.substring(0, Math.min(text.length(), looks.get())).getBytes(UTF_8),
                60_000));
    looks.set(text.length());
    assertThat(contents.look(this::load)).isEqualTo(FileContents.Look.TAKEN);
    for (int length = 1; length < text.length(); length++) {
      looks.set(length);
      assertThat(contents.look(this::load)).isEqualTo(FileContents.Look.UNCONFIRMED);
    }
    looks.set(text.length());
    assertThat(contents.look(this::load)).isEqualTo(FileContents.Look.SAME);
    looks.set(text.length() - 1);
    assertThat(contents.look(this::load)).isEqualTo(FileContents.Look.UNCONFIRMED);
    assertThat(contents.look(this::load)).isEqualTo(FileContents.Look.TAKEN);
    assertThat(loaded).containsExactly("new contents", "new content");
  }

  @Test
  void aPipeIsNotReadAndHoldsUpNobody() throws Exception {
    Path a = write("a", "1");
    watch.add("pipe", List.of(a), this::load);
    watch.add("two", List.of(write("b", "1")), contents -> loaded.add("two"));
    Files.delete(a);
    assertThat(new ProcessBuilder("mkfifo", a.toString()).start().waitFor()).isZero();
    Rig.until(() -> watch.status().stream().anyMatch(WatchedFile::stale));
    write("b", "2");
    Rig.until(() -> loaded.size() == 3);
    write("a", "2");
    Rig.until(() -> loaded.size() == 4);
    assertThat(loaded).containsExactly("1", "two", "two", "2");
  }

  /** As a file of a mount that does not answer. */
  @Test
  void aFileWhoseReadingHangsIsStaleAndHoldsUpNobody() throws Exception {
    CountDownLatch answers = new CountDownLatch(1);
    AtomicBoolean hangs = new AtomicBoolean();
    watch.add("hung", hanging(hangs, answers), this::load);
    watch.add("two", List.of(write("b", "1")), contents -> loaded.add("two"));
    hangs.set(true);
    Rig.until(() -> watch.status().stream().anyMatch(WatchedFile::stale));
    write("b", "2");
    Rig.until(() -> loaded.size() == 3);
    hangs.set(false);
    answers.countDown();
    Rig.until(() -> watch.status().stream().noneMatch(WatchedFile::stale));
    assertThat(loaded).containsExactly("1", "two", "two");
  }

  private static FileContents hanging(AtomicBoolean hangs, CountDownLatch answers) {
    return new FileContents(
        new BoundedRead(
            List.of(Path.of("hung")),
            file -> {
              try {
                if (hangs.get()) {
                  answers.await();
                }
              } catch (InterruptedException e) {
                throw new IOException(e);
              }
              return "1".getBytes(UTF_8);
            },
            1_000));
  }

  @Test
  void anErrorWhileOneIsTakenOverEndsNoWatch() throws IOException {
    Path a = write("a", "good");
    watch.add("one", List.of(a), this::load);
    write("a", "error");
    Rig.until(() -> status().stale());
    write("a", "better");
    Rig.until(() -> !status().stale());
    assertThat(loaded).containsExactly("good", "better");
  }

  @Test
  void aMissingFileIsNamedAtOnce() {
    Path none = folder.resolve("none");
    assertThatThrownBy(() -> watch.add("one", List.of(none), this::load))
        .isInstanceOf(IOException.class)
        .hasMessage("one: " + none + ": no such file");
    assertThat(watch.status()).isEmpty();
  }

  @Test
  void whatIsRemovedIsReadNoMore() throws IOException {
    Path a = write("a", "1");
    watch.add("one", List.of(a), this::load);
    watch.add("two", List.of(write("b", "1")), contents -> loaded.add("two"));
    watch.remove("one");
    write("a", "2");
    write("b", "2");
    Rig.until(() -> loaded.size() == 3);
    assertThat(loaded).containsExactly("1", "two", "two");
  }

  private WatchedFile status() {
    return watch.status().get(0);
  }

  private void load(List<byte[]> contents) throws IOException {
    StringBuilder all = new StringBuilder();
    contents.forEach(content -> all.append(new String(content, UTF_8)));
    if (all.toString().contains("error")) {
      throw new StackOverflowError();
    }
    if (all.toString().contains("bad")) {
      throw new IOException("bad");
    }
    loaded.add(all.toString());
  }

  /** At once, so that no look sees half of it. */
  private Path write(String name, String text) throws IOException {
    Path fresh = folder.resolve(name + ".fresh");
    Files.writeString(fresh, text);
    return Files.move(fresh, folder.resolve(name), StandardCopyOption.REPLACE_EXISTING);
  }
}
