package dev.warmpath.router.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.jar.JarEntry;
import java.util.jar.JarOutputStream;
import javax.tools.ToolProvider;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;

/** The script {@code bin/warmpath} in a distribution whose program does what a test wants. */
@EnabledOnOs({OS.LINUX, OS.MAC})
class LauncherTest {

  private static final Path PROJECT = Path.of("").toAbsolutePath().getParent();

  /** One of its threads runs out of heap; the others would go on. */
  private static final String FILLS_THE_HEAP =
      """
      package dev.warmpath.router.cli;

      public final class Main {
        public static void main(String[] arguments) throws InterruptedException {
          Thread thread = new Thread(() -> {
            java.util.List<byte[]> kept = new java.util.ArrayList<>();
            while (true) {
              kept.add(new byte[1 << 16]);
            }
          });
          thread.start();
          thread.join();
        }
      }
      """;

  @TempDir private Path home;

  @Test
  void aHeapThatRanOutEndsTheProcess() throws Exception {
    distribute(FILLS_THE_HEAP);
    ProcessBuilder builder =
        new ProcessBuilder("bash", home.resolve("bin/warmpath").toString(), "version")
            .redirectErrorStream(true)
            .redirectOutput(home.resolve("out").toFile());
    builder.environment().remove("WARMPATH_JAVA_HOME");
    builder.environment().put("WARMPATH_JAVA_OPTS", "-Xmx16m");
    Process process = builder.start();
    try {
      assertThat(process.waitFor(60, TimeUnit.SECONDS)).isTrue();
      String out = Files.readString(home.resolve("out"));
      assertThat(process.exitValue()).as(out).isEqualTo(3);
      assertThat(out).contains("OutOfMemoryError");
    } finally {
      process.destroyForcibly();
    }
  }

  /** The build ends when another command waits for it, or has begun one too. */
  private static final String BUILDS =
      """
      #!/usr/bin/env bash
      cd "$(dirname "$0")"
      echo >>builds
      until grep -qs waiting out-* || [ "$(wc -l <builds)" -gt 1 ]; do sleep 0.02; done
      mkdir -p lab/target/warmpath
      """;

  @Test
  @EnabledOnOs(OS.LINUX)
  void commandsThatAreStartedTogetherBuildOnce() throws Exception {
    Files.createDirectories(home.resolve("bin"));
    Files.copy(PROJECT.resolve("bin/warmpath"), home.resolve("bin/warmpath"));
    Files.writeString(home.resolve("pom.xml"), "");
    Files.writeString(home.resolve("mvn"), BUILDS);
    assertThat(home.resolve("mvn").toFile().setExecutable(true)).isTrue();
    List<Process> commands = new ArrayList<>();
    try {
      for (int i = 0; i < 2; i++) {
        ProcessBuilder builder =
            new ProcessBuilder("bash", home.resolve("bin/warmpath").toString(), "version")
                .redirectErrorStream(true)
                .redirectOutput(home.resolve("out-" + i).toFile());
        builder.environment().merge("PATH", home + ":", (path, first) -> first + path);
        commands.add(builder.start());
      }
      for (Process command : commands) {
        assertThat(command.waitFor(60, TimeUnit.SECONDS)).isTrue();
      }
      assertThat(Files.readAllLines(home.resolve("builds"))).hasSize(1);
    } finally {
      commands.forEach(Process::destroyForcibly);
    }
  }

  @Test
  void theServiceAndTheContainerAreStartedByIt() throws Exception {
    String unit = Files.readString(PROJECT.resolve("deploy/systemd/warmpath.service"));
    assertThat(unit.lines().filter(line -> line.startsWith("ExecStart=")))
        .isNotEmpty()
        .allMatch(line -> line.startsWith("ExecStart=/opt/warmpath/bin/warmpath serve "));
    assertThat(Files.readString(PROJECT.resolve("deploy/Dockerfile")))
        .contains("\nENTRYPOINT [\"/opt/warmpath/bin/warmpath\"]\n");
  }

  private void distribute(String program) throws Exception {
    Path java = Path.of(System.getProperty("java.home"));
    Files.createDirectories(home.resolve("runtime/bin"));
    Files.createDirectories(home.resolve("bin"));
    Files.createDirectories(home.resolve("lib"));
    Files.createSymbolicLink(home.resolve("runtime/bin/java"), java.resolve("bin/java"));
    Files.copy(java.resolve("release"), home.resolve("runtime/release"));
    Files.copy(PROJECT.resolve("bin/warmpath"), home.resolve("bin/warmpath"));
    Path source = Files.writeString(home.resolve("Main.java"), program);
    int compiled =
        ToolProvider.getSystemJavaCompiler()
            .run(null, null, null, "-d", home.toString(), source.toString());
    assertThat(compiled).isZero();
    String name = "dev/warmpath/router/cli/Main.class";
    try (OutputStream out = Files.newOutputStream(home.resolve("lib/program.jar"));
        JarOutputStream jar = new JarOutputStream(out)) {
      jar.putNextEntry(new JarEntry(name));
      Files.copy(home.resolve(name), jar);
    }
  }
}
