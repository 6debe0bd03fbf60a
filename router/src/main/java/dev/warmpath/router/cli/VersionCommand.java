package dev.warmpath.router.cli;

import picocli.CommandLine.Command;
import picocli.CommandLine.IVersionProvider;

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

  /**
   * Says which build this is.
   *
   * <p>Immutable.
   */
  static final class Version implements IVersionProvider {

    @Override
    public String[] getVersion() {
      return new String[] {
        "warmpath " + number(), "Java " + Runtime.version() + ", " + System.getProperty("os.arch")
      };
    }

    /** The version in the jar's manifest; "dev" when run from classes. */
    static String number() {
      String version = Version.class.getPackage().getImplementationVersion();
      return version == null ? "dev" : version;
    }
  }
}
