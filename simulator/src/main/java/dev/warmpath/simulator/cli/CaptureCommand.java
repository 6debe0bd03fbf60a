package dev.warmpath.simulator.cli;

import dev.warmpath.eventingest.capture.CaptureHeader;
import dev.warmpath.eventingest.capture.CaptureHeader.CaptureStream;
import dev.warmpath.eventingest.capture.CaptureSink;
import dev.warmpath.eventingest.capture.CaptureWriter;
import dev.warmpath.eventingest.capture.RotatingCaptureWriter;
import dev.warmpath.eventingest.capture.RotatingCaptureWriter.Limits;
import dev.warmpath.eventingest.hashing.EventFormat;
import dev.warmpath.eventingest.hashing.SglangNamespaces;
import dev.warmpath.eventingest.hashing.SglangRules;
import dev.warmpath.eventingest.transport.Descriptors;
import dev.warmpath.router.cli.CommandException;
import dev.warmpath.router.cli.Exit;
import dev.warmpath.router.cli.WarmpathCommand;
import dev.warmpath.router.doctor.TcpPort;
import dev.warmpath.simulator.capture.CaptureRecorder;
import dev.warmpath.simulator.terminal.DurationText;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.zeromq.ZContext;
import picocli.CommandLine.ArgGroup;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/**
 * {@code warmpath capture}: records live event streams to a file.
 *
 * <p>Confined to the main thread.
 */
@Command(
    name = "capture",
    description = {
      "Records the event streams of engines to a capture file, until the duration is over or the",
      "process is told to end (Ctrl-C). The file is whole at every moment.",
      "Payloads hold prompt tokens and cache salts in clear."
    },
    mixinStandardHelpOptions = true,
    sortOptions = false,
    footer = {
      "",
      "Examples:",
      "  warmpath capture --endpoint tcp://127.0.0.1:5557 --out vllm.wpc.gz --duration 60s",
      "  warmpath capture --out two.wpc.gz \\",
      "    --endpoint tcp://10.0.0.1:5557 --replica a --replay-endpoint tcp://10.0.0.1:5657 \\",
      "    --endpoint tcp://10.0.0.2:5557 --replica b --replay-endpoint tcp://10.0.0.2:5657"
    })
public final class CaptureCommand implements WarmpathCommand {

  private static final Pattern ENDPOINT = Pattern.compile("(tcp|ipc)://.+");
  private static final Duration CONNECT_LIMIT = Duration.ofSeconds(3);

  /** One engine: the options from one --endpoint to the next. */
  static final class Engine {

    @SuppressWarnings("NullAway.Init")
    @Option(
        names = "--endpoint",
        required = true,
        paramLabel = "ENDPOINT",
        description = "Where an engine publishes; once for each engine.")
    private String endpoint;

    @Option(
        names = "--replay-endpoint",
        paramLabel = "ENDPOINT",
        description = "Where it answers replays: it is asked once for all that it has.")
    private @Nullable String replayEndpoint;

    @Option(
        names = "--replica",
        paramLabel = "NAME",
        description = "The replica's name in the capture. Default: engine-0, engine-1, ...")
    private @Nullable String replica;

    @Option(
        names = "--engine",
        paramLabel = "KIND",
        description = "vllm, sglang, trtllm or warmpath-sim. Default: vllm.")
    private String kind = "vllm";

    @Option(
        names = "--event-format",
        paramLabel = "FORMAT",
        description = "Format of SGLang's events: default or dynamo. Default: default.")
    private EventFormat format = EventFormat.DEFAULT;

    @Option(
        names = "--lora",
        paramLabel = "NAME=PATH",
        description = "An adapter of SGLang's --lora-paths, as it was told; may be repeated.")
    private Map<String, String> loras = new HashMap<>();

    @Option(
        names = "--load-back-tokens",
        paramLabel = "N",
        description = "SGLang's load_back_threshold. Default: 10.")
    private long loadBackTokens = SglangRules.LOAD_BACK_TOKENS;

    @Option(names = "--model", paramLabel = "NAME", description = "The model that it serves.")
    private String model = "";

    @Option(
        names = "--topic",
        paramLabel = "TEXT",
        description = "Record only messages whose topic begins so.")
    private String topic = "";

    private CaptureRecorder.Source source(int id) {
      String name = replica == null ? "engine-" + id : replica;
      requireFitting();
      requireEndpoint("--endpoint", endpoint);
      if (replayEndpoint != null) {
        requireEndpoint("--replay-endpoint", replayEndpoint);
      }
      CaptureStream stream = CaptureStream.live(id, name, kind, model);
      return new CaptureRecorder.Source(
          isSglang() ? stream.with(config()) : stream, endpoint, replayEndpoint, topic);
    }

    private static void requireEndpoint(String option, String endpoint) {
      if (!ENDPOINT.matcher(endpoint).matches()) {
        throw CommandException.usage(
            "%s %s: no ZeroMQ endpoint; give tcp://HOST:PORT, the port of the engine's events"
                .formatted(option, endpoint));
      }
    }

    /** Fails if nobody would ever send anything. */
    private void requireListener() {
      String problem = TcpPort.problem(endpoint, CONNECT_LIMIT);
      if (problem != null) {
        throw CommandException.failed(
            "%s: %s; start the engine with --kv-events-config first, or correct --endpoint"
                .formatted(endpoint, problem));
      }
    }

    private void requireFitting() {
      boolean usual =
          format == EventFormat.DEFAULT
              && loras.isEmpty()
              && loadBackTokens == SglangRules.LOAD_BACK_TOKENS;
      if (!usual && !isSglang()) {
        throw CommandException.usage(
            "--event-format, --lora and --load-back-tokens are an SGLang's; --engine at "
                + endpoint
                + " is "
                + kind);
      }
      if (loadBackTokens < 0) {
        throw CommandException.usage(
            "--load-back-tokens " + loadBackTokens + " at " + endpoint + ": below 0");
      }
    }

    /** Whoever reads the capture takes it for one by the same rule. */
    private boolean isSglang() {
      return kind.toLowerCase(Locale.ROOT).startsWith("sglang");
    }

    private Map<String, Object> config() {
      return Map.of(
          "format",
          format.name().toLowerCase(Locale.ROOT),
          "lora_ids",
          SglangNamespaces.of(format, loras).adapters(),
          "load_back_threshold",
          loadBackTokens);
    }
  }

  @SuppressWarnings("NullAway.Init")
  @Spec
  private CommandSpec spec;

  @ArgGroup(exclusive = false, multiplicity = "1..*")
  private List<Engine> engines = new ArrayList<>();

  @SuppressWarnings("NullAway.Init")
  @Option(
      names = "--out",
      required = true,
      paramLabel = "FILE",
      description = "The file to create; compressed when its name ends in .gz.")
  private Path out;

  @Option(
      names = "--duration",
      paramLabel = "TIME",
      converter = DurationText.class,
      description = "How long to record, such as 60s. Default: until told to end.")
  private @Nullable Duration duration;

  @Option(
      names = "--rotate-mb",
      paramLabel = "N",
      description = {
        "Begin another file after N MB before compression: FILE-00001, FILE-00002, ...",
        "Default: one file."
      })
  private int rotateMb;

  @Option(
      names = "--keep",
      paramLabel = "N",
      description = "With --rotate-mb, how many files are kept. Default: ${DEFAULT-VALUE}.")
  private int keep = 10;

  @Option(names = "--note", paramLabel = "TEXT", description = "What the capture shows.")
  private String note = "";

  @Override
  public Integer call() {
    List<CaptureRecorder.Source> sources = new ArrayList<>();
    for (Engine engine : engines) {
      sources.add(engine.source(sources.size()));
    }
    if (Files.notExists(out)) {
      engines.forEach(Engine::requireListener);
    }
    CaptureHeader header =
        CaptureHeader.of(
            Instant.now(), note, sources.stream().map(CaptureRecorder.Source::stream).toList());
    try (Ending ending = Ending.ofProcess();
        CaptureSink writer = create(header);
        ZContext context = Descriptors.context()) {
      CaptureRecorder recorder = new CaptureRecorder(writer, sources, System::nanoTime);
      record(recorder, context, done(ending));
      return recorder.batches() > 0 ? Exit.OK : nothingCame();
    } catch (IOException e) {
      throw CaptureFiles.failure(out, e);
    }
  }

  private int nothingCame() {
    spec.commandLine()
        .getErr()
        .println(
            "nothing came: give the engine a request meanwhile, compare --endpoint with the"
                + " `endpoint` of its --kv-events-config, and leave out --topic");
    return Exit.FAILED;
  }

  private CaptureSink create(CaptureHeader header) throws IOException {
    if (rotateMb < 0 || keep < 1) {
      throw CommandException.usage("--rotate-mb " + rotateMb + " --keep " + keep + ": too small");
    }
    return rotateMb == 0
        ? CaptureWriter.create(out, header)
        : RotatingCaptureWriter.create(out, header, new Limits((long) rotateMb << 20, keep));
  }

  private void record(CaptureRecorder recorder, ZContext context, BooleanSupplier done)
      throws IOException {
    PrintWriter err = spec.commandLine().getErr();
    err.println("recording " + engines.size() + " engine(s) to " + out);
    recorder.record(context, done);
    err.println("recorded " + recorder.batches() + " live messages to " + out);
    if (recorder.malformed() > 0) {
      err.println("left out " + recorder.malformed() + " messages that were no batches");
    }
  }

  private BooleanSupplier done(Ending ending) {
    if (duration == null) {
      return ending::isAsked;
    }
    long endNanos = System.nanoTime() + duration.toNanos();
    return () -> ending.isAsked() || System.nanoTime() - endNanos >= 0;
  }

  /**
   * Lets a command end in order when the process is told to end (Ctrl-C, SIGTERM): the process
   * waits until this is closed.
   *
   * <p>Thread-safe.
   */
  private static final class Ending implements AutoCloseable {

    private static final long PATIENCE_SECONDS = 5;

    private final CountDownLatch closed = new CountDownLatch(1);
    private volatile boolean asked;

    /** An ending that the process will ask for. */
    static Ending ofProcess() {
      Ending ending = new Ending();
      Runtime.getRuntime().addShutdownHook(new Thread(ending::ask, "warmpath-ending"));
      return ending;
    }

    /** Whether the command is to end. */
    boolean isAsked() {
      return asked;
    }

    @Override
    public void close() {
      closed.countDown();
    }

    private void ask() {
      asked = true;
      try {
        closed.await(PATIENCE_SECONDS, TimeUnit.SECONDS);
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
      }
    }
  }
}
