package dev.warmpath.lab.bench;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.io.Writer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * A process that this one has started; it ends with this one at the latest.
 *
 * <p>Confined to the thread of the bench.
 */
public final class ChildProcess implements AutoCloseable {

  private static final int LAST_LINES = 15;
  private static final int GRACE_SECONDS = 10;
  private static final long POLL_MILLIS = 10;

  private final String name;
  private final Path log;
  private final Process process;
  private final boolean leadsGroup;
  private final Thread hook;

  private ChildProcess(String name, Path log, Process process, boolean leadsGroup) {
    this.name = name;
    this.log = log;
    this.process = process;
    this.leadsGroup = leadsGroup;
    hook = new Thread(this::kill, "end-" + name);
    Runtime.getRuntime().addShutdownHook(hook);
  }

  /** Starts one; what it prints goes to {@code log}. */
  public static ChildProcess start(String name, List<String> command, Path log) throws IOException {
    ProcessBuilder builder = new ProcessBuilder(command).redirectErrorStream(true);
    return new ChildProcess(name, log, builder.redirectOutput(log.toFile()).start(), false);
  }

  /** Starts one to {@link #ask}; only what it prints as errors goes to {@code log}. */
  public static ChildProcess startTalking(String name, List<String> command, Path log)
      throws IOException {
    ProcessBuilder builder = new ProcessBuilder(command).redirectError(log.toFile());
    return new ChildProcess(name, log, builder.start(), false);
  }

  /**
   * Starts a shell command that leads a process group of its own; all of the group ends with it.
   * Needs {@code setsid}, as every Linux has it.
   */
  public static ChildProcess startGroup(String name, String shellCommand, Path log)
      throws IOException {
    ProcessBuilder builder = new ProcessBuilder("setsid", "sh", "-c", shellCommand);
    builder.redirectErrorStream(true).redirectOutput(log.toFile());
    return new ChildProcess(name, log, builder.start(), true);
  }

  public long pid() {
    return process.pid();
  }

  /** Waits until {@code condition} holds. */
  public void await(String what, Duration limit, Condition condition)
      throws IOException, InterruptedException {
    long begin = System.nanoTime();
    while (!condition.holds()) {
      requireAlive();
      if (System.nanoTime() - begin > limit.toNanos()) {
        throw new IOException(
            "%s: waited %d s in vain for %s%s".formatted(name, limit.toSeconds(), what, tail()));
      }
      TimeUnit.MILLISECONDS.sleep(POLL_MILLIS);
    }
  }

  /** Fails with the end of its log if it has ended. */
  public void requireAlive() throws IOException {
    if (!process.isAlive()) {
      throw new IOException("%s ended with %d%s".formatted(name, process.exitValue(), tail()));
    }
  }

  /** Something to wait for. */
  public interface Condition {
    boolean holds() throws IOException, InterruptedException;
  }

  /** Writes a line to its input; its answer of one line. */
  public String ask(String line) throws IOException {
    Writer input = process.outputWriter(StandardCharsets.UTF_8);
    input.write(line + "\n");
    input.flush();
    return readLine();
  }

  /** The next line that it prints. */
  public String readLine() throws IOException {
    BufferedReader output = process.inputReader(StandardCharsets.UTF_8);
    String line = output.readLine();
    if (line == null) {
      throw new IOException(name + " has ended" + tail());
    }
    return line;
  }

  /** Ends it, by force if it takes its time. */
  @Override
  public void close() {
    terminate();
    try {
      process.waitFor(GRACE_SECONDS, TimeUnit.SECONDS);
      kill();
      process.waitFor();
    } catch (InterruptedException e) {
      kill();
      Thread.currentThread().interrupt();
    }
    forgetHook();
  }

  private void terminate() {
    if (leadsGroup) {
      signalGroup("TERM");
    } else {
      process.destroy();
    }
  }

  /** Ends it without a chance to do anything about it. */
  public void kill() {
    if (leadsGroup) {
      signalGroup("KILL"); // some of the group may live longer than its leader
    } else {
      process.destroyForcibly();
    }
  }

  /** Takes the processor from it until {@link #resume}; its connections stay. */
  public void suspend() {
    signal("STOP", process.pid());
  }

  /** Lets it go on. */
  public void resume() {
    signal("CONT", process.pid());
  }

  private void signalGroup(String signal) {
    signal(signal, -process.pid());
  }

  private static void signal(String signal, long to) {
    String command = "kill -s %s -- %d".formatted(signal, to);
    try {
      new ProcessBuilder("sh", "-c", command).redirectErrorStream(true).start().waitFor();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private void forgetHook() {
    try {
      Runtime.getRuntime().removeShutdownHook(hook);
    } catch (IllegalStateException e) {
      return; // this process ends already, and the hook has run
    }
  }

  private String tail() throws IOException {
    List<String> lines = Files.readAllLines(log, StandardCharsets.UTF_8);
    List<String> last = lines.subList(Math.max(0, lines.size() - LAST_LINES), lines.size());
    String separator = System.lineSeparator() + "  ";
    return last.isEmpty() ? "; it printed nothing" : ":" + separator + String.join(separator, last);
  }
}
