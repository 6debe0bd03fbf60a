package dev.warmpath.lab.bench;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.warmpath.lab.bench.ProcFiles.CpuTime;
import dev.warmpath.lab.bench.ProcFiles.MachineTime;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;

class ProcFilesTest {

  private static final String TCP =
      """
        sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode
         0: 0100007F:1F90 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 4711 1 0
         1: 0100007F:1F90 0100007F:9C40 01 00000000:00000000 00:00000000 00000000     0        0 4712 1 0
         2: 0100007F:1F91 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 4713 1 0
      """;

  @TempDir private Path root;

  @Test
  void addsUserAndSystemTimeBehindANameWithBrackets() throws Exception {
    process(7, "a ) (b", 12, 30);
    CpuTime time = proc().cpuTime(Set.of(7L));
    assertThat(time.tickNanos()).isEqualTo(420_000_000);
    assertThat(time.threadNanos()).isEqualTo(CpuTime.ABSENT);
  }

  @Test
  void addsTheThreadsOfAllProcesses() throws Exception {
    process(7, "java", 1, 1);
    thread(7, 7, 5_000_001);
    thread(7, 8, 6_000_000);
    process(9, "java", 2, 0);
    thread(9, 9, 9_000_000);
    CpuTime time = proc().cpuTime(Set.of(7L, 9L));
    assertThat(time).isEqualTo(new CpuTime(40_000_000, 20_000_001));
  }

  @Test
  void addsMemoryAndThreadsOfAllProcesses() throws Exception {
    for (int pid : new int[] {7, 9}) {
      process(pid, "java", 1, 1);
      Files.writeString(
          root.resolve(pid + "/status"), "Name:\tVmRSS: 1\nVmRSS:\t  2048 kB\nThreads:\t3\n");
    }
    assertThat(proc().footprint(Set.of(7L, 9L))).isEqualTo(new ProcFiles.Footprint(4L << 20, 6));
    assertThat(proc().footprint(Set.of())).isEqualTo(new ProcFiles.Footprint(0, 0));
    assertThatThrownBy(() -> proc().footprint(Set.of(8L))).hasMessage("process 8 has ended");
  }

  @Test
  void namesTheProcessThatHasEnded() {
    assertThatThrownBy(() -> proc().cpuTime(Set.of(7L)))
        .isInstanceOf(IOException.class)
        .hasMessage("process 7 has ended");
  }

  @Test
  void findsAllThatHoldAListeningSocketOfThePort() throws Exception {
    Files.createDirectories(root.resolve("net"));
    Files.writeString(root.resolve("net/tcp"), TCP);
    process(7, "master", 1, 1);
    descriptor(7, 3, "socket:[4711]");
    process(8, "worker", 1, 1);
    descriptor(8, 0, "pipe:[17]");
    descriptor(8, 3, "socket:[4711]");
    process(9, "client", 1, 1);
    descriptor(9, 3, "socket:[4712]");
    process(10, "other", 1, 1);
    descriptor(10, 3, "socket:[4713]");
    assertThat(proc().listeners(8_080)).containsExactly(7L, 8L);
    assertThat(proc().listeners(8_082)).isEmpty();
  }

  @Test
  void tellsHowBusyTheMachineWas() throws Exception {
    Files.writeString(root.resolve("stat"), "cpu  10 0 20 50 20 0 0 0 0 0\ncpu0 1 1\n");
    MachineTime begin = proc().machineTime();
    Files.writeString(root.resolve("stat"), "cpu  40 0 50 80 30 0 0 0 0 0\ncpu0 1 1\n");
    assertThat(begin).isEqualTo(new MachineTime(30, 100));
    assertThat(proc().machineTime().busyShareSince(begin)).isEqualTo(0.6);
  }

  @Test
  @EnabledOnOs(OS.LINUX)
  void readsTheRealOnesOfThisProcess() throws Exception {
    ProcFiles proc = ProcFiles.ofTheMachine();
    long self = ProcessHandle.current().pid();
    try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      assertThat(proc.listeners(socket.getLocalPort())).containsExactly(self);
    }
    CpuTime begin = proc.cpuTime(Set.of(self));
    long used = 0;
    while (used < 30_000_000) { // ends as soon as this very loop has used that much
      used = proc.cpuTime(Set.of(self)).nanosSince(begin);
    }
    assertThat(used).isGreaterThanOrEqualTo(30_000_000);
  }

  private ProcFiles proc() {
    return new ProcFiles(root);
  }

  private void process(int pid, String name, int userTicks, int systemTicks) throws IOException {
    Files.createDirectories(root.resolve(pid + "/task"));
    Files.createDirectories(root.resolve(pid + "/fd"));
    Files.writeString(
        root.resolve(pid + "/stat"),
        "%d (%s) S 1 7 7 0 -1 4194304 99 5 0 0 %d %d 1000 1000 20 0 1 0 449106 3133440 390\n"
            .formatted(pid, name, userTicks, systemTicks));
  }

  private void thread(int pid, int thread, long nanos) throws IOException {
    Path task = root.resolve(pid + "/task/" + thread);
    Files.createDirectories(task);
    Files.writeString(task.resolve("schedstat"), nanos + " 123456789 42\n");
  }

  private void descriptor(int pid, int number, String target) throws IOException {
    Files.createSymbolicLink(root.resolve(pid + "/fd/" + number), Path.of(target));
  }
}
