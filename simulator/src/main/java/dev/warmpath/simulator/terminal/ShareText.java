package dev.warmpath.simulator.terminal;

import dev.warmpath.router.cli.CommandException;

/** Reads shares such as {@code 0.01} and {@code 1%}. Thread-safe. */
public final class ShareText {

  private ShareText() {}

  /**
   * The share from 0 to 1 that a flag was given.
   *
   * @throws CommandException naming the flag, if it is none
   */
  public static double share(String flag, String text) {
    double share;
    try {
      share =
          text.endsWith("%")
              ? Double.parseDouble(text.substring(0, text.length() - 1)) / 100
              : Double.parseDouble(text);
    } catch (NumberFormatException e) {
      share = -1;
    }
    if (!(share >= 0 && share <= 1)) {
      throw CommandException.usage(
          flag + " " + text + ": must be a share from 0 to 1, such as 0.01 or 1%");
    }
    return share;
  }
}
