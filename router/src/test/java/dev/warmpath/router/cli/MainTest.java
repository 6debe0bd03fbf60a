package dev.warmpath.router.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.Map;
import org.junit.jupiter.api.Test;
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
