package dev.warmpath.simulator.study;

import dev.warmpath.simulator.trace.Trace;
import dev.warmpath.simulator.trace.TraceException;
import dev.warmpath.simulator.trace.TraceFile;
import dev.warmpath.simulator.trace.TraceFormat;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** Chats made by chance, for tests. */
public final class Chats {

  private Chats() {}

  /** The chats of one line of the format {@code generate}. */
  public static Trace trace(String line) {
    try {
      Path folder = Files.createTempDirectory("chats");
      Path file = Files.writeString(folder.resolve("chats.jsonl"), line);
      Trace trace = TraceFile.read(file, TraceFormat.GENERATE, 1);
      Files.delete(file);
      Files.delete(folder);
      return trace;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } catch (TraceException e) {
      throw new IllegalArgumentException(e);
    }
  }
}
