package dev.warmpath.simulator.cli;

import dev.warmpath.router.cli.CommandException;
import dev.warmpath.simulator.capture.FaultyFeed.Faults;
import dev.warmpath.simulator.terminal.DurationText;
import dev.warmpath.simulator.terminal.ShareText;
import java.time.Duration;
import picocli.CommandLine.Option;

/**
 * What goes wrong on the way, as flags; a share is 0.01 or 1%.
 *
 * <p>Confined to the main thread.
 */
final class FaultFlags {

  @Option(
      names = "--drop",
      paramLabel = "SHARE",
      description = "Share of the messages that are lost on the way, such as 1%%.")
  private String drop = "0";

  @Option(
      names = "--duplicate",
      paramLabel = "SHARE",
      description = "Share of the messages that come twice.")
  private String duplicate = "0";

  @Option(
      names = "--reorder",
      paramLabel = "SHARE",
      description = "Share of the messages that come behind the next one.")
  private String reorder = "0";

  @Option(
      names = "--corrupt",
      paramLabel = "SHARE",
      description = "Share of the messages that are cut in the middle.")
  private String corrupt = "0";

  @Option(
      names = "--restart-at",
      paramLabel = "N",
      description = "After N messages the numbers begin at 0 again, as of another process.")
  private long restartAt;

  @Option(
      names = "--delay",
      paramLabel = "TIME",
      converter = DurationText.class,
      description = "Each message is late by up to this, such as 50ms; for publish.")
  private Duration delay = Duration.ZERO;

  @Option(
      names = "--fault-seed",
      paramLabel = "N",
      description = "Which messages are hit. Default: ${DEFAULT-VALUE}.")
  private long seed = 1;

  Faults faults() {
    if (restartAt < 0) {
      throw CommandException.usage("--restart-at " + restartAt + ": must be at least 0");
    }
    Faults faults =
        new Faults(
            ShareText.share("--drop", drop),
            ShareText.share("--duplicate", duplicate),
            ShareText.share("--reorder", reorder),
            ShareText.share("--corrupt", corrupt),
            restartAt,
            delay,
            seed);
    return faults.equals(new Faults(0, 0, 0, 0, 0, Duration.ZERO, seed)) ? Faults.NONE : faults;
  }

  /** Refuses {@code --delay}, for the reason given. */
  void requireNoDelay(String why) {
    if (!delay.isZero()) {
      throw CommandException.usage("--delay: " + why);
    }
  }
}
