package dev.warmpath.router.cli;

import dev.warmpath.router.security.ApiKeys.ApiKeyConfig;
import dev.warmpath.router.security.Secrets;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;
import java.util.List;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/**
 * {@code warmpath keys}: makes API keys for clients.
 *
 * <p>Confined to the main thread.
 */
@Command(
    name = "keys",
    description = "Makes API keys for clients.",
    mixinStandardHelpOptions = true,
    synopsisSubcommandLabel = "COMMAND",
    footer = {"", "Example:", "  warmpath keys new team-a"})
public final class KeysCommand implements WarmpathCommand {

  @Spec private CommandSpec spec = CommandSpec.create();

  @Override
  public Integer call() {
    spec.commandLine().usage(System.err);
    return Exit.USAGE;
  }

  /** Prints a key, once, and the entry that makes it valid. */
  @Command(
      name = "new",
      description = "Prints a new key, and its entry for the file of keys (auth.keys-file).",
      mixinStandardHelpOptions = true,
      footer = {
        "",
        "The key is shown once; the file holds its SHA-256 only.",
        "",
        "Examples:",
        "  warmpath keys new team-a",
        "  warmpath keys new team-a --stdin < existing-key"
      })
  int fresh(
      @Parameters(paramLabel = "NAME", description = "The client's name in metrics and logs.")
          String name,
      @Option(
              names = "--stdin",
              description = "Make the entry for a key that is read from standard input.")
          boolean existing) {
    PrintWriter out = spec.commandLine().getOut();
    String key = existing ? read() : Secrets.fresh();
    String hash = Secrets.hash(key);
    check(name, hash);
    if (!existing) {
      out.printf("key for the client, shown once:%n%n  %s%n%n", key);
    }
    out.printf("entry for the file of keys:%n%nkeys:%n");
    out.printf("  - name: %s%n    sha256: [%s]%n", name, hash);
    out.flush();
    return Exit.OK;
  }

  private static void check(String name, String hash) {
    try {
      new ApiKeyConfig(name, List.of(hash), List.of(), 0, 0, 0);
    } catch (IllegalArgumentException e) {
      throw CommandException.usage(String.valueOf(e.getMessage()));
    }
  }

  private static String read() {
    try {
      String key = new String(System.in.readAllBytes(), StandardCharsets.UTF_8).strip();
      if (key.isEmpty()) {
        throw CommandException.usage("standard input holds no key");
      }
      return key;
    } catch (IOException e) {
      throw CommandException.usage("standard input cannot be read");
    }
  }
}
