package dev.warmpath.router.cli;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.ServiceLoader;
import java.util.TreeMap;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Help;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.UsageMessageSpec;
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
    versionProvider = VersionCommand.Version.class,
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

  /**
   * How help is laid out: sentences are wrapped at the terminal's width, wherever their source
   * breaks its lines; lines that begin with a space are examples, and stay as they are.
   */
  static final class HelpText {

    private HelpText() {}

    /** Lays out the help of a command and of all below it. */
    static void apply(CommandLine line) {
      line.setUsageHelpAutoWidth(true);
      UsageMessageSpec usage = line.getCommandSpec().usageMessage();
      usage.description(sentences(usage.description()));
      usage.footer(paragraphs(usage.footer()));
      line.getHelpSectionMap().put(UsageMessageSpec.SECTION_KEY_FOOTER, HelpText::footer);
      line.getSubcommands().values().forEach(HelpText::apply);
    }

    /** The first sentence, which lists of commands show, and the others. */
    private static String[] sentences(String... lines) {
      String text = String.join(" ", lines).strip();
      int end = text.indexOf(". ");
      return end < 0
          ? new String[] {text}
          : new String[] {text.substring(0, end + 1), text.substring(end + 2)};
    }

    private static String[] paragraphs(String... lines) {
      List<String> paragraphs = new ArrayList<>();
      boolean goesOn = false;
      for (String line : lines) {
        boolean isProse = !line.isEmpty() && line.charAt(0) != ' ';
        if (isProse && goesOn) {
          int last = paragraphs.size() - 1;
          paragraphs.set(last, paragraphs.get(last) + " " + line);
        } else {
          paragraphs.add(line);
        }
        goesOn = isProse;
      }
      return paragraphs.toArray(String[]::new);
    }

    private static String footer(Help help) {
      StringBuilder text = new StringBuilder();
      int width = help.commandSpec().usageMessage().width();
      for (String line : help.commandSpec().usageMessage().footer()) {
        if (line.startsWith(" ") || line.length() < width) {
          text.append(line).append(System.lineSeparator());
        } else {
          wrap(line, width, text);
        }
      }
      return text.toString();
    }

    private static void wrap(String prose, int width, StringBuilder into) {
      int column = 0;
      for (String word : prose.split(" ", 0)) {
        if (column > 0 && column + 1 + word.length() >= width) {
          into.append(System.lineSeparator());
          column = 0;
        }
        into.append(column == 0 ? "" : " ").append(word);
        column += word.length() + (column == 0 ? 0 : 1);
      }
      into.append(System.lineSeparator());
    }
  }
}
