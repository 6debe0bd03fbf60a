package dev.warmpath.simulator.cli;

import dev.warmpath.router.cli.CommandException;
import dev.warmpath.router.cli.Exit;
import dev.warmpath.router.cli.WarmpathCommand;
import dev.warmpath.simulator.live.LiveEngine;
import dev.warmpath.simulator.live.LiveEngines;
import dev.warmpath.tokenizer.ModelTokenizer;
import dev.warmpath.tokenizer.files.TokenizerLoadException;
import java.util.concurrent.CountDownLatch;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/**
 * {@code warmpath engine}: runs one simulated engine until it is killed.
 *
 * <p>Confined to the main thread.
 */
@Command(
    name = "engine",
    description = "Runs a simulated engine that behaves like vLLM: HTTP, KV events, replay.",
    mixinStandardHelpOptions = true,
    footer = {
      "",
      "Examples:",
      "  warmpath engine --port 8000 --events-port 5557 --replay-port 5657",
      "  warmpath engine --kv-connector nixl --kv-role prefill",
      "  warmpath engine --port 0 --events-port 0 --replay-port 0 --wire array --speed 10"
    })
public final class EngineCommand implements WarmpathCommand {

  @Mixin private EngineFlags flags = new EngineFlags();

  @Option(
      names = "--tokenizer",
      paramLabel = "DIR",
      description =
          "Model directory, tokenizer.json or hf://ORGANISATION/NAME[@REVISION]; a small built-in one by default.")
  private @Nullable String tokenizer;

  @Override
  public Integer call() throws InterruptedException {
    ModelTokenizer model = tokenizer();
    LiveEngines engines = new LiveEngines(model);
    LiveEngine engine = start(engines);
    Runtime.getRuntime().addShutdownHook(new Thread(engines::close, "warmpath-shutdown"));
    System.out.printf("engine listens on %s%n", engine.url());
    System.out.printf("  events  %s%n", engine.eventsEndpoint());
    System.out.printf("  replay  %s%n", engine.replayEndpoint());
    System.out.flush();
    new CountDownLatch(1).await();
    return Exit.OK;
  }

  private ModelTokenizer tokenizer() {
    try {
      return tokenizer == null
          ? ModelTokenizer.embedded()
          : ModelTokenizer.load(new NamedTokenizer(tokenizer).files());
    } catch (TokenizerLoadException e) {
      throw CommandException.usage("--tokenizer: " + e.getMessage());
    }
  }

  private LiveEngine start(LiveEngines engines) {
    try {
      return engines.start(flags.options());
    } catch (IllegalStateException e) {
      throw CommandException.failed(String.valueOf(e.getMessage()));
    }
  }
}
