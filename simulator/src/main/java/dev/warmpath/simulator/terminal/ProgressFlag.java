package dev.warmpath.simulator.terminal;

import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/**
 * {@code --progress}: shows how far long work has come.
 *
 * <p>Without the flag it is shown for long work when the launcher says that somebody looks at the
 * error output.
 *
 * <p>Confined to the main thread.
 */
public final class ProgressFlag {

  /** Set by the launcher when the error output is a terminal. */
  private static final String TERMINAL = "warmpath.terminal";

  private static final long LONG_BYTES = 4_000_000;

  @SuppressWarnings("NullAway.Init")
  @Spec(Spec.Target.MIXEE)
  private CommandSpec spec;

  @Option(
      names = "--progress",
      negatable = true,
      description = {
        "Show on stderr how much is done, how fast, and how long it will take.",
        "Default: for long work when stderr is a terminal."
      })
  private @Nullable Boolean wanted;

  /**
   * Begins to read.
   *
   * @param passes how often each file is read
   */
  public ReadingProgress of(List<Path> files, int passes) {
    PrintWriter err = spec.commandLine().getErr();
    long bytes = passes * files.stream().mapToLong(ProgressFlag::size).sum();
    boolean shown = wanted == null ? Boolean.getBoolean(TERMINAL) && bytes >= LONG_BYTES : wanted;
    if (!shown || bytes == 0) {
      return new ReadingProgress(null, err);
    }
    String name = files.size() == 1 ? String.valueOf(files.get(0).getFileName()) : spec.name();
    return new ReadingProgress(bar(name, bytes, ProgressBar.Unit.MEGABYTES), err);
  }

  /** A bar for long work that is counted; null if none is to be shown. */
  public @Nullable ProgressBar counting(String name, long total) {
    boolean shown = wanted == null ? Boolean.getBoolean(TERMINAL) : wanted;
    return shown ? bar(name, total, ProgressBar.Unit.COUNT) : null;
  }

  private ProgressBar bar(String name, long total, ProgressBar.Unit unit) {
    PrintWriter err = spec.commandLine().getErr();
    return new ProgressBar(
        text -> {
          err.print(text);
          err.flush();
        },
        name,
        total,
        unit,
        System::nanoTime);
  }

  /** What cannot be read is found out when it is opened. */
  private static long size(Path file) {
    try {
      return Files.isRegularFile(file) ? Files.size(file) : 0;
    } catch (IOException e) {
      return 0;
    }
  }
}
