package dev.warmpath.lab.bench;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.stream.Stream;

/** Folders for the logs of a bench. */
public final class TemporaryFolder {

  private TemporaryFolder() {}

  /** One that is there until this process ends, however it does. */
  public static Path create(String prefix) throws IOException {
    Path folder = Files.createTempDirectory(prefix);
    Runtime.getRuntime().addShutdownHook(new Thread(() -> delete(folder), "delete-logs"));
    return folder;
  }

  private static void delete(Path folder) {
    try (Stream<Path> files = Files.walk(folder)) {
      for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
        Files.deleteIfExists(file);
      }
    } catch (IOException e) {
      return; // a log of a process that has not ended; the system clears its folder
    }
  }
}
