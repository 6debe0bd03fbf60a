package dev.warmpath.lab.bench;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.warmpath.router.cli.CommandException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.function.Supplier;
import picocli.CommandLine;

/** A command of the laboratory, and what it has printed. */
public final class TestCommand {

  private final StringWriter out = new StringWriter();
  private final StringWriter err = new StringWriter();
  private final Supplier<? extends Callable<Integer>> command;

  /** Makes the command anew for each run. */
  public TestCommand(Supplier<? extends Callable<Integer>> command) {
    this.command = command;
  }

  /** Runs it; its exit code. What it throws is not caught. */
  public int run(List<String> args) throws Exception {
    Callable<Integer> made = command.get();
    CommandLine line = new CommandLine(made);
    line.setCaseInsensitiveEnumValuesAllowed(true);
    line.setOut(new PrintWriter(out, true));
    line.setErr(new PrintWriter(err, true));
    line.parseArgs(args.toArray(String[]::new));
    return made.call();
  }

  public int run(String... args) throws Exception {
    return run(List.of(args));
  }

  /** Runs it, and whatever of processes is logged goes to a folder. */
  public int runWithLogs(Object folder, String... args) throws Exception {
    List<String> all = new ArrayList<>(List.of(args));
    all.add("--dir=" + folder);
    return run(all);
  }

  public void assertMisused(String message, String... args) {
    assertThatThrownBy(() -> run(args))
        .isInstanceOf(CommandException.class)
        .hasMessageContaining(message);
  }

  public String out() {
    return out.toString();
  }

  public String err() {
    return err.toString();
  }

  /** The last line of the output. */
  public JsonNode json() throws JsonProcessingException {
    return new ObjectMapper().readTree(out().lines().reduce("", (first, last) -> last));
  }
}
