package dev.warmpath.simulator.cli;

import dev.warmpath.router.cli.Exit;
import dev.warmpath.router.cli.WarmpathCommand;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;

/**
 * {@code warmpath replay}: what can be done with capture files.
 *
 * <p>Confined to the main thread.
 */
@Command(
    name = "replay",
    description = "Works with capture files (*.wpc, *.wpc.gz) of engines' event streams.",
    mixinStandardHelpOptions = true,
    footer = {
      "",
      "Examples:",
      "  warmpath replay verify captures/*.wpc.gz --json",
      "  warmpath replay inspect a.wpc.gz --limit 20"
    },
    subcommands = {
      InspectCommand.class,
      VerifyCommand.class,
      PublishCommand.class,
      StatsCommand.class,
      CutCommand.class,
      MergeCommand.class,
      DiffCommand.class
    })
public final class ReplayCommand implements WarmpathCommand {

  @SuppressWarnings("NullAway.Init")
  @Spec
  private CommandSpec spec;

  @Override
  public Integer call() {
    spec.commandLine().usage(spec.commandLine().getErr());
    return Exit.USAGE;
  }
}
