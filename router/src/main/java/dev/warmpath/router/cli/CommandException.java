package dev.warmpath.router.cli;

/**
 * Ends a command with one line that names what is wrong and where: the flag, the file, the line.
 *
 * <p>Immutable.
 */
public final class CommandException extends RuntimeException {

  private static final long serialVersionUID = 1L;

  private final int exitCode;

  private CommandException(int exitCode, String message) {
    super(message);
    this.exitCode = exitCode;
  }

  /** The command line or a configuration file is wrong. */
  public static CommandException usage(String message) {
    return new CommandException(Exit.USAGE, message);
  }

  /** The command was understood and could not be done. */
  public static CommandException failed(String message) {
    return new CommandException(Exit.FAILED, message);
  }

  int exitCode() {
    return exitCode;
  }
}
