package dev.warmpath.lab;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;
import picocli.CommandLine;
import picocli.CommandLine.Help.Ansi;

/** The help of all commands, those of a distribution among them. */
class HelpTest {

  private static final int WIDTH = 80;

  /** Such a default is no limit, or nothing. */
  private static final Set<String> NONE = Set.of("0", "0.0", "2147483647", "");

  @Test
  void everyDefaultIsShown() {
    List<String> silent = new ArrayList<>();
    for (CommandLine line : all(Lab.commandLine(), new ArrayList<>())) {
      for (CommandLine.Model.OptionSpec option : line.getCommandSpec().options()) {
        String value = defaultOf(option);
        String text = String.join(" ", option.description());
        if (!NONE.contains(value) && !text.contains("${DEFAULT-VALUE}") && !text.contains(value)) {
          silent.add(line.getCommandName() + " " + option.longestName() + ": " + value);
        }
      }
    }
    assertThat(silent).isEmpty();
  }

  private static String defaultOf(CommandLine.Model.OptionSpec option) {
    Object value = option.defaultValue() == null ? option.initialValue() : option.defaultValue();
    return value instanceof Number || value instanceof String ? value.toString() : "";
  }

  @Test
  void examplesCanBePasted() {
    for (CommandLine line : all(Lab.commandLine(), new ArrayList<>())) {
      String help =
          line.setUsageHelpAutoWidth(false).setUsageHelpWidth(WIDTH).getUsageMessage(Ansi.OFF);
      List<String> examples =
          List.of(line.getCommandSpec().usageMessage().footer()).stream()
              .filter(text -> text.startsWith(" "))
              .toList();
      assertThat(help.lines()).as(line.getCommandName()).containsAll(examples);
    }
  }

  @Test
  void listsOfCommandsHaveWholeSentences() {
    for (CommandLine line : all(Lab.commandLine(), new ArrayList<>())) {
      String[] description = line.getCommandSpec().usageMessage().description();
      assertThat(description).as(line.getCommandName()).isNotEmpty();
      assertThat(description[0]).as(line.getCommandName()).endsWith(".");
    }
  }

  private static List<CommandLine> all(CommandLine line, List<CommandLine> into) {
    into.add(line);
    line.getSubcommands().values().forEach(below -> all(below, into));
    return into;
  }
}
