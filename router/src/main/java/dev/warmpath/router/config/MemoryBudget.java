package dev.warmpath.router.config;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;

/**
 * How the Java heap is divided. Sizes that are configured hold; those that are not are shares of
 * the heap, smaller ones if the configured sizes leave less. Together they fit the heap, or the
 * start is refused.
 *
 * <p>Immutable.
 */
public final class MemoryBudget {

  /**
   * A part of the heap.
   *
   * @param name the key that sets it, or what it is for
   * @param isConfigured whether the configuration sets it
   */
  public record Part(String name, long bytes, boolean isConfigured) {}

  /** A chat's tokens are kept as its beginning and as pieces, 8 bytes a token in all. */
  private static final long CACHE_BYTES_AN_ENGINE = 24 << 20;

  private static final long CACHE_BYTES = 32 << 20;

  private static final long MB = 1 << 20;

  /** What the program itself and its connections hold. */
  private static final long PROGRAM_BYTES = 16 * MB;

  private static final int STORED_RESPONSE_BYTES = 160;
  private static final int SPAN_BYTES = 1 << 10;

  /** With less than this part of their usual size the shares are of no use. */
  private static final double LEAST_SCALE = 0.25;

  private static final long HEAP_STEP_BYTES = 64 * MB;

  /** A tokenizer thread for so much heap; each may hold a prompt of megabytes. */
  private static final long BYTES_A_THREAD = 64 * MB;

  private final RouterConfig config;
  private final long heapBytes;
  private final long fixedBytes;
  private final double scale;
  private final List<Part> parts = new ArrayList<>();

  private MemoryBudget(RouterConfig config, long heapBytes) {
    this.config = config;
    this.heapBytes = heapBytes;
    configured("index.memory-mb", config.index().memoryMb());
    configured("limits.bodies-mb", config.limits().bodiesMb());
    configured("tokenizing.cache-mb", config.tokenizing().cacheMb());
    configured("ingest.ring-total-mb, twice", 2L * config.ingest().ringTotalMb());
    add("ingest.buffered-bytes", config.ingest().bufferedBytes(), true);
    if (config.admin().decisionsKept() > 0) {
      configured("admin.decisions-mb", config.admin().decisionsMb());
    }
    if (config.capture().dir() != null) {
      configured("capture.queue-mb", config.capture().queueMb());
    }
    if (config.decisionLog().file() != null) {
      configured("decision-log.queue-mb", config.decisionLog().queueMb());
    }
    if (config.accessLog().file() != null) {
      configured("access-log.queue-mb", config.accessLog().queueMb());
    }
    if (config.tracing().endpoint() != null) {
      add("tracing.queue", (long) config.tracing().queue() * SPAN_BYTES, true);
    }
    add(
        "limits.stored-responses",
        (long) config.limits().storedResponses() * STORED_RESPONSE_BYTES,
        true);
    add("the program", PROGRAM_BYTES, true);
    this.fixedBytes = sum();
    long shares = Share.all(config).stream().mapToLong(this::usual).sum();
    this.scale = Math.min(1, (double) (heapBytes - fixedBytes) / shares);
    Share.all(config).forEach(share -> add(share.key, scaled(share), false));
  }

  /** The budget of a heap of so many bytes. */
  public static MemoryBudget of(RouterConfig config, long heapBytes) {
    return new MemoryBudget(config, heapBytes);
  }

  /** The budget of this process. */
  public static MemoryBudget of(RouterConfig config) {
    return of(config, Runtime.getRuntime().maxMemory());
  }

  /** What is taken from the heap where the configuration sets no size. */
  private enum Share {
    INDEX("index.memory-mb", 3, 8, Long.MAX_VALUE),
    BODIES("limits.bodies-mb", 1, 6, Long.MAX_VALUE),
    TREES("prompts being read", 1, 8, Long.MAX_VALUE),
    CACHES("tokenizing.cache-mb", 1, 10, Long.MAX_VALUE),
    RINGS("ingest.ring-total-mb, twice", 1, 16, 512 * MB),
    BUFFERS("ingest.buffered-bytes", 1, 64, 64 * MB),
    DECISIONS("admin.decisions-mb", 1, 64, 32 * MB),
    RENDERED("prompts that engines rendered", 1, 64, 32 * MB),
    COMPARED("requests to be compared", 1, 64, 16 * MB);

    private final String key;
    private final int numerator;
    private final int denominator;
    private final long mostBytes;

    Share(String key, int numerator, int denominator, long mostBytes) {
      this.key = key;
      this.numerator = numerator;
      this.denominator = denominator;
      this.mostBytes = mostBytes;
    }

    long bytes(long heapBytes) {
      return Math.min(heapBytes / denominator * numerator, mostBytes);
    }

    static List<Share> all(RouterConfig config) {
      return List.of(values()).stream().filter(share -> share.isTaken(config)).toList();
    }

    private boolean isTaken(RouterConfig config) {
      return switch (this) {
        case INDEX -> config.index().memoryMb() == 0;
        case BODIES -> config.limits().bodiesMb() == 0;
        case TREES -> true;
        case CACHES -> config.tokenizing().cacheMb() == 0;
        case RINGS -> config.ingest().ringTotalMb() == 0;
        case BUFFERS -> config.ingest().bufferedBytes() == 0;
        case DECISIONS -> config.admin().decisionsMb() == 0 && config.admin().decisionsKept() > 0;
        case RENDERED -> config.tokenizing().asksEngines();
        case COMPARED -> config.parity().enabled();
      };
    }
  }

  private void configured(String key, long mb) {
    add(key, mb * MB, true);
  }

  private void add(String name, long bytes, boolean isConfigured) {
    if (bytes > 0) {
      parts.add(new Part(name, bytes, isConfigured));
    }
  }

  private long scaled(Share share) {
    return Math.max(1, (long) (usual(share) * Math.max(0, scale)));
  }

  /** Of cached texts no more than serves what the engines can hold, where it is known how many. */
  private long usual(Share share) {
    long bytes = share.bytes(heapBytes);
    boolean isBounded =
        share == Share.CACHES
            && config.discovery().isEmpty()
            && config.stores().isEmpty()
            && !config.replicas().isEmpty();
    long engines = config.replicas().stream().mapToLong(ReplicaConfig::ranks).sum();
    return isBounded ? Math.min(bytes, CACHE_BYTES + engines * CACHE_BYTES_AN_ENGINE) : bytes;
  }

  private long sum() {
    return parts.stream().mapToLong(Part::bytes).sum();
  }

  /**
   * Checks that there is enough heap.
   *
   * @throws IllegalArgumentException naming what takes it
   */
  public void check() {
    if (scale < LEAST_SCALE) {
      throw new IllegalArgumentException(
          "a heap of %d MiB is too small for %s; lower them, or raise the heap (WARMPATH_JAVA_OPTS=-Xmx%dm)"
              .formatted(heapBytes / MB, listed(), neededBytes() / MB));
    }
  }

  private String listed() {
    return parts.stream()
        .filter(Part::isConfigured)
        .map(part -> part.name() + " (" + shown(part.bytes()) + ")")
        .collect(Collectors.joining(", "));
  }

  /** With this heap the shares have half of what they usually have. */
  private long neededBytes() {
    long heap = heapBytes;
    while (of(config, heap).scale < 2 * LEAST_SCALE) {
      heap += HEAP_STEP_BYTES;
    }
    return heap;
  }

  private static String shown(long bytes) {
    return String.format(Locale.ROOT, "%.1f MiB", (double) bytes / MB);
  }

  /** The parts, the configured ones first. */
  public List<Part> parts() {
    return List.copyOf(parts);
  }

  /** The parts as lines of a table. */
  public String table() {
    String lines =
        parts.stream()
            .map(part ->
                String.format(
                    Locale.ROOT,
                    "  %-32s %10s%s%n",
                    part.name(),
                    shown(part.bytes()),
                    part.isConfigured() ? "" : "  share of the heap"))
            .collect(Collectors.joining());
    return String.format(
        Locale.ROOT, "%s  %-32s %10s", lines, "of the Java heap", shown(heapBytes));
  }

  private long bytes(Share share, long configuredBytes) {
    return configuredBytes > 0 ? configuredBytes : scaled(share);
  }

  /** Of the index. */
  public long indexBytes() {
    return bytes(Share.INDEX, config.index().memoryMb() * MB);
  }

  /** Of request bodies. */
  public long bodyBytes() {
    return bytes(Share.BODIES, config.limits().bodiesMb() * MB);
  }

  /** Of prompts while they are read: trees of JSON, values, texts, tokens. */
  public long treeBytes() {
    return scaled(Share.TREES);
  }

  /** Of cached bodies and texts. */
  public long cacheBytes() {
    return bytes(Share.CACHES, config.tokenizing().cacheMb() * MB);
  }

  /** Of queued events; twice as many at most. */
  public long ringBytes() {
    long configured = config.ingest().ringTotalMb() * MB;
    return configured > 0 ? configured : Math.max(1, scaled(Share.RINGS) / 2);
  }

  /** Of one engine's events during a replay. */
  public long bufferedBytes() {
    return bytes(Share.BUFFERS, config.ingest().bufferedBytes());
  }

  /** Of kept decisions. */
  public long decisionBytes() {
    return bytes(Share.DECISIONS, config.admin().decisionsMb() * MB);
  }

  /** Of prompts that engines rendered. */
  public long renderedBytes() {
    return scaled(Share.RENDERED);
  }

  /** Of requests whose tokens may be compared. */
  public long comparedBytes() {
    return scaled(Share.COMPARED);
  }

  /** Threads that read prompts, unless they are configured: by cores and by heap. */
  public static int usualTokenizerThreads() {
    Runtime machine = Runtime.getRuntime();
    long byHeap = machine.maxMemory() / BYTES_A_THREAD;
    return (int) Math.max(1, Math.min(machine.availableProcessors(), byHeap));
  }
}
