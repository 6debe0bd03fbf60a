package dev.warmpath.router.cli;

/** The exit codes of {@code warmpath}. Immutable. */
public final class Exit {

  /** All went well. */
  public static final int OK = 0;

  /** A check failed, or something that the command needed was not there. */
  public static final int FAILED = 1;

  /** The command line or a configuration file is wrong. */
  public static final int USAGE = 2;

  /** The Java heap is full; the JVM's own code for it. */
  public static final int NO_MEMORY = 3;

  private Exit() {}
}
