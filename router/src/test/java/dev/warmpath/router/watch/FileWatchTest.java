package dev.warmpath.router.watch;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.warmpath.router.rig.Rig;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

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
    assertThat(status()).isEqualTo(new WatchedFile("one", true, 0, 1));
    write("a", "better");
    Rig.until(() -> !status().stale());
    assertThat(status()).isEqualTo(new WatchedFile("one", false, 1, 1));
    Files.delete(a);
    Rig.until(() -> status().stale());
    write("a", "better");
    Rig.until(() -> !status().stale());
    assertThat(loaded).containsExactly("good", "better", "better");
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
