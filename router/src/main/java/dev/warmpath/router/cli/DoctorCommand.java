package dev.warmpath.router.cli;

import dev.warmpath.router.config.ConfigException;
import dev.warmpath.router.config.RouterConfig;
import dev.warmpath.router.doctor.DoctorReport;
import dev.warmpath.router.doctor.FleetProbe;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.util.Objects;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/**
 * {@code warmpath doctor}: examines the engines of a configuration and tells what to change.
 *
 * <p>Confined to the main thread.
 */
@Command(
    name = "doctor",
    description = {
      "Examines the engines of a configuration: reachable, events, replay, blocks, tokens,",
      "cached tokens, limits. Each finding says what to change. Ends with 1 if a check failed."
    },
    mixinStandardHelpOptions = true,
    footer = {
      "",
      "Each engine gets two requests for one token each, unless --no-requests forbids it.",
      "",
      "Examples:",
      "  warmpath doctor --config warmpath.yaml",
      "  warmpath doctor --json --tokenizer qwen3=/models/qwen3 \\",
      "    --replica a=http://127.0.0.1:8001,events=tcp://127.0.0.1:5557,replay=tcp://127.0.0.1:5657"
    })
public final class DoctorCommand implements WarmpathCommand {

  @Mixin private ServeFlags flags = new ServeFlags();

  @Option(names = "--no-requests", description = "Send the engines no requests.")
  private boolean noRequests;

  @Option(
      names = "--wait",
      paramLabel = "SECONDS",
      defaultValue = "5",
      description = "Longest wait for a connection, a replay or an event (${DEFAULT-VALUE}).")
  private int waitSeconds;

  @Option(names = "--json", description = "Print one JSON object.")
  private boolean json;

  @Override
  public Integer call() throws InterruptedException {
    if (waitSeconds < 1) {
      throw CommandException.usage("--wait=" + waitSeconds + " must be at least 1");
    }
    FleetProbe.Options options =
        new FleetProbe.Options(!noRequests, Duration.ofSeconds(waitSeconds));
    DoctorReport report = examine(options);
    System.out.println(json ? report.json() : report.text());
    return report.passed() ? Exit.OK : Exit.FAILED;
  }

  private DoctorReport examine(FleetProbe.Options options) throws InterruptedException {
    try {
      return DoctorReport.of(config(), options);
    } catch (UncheckedIOException e) {
      throw CommandException.failed(
          String.valueOf(Objects.requireNonNull(e.getCause()).getMessage()));
    }
  }

  private RouterConfig config() {
    try {
      return flags.config();
    } catch (ConfigException e) {
      throw CommandException.usage(String.join(System.lineSeparator(), e.problems()));
    }
  }
}
