package dev.warmpath.simulator.cli;

import dev.warmpath.kvindex.CacheGroup;
import dev.warmpath.kvindex.CacheGroup.Kind;
import dev.warmpath.kvindex.block.ChainSpace;
import dev.warmpath.kvindex.enginehash.HashAlgorithm;
import dev.warmpath.router.cli.CommandException;
import dev.warmpath.router.cli.Exit;
import dev.warmpath.router.cli.WarmpathCommand;
import dev.warmpath.simulator.engine.EngineConfig;
import dev.warmpath.simulator.engine.KvCacheConfig;
import dev.warmpath.simulator.engine.Link;
import dev.warmpath.simulator.engine.StepCost;
import dev.warmpath.simulator.live.EngineDriver;
import dev.warmpath.simulator.live.KvConnector;
import dev.warmpath.simulator.live.KvTransferOptions;
import dev.warmpath.simulator.live.KvTransferOptions.LoadFailure;
import dev.warmpath.simulator.live.KvTransferOptions.Role;
import dev.warmpath.simulator.live.LiveEngine;
import dev.warmpath.simulator.live.LiveEngineOptions;
import dev.warmpath.simulator.live.LiveEngines;
import dev.warmpath.simulator.live.Ports;
import dev.warmpath.simulator.live.PublisherOptions;
import dev.warmpath.simulator.live.WireForm;
import dev.warmpath.tokenizer.ModelTokenizer;
import dev.warmpath.tokenizer.files.TokenizerLoadException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
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

  /**
   * The flags that describe one simulated engine.
   *
   * <p>Confined to the main thread.
   */
  private static final class EngineFlags {

    private static final int MAX_PORT = 65_535;
    private static final int MAX_SPEED = 1_000_000;

    @Option(
        names = "--model",
        defaultValue = "warmpath-sim",
        description = "Name that it serves (${DEFAULT-VALUE}).")
    private String model = "";

    @Option(
        names = "--port",
        defaultValue = "8000",
        description = "HTTP port (${DEFAULT-VALUE}); 0 takes any.")
    private int port;

    @Option(
        names = "--events-port",
        defaultValue = "5557",
        description = "Event port (${DEFAULT-VALUE}); 0 takes any.")
    private int eventsPort;

    @Option(
        names = "--replay-port",
        defaultValue = "5657",
        description = "Replay port (${DEFAULT-VALUE}); 0 takes any.")
    private int replayPort;

    @Option(
        names = "--block-size",
        defaultValue = "16",
        description = "Tokens a block (${DEFAULT-VALUE}).")
    private int blockSize;

    @Option(
        names = "--blocks",
        defaultValue = "4096",
        description = "Blocks of the KV cache (${DEFAULT-VALUE}).")
    private int blocks;

    @Option(
        names = "--host-blocks",
        defaultValue = "0",
        description = "Blocks of host memory behind the KV cache, without --sliding-window.")
    private int hostBlocks;

    @Option(
        names = "--host-load",
        paramLabel = "MS:US",
        defaultValue = "2:5",
        description =
            "How long a load from there takes: milliseconds, and microseconds a token (${DEFAULT-VALUE}).")
    private String hostLoad = "";

    @Option(
        names = "--sliding-window",
        paramLabel = "TOKENS",
        description = "Adds a sliding-window group, as of a hybrid model.")
    private int slidingWindow;

    @Option(
        names = "--max-model-len",
        paramLabel = "TOKENS",
        description = "Longest prompt and answer; as long as the cache allows by default.")
    private int maxModelTokens;

    @Option(
        names = "--step-tokens",
        defaultValue = "8192",
        description = "Tokens a step (${DEFAULT-VALUE}).")
    private int stepTokens;

    @Option(
        names = "--max-num-seqs",
        defaultValue = "256",
        description = "Sequences at a time (${DEFAULT-VALUE}).")
    private int runningSequences;

    @Option(
        names = "--lora",
        paramLabel = "NAME=PATH",
        description = "A LoRA adapter; may be repeated.")
    private Map<String, String> adapters = new HashMap<>();

    @Option(
        names = "--hash-algo",
        defaultValue = "sha256",
        description = "How blocks are hashed: sha256, sha256_cbor, xxhash or xxhash_cbor.")
    private HashAlgorithm hashing = HashAlgorithm.SHA256;

    @Option(
        names = "--wire",
        defaultValue = "map",
        description =
            "Events and hashes: map (vLLM since 0.26), array (to 0.22), sglang or sglang_dynamo.")
    private WireForm wire = WireForm.MAP;

    @Option(names = "--bytes-hashes", description = "Publish whole digests, not 64-bit integers.")
    private boolean bytesHashes;

    @Option(names = "--topic", defaultValue = "", description = "Topic of the events.")
    private String topic = "";

    @Option(
        names = "--buffer-steps",
        defaultValue = "10000",
        description = "Batches to replay (${DEFAULT-VALUE}).")
    private int bufferSteps;

    @Option(
        names = "--speed",
        defaultValue = "1",
        description = "How many times faster than a 70B-like model on four H100.")
    private double speed;

    @Option(
        names = "--answer-tokens",
        defaultValue = "64",
        description = "Usual length of an answer that nobody limits (${DEFAULT-VALUE}).")
    private int answerTokens;

    @Option(
        names = "--kv-connector",
        defaultValue = "none",
        description =
            "Takes part in disaggregated serving as with: ${COMPLETION-CANDIDATES} (${DEFAULT-VALUE}).")
    private KvConnector connector = KvConnector.NONE;

    @Option(
        names = "--kv-role",
        defaultValue = "both",
        description = "${COMPLETION-CANDIDATES} (${DEFAULT-VALUE}); enforced by sglang only.")
    private Role role = Role.BOTH;

    @Option(
        names = "--kv-bandwidth",
        paramLabel = "TOKENS",
        defaultValue = "300000",
        description = "Tokens a second that it hands over for one request (${DEFAULT-VALUE}).")
    private double bandwidth;

    @Option(
        names = "--kv-latency-ms",
        defaultValue = "0.5",
        description = "What each transfer takes besides (${DEFAULT-VALUE}).")
    private double latencyMillis;

    @Option(
        names = "--kv-lease-seconds",
        defaultValue = "30",
        description = "How long computed blocks wait to be fetched (${DEFAULT-VALUE}).")
    private double leaseSeconds;

    @Option(
        names = "--kv-load-failure-policy",
        defaultValue = "fail",
        description = "Without the blocks: ${COMPLETION-CANDIDATES} (${DEFAULT-VALUE}).")
    private LoadFailure onLoadFailure = LoadFailure.FAIL;

    LiveEngineOptions options() {
      try {
        return read();
      } catch (IllegalArgumentException e) {
        throw CommandException.usage(String.valueOf(e.getMessage()));
      }
    }

    private LiveEngineOptions read() {
      check("--port", port, 0, MAX_PORT);
      check("--events-port", eventsPort, 0, MAX_PORT);
      check("--replay-port", replayPort, 0, MAX_PORT);
      check("--block-size", blockSize, 1, ChainSpace.MAX_BLOCK_SIZE_TOKENS);
      check("--blocks", blocks, 2, Integer.MAX_VALUE);
      check("--host-blocks", hostBlocks, 0, slidingWindow > 0 ? 0 : Integer.MAX_VALUE - 1);
      check("--step-tokens", stepTokens, 1, Integer.MAX_VALUE);
      check("--max-num-seqs", runningSequences, 1, Integer.MAX_VALUE);
      check("--buffer-steps", bufferSteps, 1, Integer.MAX_VALUE);
      check("--answer-tokens", answerTokens, 1, Integer.MAX_VALUE);
      if (!(speed >= EngineDriver.MIN_SPEED && speed <= MAX_SPEED)) {
        throw CommandException.usage(
            "--speed=%s must be from %s to %s".formatted(speed, EngineDriver.MIN_SPEED, MAX_SPEED));
      }
      PublisherOptions standard = PublisherOptions.DEFAULT;
      PublisherOptions events =
          new PublisherOptions(
              wire,
              bytesHashes,
              topic,
              bufferSteps,
              standard.highWaterMark(),
              standard.queueBatches());
      return LiveEngineOptions.of(model, engine())
          .with(adapters)
          .with(events, hashing)
          .pace(speed, answerTokens)
          .with(transfer())
          .at(new Ports(port, eventsPort, replayPort));
    }

    private KvTransferOptions transfer() {
      checkAbove0("--kv-bandwidth", bandwidth);
      checkAbove0("--kv-lease-seconds", leaseSeconds);
      if (!(latencyMillis >= 0)) {
        throw CommandException.usage("--kv-latency-ms=" + latencyMillis + " must not be below 0");
      }
      return new KvTransferOptions(
          connector, role, bandwidth, latencyMillis, leaseSeconds, onLoadFailure);
    }

    private static void checkAbove0(String flag, double value) {
      if (!(value > 0)) {
        throw CommandException.usage(flag + "=" + value + " must be above 0");
      }
    }

    private static void check(String flag, int value, int least, int most) {
      if (value < least || value > most) {
        throw CommandException.usage(flag + "=" + value + " must be from " + least + " to " + most);
      }
    }

    private EngineConfig engine() {
      List<CacheGroup> groups = new ArrayList<>();
      groups.add(new CacheGroup(0, Kind.FULL_ATTENTION, blockSize, 0));
      if (slidingWindow > 0) {
        groups.add(new CacheGroup(1, Kind.SLIDING_WINDOW, blockSize, slidingWindow));
      }
      KvCacheConfig cache = new KvCacheConfig(blockSize, blocks, groups).withHost(hostBlocks);
      int longest = maxModelTokens > 0 ? maxModelTokens : cache.maxSequenceTokens();
      return new EngineConfig(cache, stepTokens, runningSequences, longest, StepCost.H100X4)
          .with(loadPath());
    }

    private Link loadPath() {
      try {
        return Link.parse(hostLoad);
      } catch (IllegalArgumentException e) {
        throw CommandException.usage("--host-load=" + hostLoad + ": " + e.getMessage());
      }
    }
  }
}
