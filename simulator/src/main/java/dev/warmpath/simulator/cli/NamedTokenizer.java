package dev.warmpath.simulator.cli;

import dev.warmpath.router.tokenize.HubFiles;
import dev.warmpath.router.tokenize.HubListener;
import dev.warmpath.router.tokenize.HubPlace;
import dev.warmpath.simulator.terminal.ProgressBar;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/**
 * A tokenizer as a flag names it: a model directory, a {@code tokenizer.json}, or a place on the
 * hub.
 *
 * @param place as given
 */
public record NamedTokenizer(String place) {

  /** Set by the launcher when the error output is a terminal. */
  private static final String TERMINAL = "warmpath.terminal";

  /**
   * Its files, which are downloaded if need be; {@code err} shows how far that is if somebody
   * looks.
   *
   * @throws dev.warmpath.tokenizer.files.TokenizerLoadException if they cannot be had
   */
  public Path files() {
    if (!HubPlace.isOne(place)) {
      return Path.of(place);
    }
    Bar bar = new Bar();
    try {
      return HubFiles.ofTheMachine()
          .find(place, Boolean.getBoolean(TERMINAL) ? bar : HubListener.NONE);
    } finally {
      bar.end();
    }
  }

  /** What a model is called if nobody says otherwise. */
  public String model() {
    if (HubPlace.isOne(place)) {
      return HubPlace.parse(place).repository();
    }
    Path name = Path.of(place).toAbsolutePath().normalize().getFileName();
    return name == null ? place : name.toString();
  }

  private static final class Bar implements HubListener {

    private @Nullable ProgressBar bar;

    @Override
    public synchronized void show(long bytes, long totalBytes) {
      if (bar == null) {
        bar =
            new ProgressBar(
                Bar::print, "download", totalBytes, ProgressBar.Unit.MEGABYTES, System::nanoTime);
      }
      bar.show(bytes);
    }

    @Override
    public void retried() {
      // the bar stands still meanwhile
    }

    synchronized void end() {
      if (bar != null) {
        bar.end();
      }
    }

    private static void print(String text) {
      System.err.print(text);
      System.err.flush();
    }
  }
}
