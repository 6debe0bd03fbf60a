package dev.warmpath.lab;

import dev.warmpath.lab.chaos.ChaosCommand;
import dev.warmpath.lab.fleet.BenchChooseCommand;
import dev.warmpath.lab.fleet.BenchClusterCommand;
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
import dev.warmpath.lab.tokens.CompareTokensCommand;
import dev.warmpath.router.cli.Exit;
import dev.warmpath.router.cli.Main;
import dev.warmpath.router.cli.WarmpathCommand;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;

/** The program {@code warmpath} of a clone: all that a distribution has, and the laboratory. */
public final class Lab {

  private Lab() {}

  /** Runs the program and ends the process with its exit code. */
  public static void main(String[] args) {
    System.exit(commandLine().execute(args));
  }

  static CommandLine commandLine() {
    return Main.commandLine(new BenchCommand(), new ChaosCommand(), new CompareTokensCommand());
  }

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
  private static final class BenchCommand implements WarmpathCommand {

    @SuppressWarnings("NullAway.Init")
    @Spec
    private CommandSpec spec;

    @Override
    public Integer call() {
      spec.commandLine().usage(spec.commandLine().getErr());
      return Exit.USAGE;
    }
  }
}
