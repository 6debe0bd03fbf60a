package dev.warmpath.simulator.cli;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.warmpath.router.Environment;
import dev.warmpath.router.RouterProcess;
import dev.warmpath.router.StartException;
import dev.warmpath.router.cli.CommandException;
import dev.warmpath.router.cli.Exit;
import dev.warmpath.router.cli.ServeFlags;
import dev.warmpath.router.cli.WarmpathCommand;
import dev.warmpath.router.config.ConfigException;
import dev.warmpath.router.config.RouterConfig;
import dev.warmpath.router.dispatch.EngineChain;
import dev.warmpath.router.doctor.DoctorReport;
import dev.warmpath.router.doctor.FleetProbe;
import dev.warmpath.simulator.demo.CauseCheck;
import dev.warmpath.simulator.demo.ChatClient;
import dev.warmpath.simulator.demo.ChatLoad;
import dev.warmpath.simulator.demo.EvictionWatch;
import dev.warmpath.simulator.demo.FleetPage;
import dev.warmpath.simulator.demo.LiveCheck;
import dev.warmpath.simulator.demo.LoadReport;
import dev.warmpath.simulator.demo.LoadRun;
import dev.warmpath.tokenizer.RequestKind;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/**
 * {@code warmpath check-live}: starts a router in front of running engines, drives chats through it
 * and compares each prediction with the engine's own count of cached tokens.
 *
 * <p>Confined to the main thread.
 */
@Command(
    name = "check-live",
    description = {
      "Drives multi-turn chats through the router to running engines and compares each",
      "prediction with the cached tokens that the engine reports. Ends with 1 when more was",
      "promised than was held, or a request failed."
    },
    mixinStandardHelpOptions = true,
    footer = {
      "",
      "Verdicts: exact; over (promised too much); evicted (too much, because the engine evicted",
      "blocks of the prompt meanwhile); under; unjudged; failed.",
      "",
      "Example (engines need --enable-prompt-tokens-details):",
      "  warmpath check-live --tokenizer qwen3=/models/qwen3 --chats 200 \\",
      "    --replica"
          + " a=http://127.0.0.1:8000,events=tcp://127.0.0.1:5557,replay=tcp://127.0.0.1:5657"
    })
public final class CheckLiveCommand implements WarmpathCommand {

  /** Lets it run beside a router with the same file: other ports, no keys, nothing written. */
  private static final Map<String, String> BESIDE_A_ROUTER =
      Map.of(
          "listen", "{port: 0}",
          "admin", "{port: 0, decisions-kept: 100000}",
          "auth", "{}",
          "headers", "{cached-tokens: true}",
          "snapshot", "{enabled: false}",
          "capture", "{}",
          "decision-log", "{}",
          "access-log", "{}");

  private static final Duration SOON = Duration.ofSeconds(3);
  private static final Duration DECISIONS_TIMEOUT = Duration.ofSeconds(30);
  private static final Duration READY_LIMIT = Duration.ofSeconds(30);
  private static final int TENANTS = 4;
  private static final int MOST_IMAGES = 64;

  @Mixin private ServeFlags flags = new ServeFlags();

  @Option(names = "--chats", defaultValue = "200", description = "Chats (${DEFAULT-VALUE}).")
  private int chats;

  @Option(names = "--turns", defaultValue = "3", description = "Turns a chat (${DEFAULT-VALUE}).")
  private int turns;

  @Option(
      names = "--clients",
      defaultValue = "1",
      description = "Requests at a time (${DEFAULT-VALUE}).")
  private int clients;

  @Option(
      names = "--settle-ms",
      defaultValue = "50",
      description = "Wait after each answer for the engine's events (${DEFAULT-VALUE}).")
  private long settleMillis;

  @Option(
      names = "--idle-ms",
      defaultValue = "60000",
      description = "Give up a request of which nothing came for so long (${DEFAULT-VALUE}).")
  private long idleMillis;

  @Option(
      names = "--seed",
      defaultValue = "1",
      description = "Of words and images (${DEFAULT-VALUE}).")
  private long seed;

  @Option(
      names = "--images",
      paramLabel = "MOST",
      arity = "0..1",
      defaultValue = "0",
      fallbackValue = "4",
      description = {
        "Chats show images of many kinds, up to so many each (4 if no number is given). Engines",
        "must take them: --limit-mm-per-prompt."
      })
  private int images;

  @Option(names = "--json", description = "Print one JSON object; everything else to stderr.")
  private boolean json;

  @Override
  public Integer call() throws InterruptedException {
    RouterConfig config = config();
    ChatLoad load = load(config);
    EvictionWatch evictions = new EvictionWatch();
    Environment environment = Environment.ofTheMachine().watching(evictions);
    try (RouterProcess router = RouterProcess.start(config, environment)) {
      FleetPage fleet = new FleetPage("http://127.0.0.1:" + router.adminPort());
      awaitReady(config, fleet);
      LiveCheck.CheckReport report = check(router, evictions, load);
      System.out.println(json ? report.json() : report.line());
      return report.passed() ? Exit.OK : Exit.FAILED;
    } catch (StartException e) {
      throw CommandException.failed(String.valueOf(e.getMessage()));
    }
  }

  /** A fleet that is well is ready within seconds; what else it may be, the doctor finds. */
  private static void awaitReady(RouterConfig config, FleetPage fleet) throws InterruptedException {
    if (fleet.awaitReady(SOON)) {
      return;
    }
    String failures = DoctorReport.of(config, new FleetProbe.Options(false, SOON)).failures();
    if (!failures.isEmpty()) {
      throw CommandException.failed(
          "the replicas are not ready:" + System.lineSeparator() + failures);
    }
    if (!fleet.awaitReady(READY_LIMIT)) {
      throw CommandException.failed(
          "the replicas are not ready: %s; try: warmpath doctor".formatted(fleet.problems()));
    }
  }

  private LiveCheck.CheckReport check(RouterProcess router, EvictionWatch evictions, ChatLoad load)
      throws InterruptedException {
    ChatClient client =
        new ChatClient("http://127.0.0.1:" + router.port(), idle(), System::nanoTime);
    Function<String, List<EngineChain>> chains =
        body -> router.chains(RequestKind.CHAT, body.getBytes(UTF_8));
    LiveCheck check = new LiveCheck(client, chains, evictions, Duration.ofMillis(settleMillis));
    LoadRun run = new LoadRun(load, check, clients, done -> progress(done, load.requests()));
    LoadReport report = run.run();
    try {
      return check.report(
          report, CauseCheck.read("http://127.0.0.1:" + router.adminPort(), DECISIONS_TIMEOUT));
    } catch (IOException e) {
      throw CommandException.failed("the router's decisions cannot be read: " + e.getMessage());
    }
  }

  private static void progress(int done, int requests) {
    if (done % 50 == 0 || done == requests) {
      System.err.printf("%d of %d requests%n", done, requests);
    }
  }

  private RouterConfig config() {
    try {
      return flags.config(BESIDE_A_ROUTER, "check-live");
    } catch (ConfigException e) {
      throw CommandException.usage(String.join(System.lineSeparator(), e.problems()));
    }
  }

  private ChatLoad load(RouterConfig config) {
    if (images < 0 || images > MOST_IMAGES) {
      throw CommandException.usage("--images=%d must be 0 to %d".formatted(images, MOST_IMAGES));
    }
    if (config.replicas().isEmpty()) {
      throw CommandException.usage(
          "no replica is configured; give at least one --replica (discovery is not used here)");
    }
    if (config.models().size() != 1) {
      throw CommandException.usage(
          "%d models are configured, and one is checked at a time; give one --tokenizer MODEL=DIR"
              .formatted(config.models().size()));
    }
    String model = config.models().get(0).name();
    int active = Math.max(clients, Math.min(chats, 8));
    return new ChatLoad(model, chats * turns, active, turns, TENANTS, 120, 40, 24, seed, images);
  }

  private Duration idle() {
    if (idleMillis < 1) {
      throw CommandException.usage("--idle-ms=" + idleMillis + " must be at least 1");
    }
    return Duration.ofMillis(idleMillis);
  }
}
