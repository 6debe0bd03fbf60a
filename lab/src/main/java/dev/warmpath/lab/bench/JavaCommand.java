package dev.warmpath.lab.bench;

import dev.warmpath.router.cli.Main;
import java.lang.management.ManagementFactory;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** Command lines that run this very program in another process. */
public final class JavaCommand {

  /** {@code bin/warmpath} says here where it is. */
  private static final String LAUNCHER = "warmpath.launcher";

  private JavaCommand() {}

  /**
   * {@code warmpath ARGUMENTS} as a user runs it: by the launcher that ran this process, with
   * {@code WARMPATH_JAVA_OPTS}; without one by Java, with the options of this process.
   */
  public static List<String> warmpath(List<String> arguments) {
    List<String> command = new ArrayList<>();
    String launcher = System.getProperty(LAUNCHER);
    if (launcher != null) {
      command.add(launcher);
    } else {
      command.addAll(java(List.of("-X", "--enable-native-access", "--sun-misc")));
      command.add(Main.class.getName());
    }
    command.addAll(arguments);
    return command;
  }

  /** {@code main} with a small heap, whatever the options of this process. */
  public static List<String> small(Class<?> main, List<String> arguments) {
    return with(List.of("-Xmx128m", "-XX:+UseSerialGC"), main, arguments);
  }

  /** {@code main} with these options, whatever those of this process. */
  public static List<String> with(List<String> options, Class<?> main, List<String> arguments) {
    List<String> command = java(List.of("--enable-native-access", "--sun-misc"));
    command.addAll(1, options);
    command.add(main.getName());
    command.addAll(arguments);
    return command;
  }

  /** Java with those options of this process that begin so, and its class path. */
  private static List<String> java(List<String> kept) {
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    ManagementFactory.getRuntimeMXBean().getInputArguments().stream()
        .filter(option -> kept.stream().anyMatch(option::startsWith))
        .forEach(command::add);
    command.add("-cp");
    command.add(System.getProperty("java.class.path"));
    return command;
  }
}
