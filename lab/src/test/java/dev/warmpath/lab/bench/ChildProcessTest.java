package dev.warmpath.lab.bench;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.DisabledOnOs;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;

@DisabledOnOs(OS.WINDOWS)
class ChildProcessTest {

  @TempDir private Path dir;

  @Test
  void showsTheLastLinesOfOneThatDoesNotComeUp() throws Exception {
    String script = "i=0; while [ $i -lt 40 ]; do echo line $i; i=$((i+1)); done; exit 3";
    try (ChildProcess child =
        ChildProcess.start("the child", List.of("sh", "-c", script), dir.resolve("log"))) {
      assertThatThrownBy(() -> child.await("nothing", Duration.ofMinutes(1), () -> false))
          .isInstanceOf(IOException.class)
          .hasMessageStartingWith("the child ended with 3:")
          .hasMessageContaining("line 39")
          .hasMessageNotContaining("line 20");
    }
  }

  @Test
  void givesUpWaitingInTheEnd() throws Exception {
    try (ChildProcess child =
        ChildProcess.start("the child", List.of("sleep", "600"), dir.resolve("log"))) {
      assertThatThrownBy(() -> child.await("a wonder", Duration.ZERO, () -> false))
          .hasMessage("the child: waited 0 s in vain for a wonder; it printed nothing");
    }
  }

  @Test
  void endsWithItsBench() throws Exception {
    ChildProcess child = ChildProcess.startTalking("the child", List.of("cat"), dir.resolve("log"));
    ProcessHandle process = ProcessHandle.of(child.pid()).orElseThrow();
    assertThat(child.ask("one")).isEqualTo("one");
    assertThat(child.ask("two")).isEqualTo("two");
    child.close();
    assertThat(process.isAlive()).isFalse();
  }

  /** The shell has a child that would outlive it. */
  @Test
  @EnabledOnOs(OS.LINUX)
  void groupEndsAsAWhole() throws Exception {
    Path pid = dir.resolve("pid");
    String script = "(trap '' TERM; sh -c 'echo $PPID' > %s; sleep 600) & sleep 600".formatted(pid);
    ProcessHandle stubborn;
    try (ChildProcess child = ChildProcess.startGroup("the group", script, dir.resolve("log"))) {
      child.await("its child", Duration.ofMinutes(1), () -> isWritten(pid));
      stubborn = ProcessHandle.of(Long.parseLong(Files.readString(pid).strip())).orElseThrow();
      assertThat(stubborn.isAlive()).isTrue();
    }
    stubborn.onExit().get(1, TimeUnit.MINUTES);
  }

  private static boolean isWritten(Path file) {
    try {
      return Files.readString(file).endsWith("\n");
    } catch (IOException e) {
      return false;
    }
  }

  @Test
  void saysWhatWasWrongWhenThereIsNoAnswer() throws Exception {
    List<String> command = List.of("sh", "-c", "read line; echo port taken >&2; exit 1");
    try (ChildProcess child = ChildProcess.startTalking("the child", command, dir.resolve("log"))) {
      assertThatThrownBy(() -> child.ask("one"))
          .hasMessageStartingWith("the child has ended")
          .hasMessageContaining("port taken");
    }
  }
}
