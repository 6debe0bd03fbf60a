package dev.warmpath.router.rig;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** The program in a process of its own, with the class path of the tests. */
public final class RouterCommand implements AutoCloseable {

  private static final Pattern ADDRESS = Pattern.compile("https?://[^ /]+");

  private final Process process;
  private final BufferedReader out;
  private final Path err;
  private final StringBuilder printed = new StringBuilder();
  private String url = "";
  private String adminUrl = "";

  public RouterCommand(List<String> options, List<String> arguments) {
    this(options, arguments, Map.of());
  }

  /** With these environment variables too. */
  public RouterCommand(
      List<String> options, List<String> arguments, Map<String, String> environment) {
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    if (Runtime.version().feature() >= 23) { // as the launcher does
      command.add("--enable-native-access=ALL-UNNAMED");
      command.add("--sun-misc-unsafe-memory-access=allow");
    }
    command.addAll(options);
    command.add("-Dlogback.configurationFile=logback.xml"); // not that of the tests
    command.add("-cp");
    command.add(System.getProperty("java.class.path"));
    command.add("dev.warmpath.router.cli.Main");
    command.addAll(arguments);
    try {
      err = Files.createTempFile("router", ".err");
      ProcessBuilder builder = new ProcessBuilder(command).redirectError(err.toFile());
      builder.environment().putAll(environment);
      process = builder.start();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    out = new BufferedReader(new InputStreamReader(process.getInputStream(), UTF_8));
  }

  /** Waits until it says where it listens. */
  public RouterCommand listening() {
    url = address("listens on");
    adminUrl = address("console");
    return this;
  }

  private String address(String words) {
    Matcher found = ADDRESS.matcher(awaitLine(words));
    if (!found.find()) {
      throw new IllegalStateException("no address: " + printed);
    }
    return found.group();
  }

  /** Waits for a line of its standard output that has these words. */
  public String awaitLine(String words) {
    try {
      for (String line = out.readLine(); line != null; line = out.readLine()) {
        printed.append(line).append('\n');
        if (line.contains(words)) {
          return line;
        }
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    throw new IllegalStateException("it ended: " + printed + errors());
  }

  /** Where clients connect. */
  public String url() {
    return url;
  }

  /** Where operators connect. */
  public String adminUrl() {
    return adminUrl;
  }

  /** Waits until it has ended. */
  public int exitCode() throws InterruptedException {
    if (!process.waitFor(60, TimeUnit.SECONDS)) {
      throw new IllegalStateException("it still runs: " + errors());
    }
    return process.exitValue();
  }

  /** What it has written to its standard error until now. */
  public String errors() {
    try {
      return Files.readString(err);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** What it has written to its standard output, of what was read. */
  public String printed() {
    return printed.toString();
  }

  @Override
  public void close() throws IOException {
    process.destroyForcibly();
    Files.delete(err);
  }
}
