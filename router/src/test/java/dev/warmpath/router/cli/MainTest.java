package dev.warmpath.router.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import picocli.CommandLine;
import picocli.CommandLine.Command;

final class MainTest {

  private final StringWriter err = new StringWriter();

  @Test
  void findsCommandsThroughTheServiceLoader() {
    Map<String, CommandLine> commands = Main.commandLine().getSubcommands();

    assertThat(commands).containsKey("version");
    assertThat(Main.run("version")).isEqualTo(Exit.OK);
  }

  @Test
  void everyCommandExplainsItself() {
    Main.commandLine()
        .getSubcommands()
        .forEach((name, line) -> {
          assertThat(line.getCommandSpec().usageMessage().description()).as(name).isNotEmpty();
          assertThat(line.getCommandSpec().mixinStandardHelpOptions())
              .as(name + " --help")
              .isTrue();
        });
  }

  @Test
  void everyHelpTextPrintsWithoutTrouble() {
    Main.commandLine()
        .getSubcommands()
        .keySet()
        .forEach(name -> assertThat(run(name, "--help")).as(name).isEqualTo(Exit.OK));
    assertThat(err.toString()).isEmpty();
  }

  @ParameterizedTest
  @ValueSource(ints = {60, 80, 140})
  void examplesStayWholeAndProseIsWrappedAtTheWidth(int width) {
    CommandLine line = new CommandLine(new Explained());
    Main.HelpText.apply(line);
    line.setUsageHelpAutoWidth(false).setUsageHelpWidth(width);
    String help = line.getUsageMessage(CommandLine.Help.Ansi.OFF);
    assertThat(help)
        .contains(
            "\n"
                + "  explained --url"
                + " http://127.0.0.1:8000,events=tcp://127.0.0.1:5557,replay=tcp://127.0.0.1:5657\n");
    assertThat(help.lines().filter(text -> !text.startsWith(" ")))
        .allSatisfy(text -> assertThat(text).hasSizeLessThanOrEqualTo(width));
    String oneLine = String.join(" ", help.lines().toList());
    assertThat(oneLine)
        .contains("Explains how a sentence goes on that its source breaks in the middle.")
        .contains("A second one. ")
        .contains("Prose below goes on too, over the end of a line.");
  }

  @Test
  void theListOfCommandsHasWholeSentences() {
    CommandLine line = new CommandLine(new Main()).addSubcommand(new Explained());
    Main.HelpText.apply(line);
    String help = String.join(" ", line.getUsageMessage().lines().map(String::strip).toList());
    assertThat(help)
        .contains("Explains how a sentence goes on that its source breaks in the middle.");
    assertThat(help).doesNotContain("A second one");
  }

  @Command(
      name = "explained",
      description = {
        "Explains how a sentence goes on",
        "that its source breaks in the middle. A second one."
      },
      footer = {
        "",
        "Prose below goes on too,",
        "over the end of a line.",
        "  explained --url"
            + " http://127.0.0.1:8000,events=tcp://127.0.0.1:5557,replay=tcp://127.0.0.1:5657"
      })
  private static final class Explained implements Runnable {
    @Override
    public void run() {}
  }

  @Test
  void anUnknownCommandIsAUsageError() {
    assertThat(run("serf")).isEqualTo(Exit.USAGE);
    assertThat(err.toString()).contains("serf");
  }

  @Test
  void wrongUsageIsOneLineThatNamesTheFlag() {
    assertThat(run("serve", "--port", "abc")).isEqualTo(Exit.USAGE);
    assertThat(err.toString().lines()).singleElement().asString().contains("--port", "abc");
  }

  @Test
  void anExpectedFailureIsOneLine() {
    CommandLine line =
        Main.commandLine().addSubcommand(new Failing()).setErr(new PrintWriter(err, true));

    assertThat(line.execute("failing")).isEqualTo(Exit.FAILED);
    assertThat(err.toString().lines())
        .containsExactly("warmpath failing: file.yaml:3: no such key");
  }

  private int run(String... args) {
    return Main.commandLine().setErr(new PrintWriter(err, true)).execute(args);
  }

  @Command(name = "failing")
  static final class Failing implements WarmpathCommand {
    @Override
    public Integer call() {
      throw CommandException.failed("file.yaml:3: no such key");
    }
  }
}
