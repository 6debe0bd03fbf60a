package dev.warmpath.lab.bench;

import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/**
 * Where a bench writes: the flag for the form of its report.
 *
 * <p>Confined to the main thread.
 */
public class BenchOutput {

  @SuppressWarnings("NullAway.Init")
  @Spec(Spec.Target.MIXEE)
  private CommandSpec spec;

  @Option(
      names = "--json",
      description = "Print one JSON object on the last line of the output; prose goes to stderr.")
  private boolean json;

  /** A new folder that is there until this process ends, however it does. */
  public static Path temporaryFolder(String prefix) throws IOException {
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

  /** Shows a line of progress. */
  public final void progress(String line) {
    say(spec.commandLine().getErr(), line);
  }

  /** Where people read: the output, or the error output if the output is for programs. */
  public final PrintWriter prose() {
    return json ? spec.commandLine().getErr() : spec.commandLine().getOut();
  }

  /** Prints a report: its table, and its JSON if that is wanted. */
  public final void report(Consumer<PrintWriter> table, ObjectNode figures) {
    table.accept(prose());
    printJson(figures);
  }

  /** Prints the figures if JSON is wanted. */
  public final void printJson(ObjectNode figures) {
    if (json) {
      print(figures.toString());
    }
  }

  /** Prints a line of the output. */
  public final void print(String line) {
    say(spec.commandLine().getOut(), line);
  }

  private static void say(PrintWriter to, String line) {
    to.println(line);
    to.flush();
  }

  /**
   * The same of a bench of several processes, which have logs.
   *
   * <p>Confined to the main thread.
   */
  public static final class WithLogs extends BenchOutput {

    @Option(names = "--dir", description = "Where logs of the processes go; default: temporary.")
    private @Nullable Path directory;

    /** The folder for logs, which exists; without {@code --dir} one that ends with this process. */
    public Path directory(String prefix) throws IOException {
      return directory == null ? temporaryFolder(prefix) : Files.createDirectories(directory);
    }
  }
}
