package dev.warmpath.router.cli;

import java.io.PrintWriter;
import java.io.StringWriter;
import picocli.CommandLine;

/** The whole program, run inside a test: all subcommands, messages and exit codes. */
public final class TestProgram {

  private final StringWriter out = new StringWriter();
  private final StringWriter err = new StringWriter();

  /** Runs it; returns the exit code. */
  public int run(String... args) {
    out.getBuffer().setLength(0);
    err.getBuffer().setLength(0);
    CommandLine line = Main.commandLine();
    line.setOut(new PrintWriter(out, true));
    line.setErr(new PrintWriter(err, true));
    return line.execute(args);
  }

  /** What the last run printed. */
  public String out() {
    return out.toString();
  }

  /** What the last run printed on stderr. */
  public String err() {
    return err.toString();
  }
}
