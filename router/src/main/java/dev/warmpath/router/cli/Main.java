package dev.warmpath.router.cli;

import java.util.List;
import java.util.Map;
import java.util.ServiceLoader;
import java.util.TreeMap;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;

/**
 * The program {@code warmpath}: finds the subcommands on the class path and runs the one that was
 * asked for.
 *
 * <p>Confined to the main thread.
 */
@Command(
    name = "warmpath",
    description = "Routes LLM requests to the replica that already holds their prefix.",
    mixinStandardHelpOptions = true,
    versionProvider = Version.class,
    synopsisSubcommandLabel = "COMMAND",
    footer = {
      "",
      "Exit codes: 0 all went well; 1 a check or the work failed; 2 wrong usage; 3 out of memory.",
      "",
      "Try: warmpath demo",
      "     warmpath serve --help"
    })
public final class Main implements WarmpathCommand {

  @SuppressWarnings("NullAway.Init")
  @Spec
  private CommandSpec spec;

  /** Runs the program and ends the process with its exit code. */
  public static void main(String[] args) {
    System.exit(run(args));
  }

  static int run(String... args) {
    return commandLine().execute(args);
  }

  /**
   * The program with the commands on the class path and {@code more}, which take the place of
   * commands of their names.
   */
  public static CommandLine commandLine(WarmpathCommand... more) {
    Map<String, WarmpathCommand> commands = new TreeMap<>();
    ServiceLoader.load(WarmpathCommand.class).forEach(found -> commands.put(name(found), found));
    List.of(more).forEach(added -> commands.put(name(added), added));
    CommandLine line = new CommandLine(new Main());
    commands.values().forEach(line::addSubcommand);
    line.setExecutionExceptionHandler(Main::report);
    line.setParameterExceptionHandler(Main::misused);
    line.setCaseInsensitiveEnumValuesAllowed(true);
    HelpText.apply(line);
    return line;
  }

  @Override
  public Integer call() {
    spec.commandLine().usage(System.err);
    return Exit.USAGE;
  }

  private static String name(WarmpathCommand command) {
    return command.getClass().getAnnotation(Command.class).name();
  }

  private static int report(Exception failure, CommandLine line, CommandLine.ParseResult parsed) {
    if (failure instanceof CommandException expected) {
      line.getErr().println(line.getCommandSpec().qualifiedName() + ": " + expected.getMessage());
      return expected.exitCode();
    }
    failure.printStackTrace(line.getErr());
    return Exit.FAILED;
  }

  private static int misused(CommandLine.ParameterException failure, String[] args) {
    CommandLine line = failure.getCommandLine();
    String command = line.getCommandSpec().qualifiedName();
    line.getErr().printf("%s: %s; try: %s --help%n", command, failure.getMessage(), command);
    return Exit.USAGE;
  }
}
