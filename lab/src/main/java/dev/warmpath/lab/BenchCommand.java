package dev.warmpath.lab;

import dev.warmpath.lab.dispatch.BenchChooseCommand;
import dev.warmpath.lab.dispatch.BenchClusterCommand;
import dev.warmpath.lab.fleet.BenchConsoleCommand;
import dev.warmpath.lab.fleet.BenchFleetCommand;
import dev.warmpath.lab.gateway.BenchGatewayCommand;
import dev.warmpath.lab.gateway.BenchRestartCommand;
import dev.warmpath.lab.index.BenchChurnCommand;
import dev.warmpath.lab.index.BenchIndexCommand;
import dev.warmpath.lab.ingest.BenchFootprintCommand;
import dev.warmpath.lab.ingest.BenchIngestCommand;
import dev.warmpath.lab.ingest.BenchRecoveryCommand;
import dev.warmpath.lab.tokens.BenchTokenizeCommand;
import dev.warmpath.router.cli.Exit;
import dev.warmpath.router.cli.WarmpathCommand;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;

/**
 * {@code warmpath bench}: benchmarks that anyone can run.
 *
 * <p>Confined to the main thread.
 */
@Command(
    name = "bench",
    description = "Measures parts of Warmpath on this machine.",
    mixinStandardHelpOptions = true,
    subcommands = {
      BenchIndexCommand.class,
      BenchIngestCommand.class,
      BenchChurnCommand.class,
      BenchRecoveryCommand.class,
      BenchFootprintCommand.class,
      BenchChooseCommand.class,
      BenchClusterCommand.class,
      BenchTokenizeCommand.class,
      BenchGatewayCommand.class,
      BenchRestartCommand.class,
      BenchConsoleCommand.class,
      BenchFleetCommand.class
    })
final class BenchCommand implements WarmpathCommand {

  @SuppressWarnings("NullAway.Init")
  @Spec
  private CommandSpec spec;

  @Override
  public Integer call() {
    spec.commandLine().usage(spec.commandLine().getErr());
    return Exit.USAGE;
  }
}
