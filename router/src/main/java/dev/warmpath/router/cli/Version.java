package dev.warmpath.router.cli;

import picocli.CommandLine.IVersionProvider;

/**
 * Says which build this is.
 *
 * <p>Immutable.
 */
final class Version implements IVersionProvider {

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
