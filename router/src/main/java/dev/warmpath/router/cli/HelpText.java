package dev.warmpath.router.cli;

import java.util.ArrayList;
import java.util.List;
import picocli.CommandLine;
import picocli.CommandLine.Help;
import picocli.CommandLine.Model.UsageMessageSpec;

/**
 * How help is laid out: sentences are wrapped at the terminal's width, wherever their source breaks
 * its lines; lines that begin with a space are examples, and stay as they are.
 */
final class HelpText {

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
