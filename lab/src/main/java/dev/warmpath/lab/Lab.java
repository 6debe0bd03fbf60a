package dev.warmpath.lab;

import dev.warmpath.lab.chaos.ChaosCommand;
import dev.warmpath.lab.tokens.CompareTokensCommand;
import dev.warmpath.router.cli.Main;
import picocli.CommandLine;

/** The program {@code warmpath} of a clone: all that a distribution has, and the laboratory. */
public final class Lab {

  private Lab() {}

  /** Runs the program and ends the process with its exit code. */
  public static void main(String[] args) {
    System.exit(commandLine().execute(args));
  }

  static CommandLine commandLine() {
    return Main.commandLine(new BenchCommand(), new ChaosCommand(), new CompareTokensCommand());
  }
}
