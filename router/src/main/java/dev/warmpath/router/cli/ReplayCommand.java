package dev.warmpath.router.cli;

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
    subcommands = {InspectCommand.class, VerifyCommand.class})
public final class ReplayCommand implements WarmpathCommand {

  @Spec private CommandSpec spec;

  @Override
  public Integer call() {
    spec.commandLine().usage(spec.commandLine().getErr());
    return Exit.USAGE;
  }
}
