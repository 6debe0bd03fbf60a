package dev.warmpath.router.cli;

import picocli.CommandLine.Command;

/**
 * {@code warmpath version}: prints the version of the program and of the JVM that runs it.
 *
 * <p>Confined to the main thread.
 */
@Command(
    name = "version",
    description = "Prints the version of the program and of the JVM that runs it.",
    mixinStandardHelpOptions = true,
    footer = {"", "Example:", "  warmpath version"})
public final class VersionCommand implements WarmpathCommand {

  @Override
  public Integer call() {
    for (String line : new Version().getVersion()) {
      System.out.println(line);
    }
    return Exit.OK;
  }
}
