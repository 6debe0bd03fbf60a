package dev.warmpath.router.tokenize;

import dev.warmpath.router.config.MemoryBudget;
import dev.warmpath.router.config.ModelConfig;
import dev.warmpath.router.config.ReplicaConfig;
import dev.warmpath.router.config.RouterConfig;
import dev.warmpath.router.metrics.Metric;
import dev.warmpath.router.metrics.MetricValues;
import dev.warmpath.router.prompt.Tokenizers;
import dev.warmpath.router.tokenize.TokenizerSlot.Content;
import dev.warmpath.router.tokenize.TokenizerStatus.State;
import dev.warmpath.tokenizer.ModelTokenizer;
import dev.warmpath.tokenizer.body.FallbackCause;
import dev.warmpath.tokenizer.chat.ChatOptions.Dialect;
import dev.warmpath.tokenizer.encode.EncodeBudget;
import dev.warmpath.tokenizer.encode.EncodeCounts;
import dev.warmpath.tokenizer.encode.EncodeCounts.LayerCounts;
import dev.warmpath.tokenizer.files.TokenizerLoadException;
import dev.warmpath.tokenizer.image.ImageMemory;
import dev.warmpath.tokenizer.image.PromptImages;
import java.util.Collections;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.TimeUnit;
import java.util.function.BiFunction;
import java.util.function.Function;
import java.util.function.LongSupplier;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The tokenizers of the configured models. They are loaded one after another on a thread of their
 * own, those last that may have to be downloaded, and tried again at growing intervals when that
 * fails, in the end only when their files have changed; models that are configured alike share one.
 * A model that is not to be believed is put into quarantine: its tokenizer stays, and is not used
 * for requests.
 *
 * <p>Thread-safe.
 */
public final class LoadedTokenizers implements Tokenizers.Source, AutoCloseable {

  private static final Logger LOG = LoggerFactory.getLogger(LoadedTokenizers.class);
  private static final long STOP_SECONDS = 5;
  private static final int DOUBLINGS = 6;

  /** What loading takes from the world; tests put their own in. */
  record Loading(
      BiFunction<ModelSettings, HubListener, ModelTokenizer> loader,
      Function<ModelSettings, @Nullable String> stamp,
      ThreadFactory threads,
      LongSupplier nanoClock,
      long backoffMillis) {}

  private static final long BACKOFF_MILLIS = 1_000;
  private static final long RETIRED_MILLIS = 120_000;

  private final Loading loading;
  private final long cacheBytes;
  private final ScheduledExecutorService thread;
  private final Set<TokenizerSlot> retired = ConcurrentHashMap.newKeySet();
  private volatile Map<String, TokenizerSlot> byModel = Map.of();
  private final Set<String> quarantined = ConcurrentHashMap.newKeySet();
  private List<ModelConfig> models;
  private List<ReplicaConfig> replicas;
  private volatile boolean closed;

  LoadedTokenizers(RouterConfig config, Loading loading) {
    this.loading = loading;
    this.cacheBytes = MemoryBudget.of(config).cacheBytes();
    this.thread = Executors.newSingleThreadScheduledExecutor(loading.threads());
    this.models = config.models();
    this.replicas = config.replicas();
    this.byModel = slots(settings(), Set.of());
    begin(slots());
  }

  private void begin(Set<TokenizerSlot> added) {
    added.stream()
        .sorted(Comparator.comparing(slot -> HubPlace.isOne(slot.settings().place())))
        .forEach(slot -> later(() -> load(slot), 0));
  }

  /** Begins to load the tokenizers of {@code config}. */
  public static LoadedTokenizers begin(RouterConfig config, LongSupplier nanoClock) {
    ThreadFactory threads =
        work -> {
          Thread thread = new Thread(work, "warmpath-tokenizer-loader");
          thread.setDaemon(true);
          return thread;
        };
    long bytes = CacheSizes.of(config).tokenizerBytes();
    return new LoadedTokenizers(
        config,
        new Loading(
            (settings, listener) -> settings.load(listener, bytes),
            FilesStamp::of,
            threads,
            nanoClock,
            BACKOFF_MILLIS));
  }

  /**
   * Loads and closes each tokenizer of {@code config} that need not be downloaded.
   *
   * @return what is wrong with the first that failed, or null
   */
  public static @Nullable String localProblem(RouterConfig config) {
    for (ModelConfig model : config.models()) {
      ModelSettings settings = settings(config, model);
      try {
        if (!HubPlace.isOne(settings.place()) || settings.files() != null) {
          settings.load(HubListener.NONE, CacheSizes.of(config).tokenizerBytes()).close();
        }
      } catch (RuntimeException | Error e) {
        return problem(model.name(), String.valueOf(e.getMessage()));
      }
    }
    return null;
  }

  private static String problem(String model, String why) {
    return "tokenizer of model '" + model + "': " + why;
  }

  /** How many tokenizers the models of {@code config} need. */
  static int count(RouterConfig config) {
    return (int) config.models().stream().map(model -> settings(config, model)).distinct().count();
  }

  private static ModelSettings settings(RouterConfig config, ModelConfig model) {
    return settings(model, config.replicas(), Dialect.VLLM);
  }

  private static ModelSettings settings(
      ModelConfig model, List<ReplicaConfig> replicas, Dialect otherwise) {
    Dialect dialect = dialect(replicas, model.name(), otherwise);
    return new ModelSettings(model.tokenizer(), model.rendering(), dialect);
  }

  private Map<String, ModelSettings> settings() {
    Map<String, ModelSettings> settings = new LinkedHashMap<>();
    for (ModelConfig model : models) {
      TokenizerSlot known = byModel.get(model.name());
      Dialect otherwise = known == null ? Dialect.VLLM : known.settings().dialect();
      settings.put(model.name(), settings(model, replicas, otherwise));
    }
    return settings;
  }

  /** The slot of each model, of {@code known} where one fits. */
  private static Map<String, TokenizerSlot> slots(
      Map<String, ModelSettings> settings, Set<TokenizerSlot> known) {
    Map<ModelSettings, TokenizerSlot> slots = new HashMap<>();
    known.forEach(slot -> slots.put(slot.settings(), slot));
    Map<String, TokenizerSlot> byModel = new LinkedHashMap<>();
    settings.forEach(
        (model, each) -> byModel.put(model, slots.computeIfAbsent(each, TokenizerSlot::new)));
    return Collections.unmodifiableMap(byModel);
  }

  private Set<TokenizerSlot> slots() {
    return new LinkedHashSet<>(byModel.values());
  }

  /**
   * The fleet has these replicas now. Tokenizers whose models are served by other kinds of engines
   * than before are loaded for these; until then their prompts are routed on load.
   */
  public synchronized void follow(List<ReplicaConfig> replicas) {
    this.replicas = List.copyOf(replicas);
    apply();
  }

  /**
   * These models are configured now. Tokenizers of models that are new, or configured otherwise,
   * are loaded; until then their prompts are routed on load.
   */
  public synchronized void configure(List<ModelConfig> models) {
    this.models = List.copyOf(models);
    apply();
  }

  private void apply() {
    Map<String, TokenizerSlot> before = byModel;
    Set<TokenizerSlot> gone = slots();
    byModel = slots(settings(), gone);
    Set<TokenizerSlot> added = slots();
    added.removeAll(gone);
    gone.removeAll(byModel.values());
    before.forEach((model, slot) -> {
      if (byModel.get(model) != slot) {
        quarantined.remove(model);
      }
    });
    added.forEach(slot ->
        LOG.info("loading the tokenizer of {} for {}", models(slot), slot.settings().dialect()));
    begin(added);
    gone.forEach(this::retire);
    shareMemory();
  }

  /** Gives each loaded tokenizer an equal part of the memory. */
  private synchronized void shareMemory() {
    long bytes = equalPart();
    slots().forEach(slot -> resize(slot, bytes));
  }

  private long equalPart() {
    return CacheSizes.of(cacheBytes, slots().size()).tokenizerBytes();
  }

  private static void resize(TokenizerSlot slot, long bytes) {
    ModelTokenizer tokenizer = slot.content().tokenizer();
    if (tokenizer != null) {
      resize(tokenizer, bytes);
    }
  }

  private static void resize(ModelTokenizer tokenizer, long bytes) {
    tokenizer.resize(new EncodeBudget(bytes, EncodeBudget.CHECK_TEXTS));
  }

  /** Closes it later: requests that are being read may still use it. */
  private void retire(TokenizerSlot slot) {
    retired.add(slot);
    resize(slot, 0);
    later(
        () -> {
          retired.remove(slot);
          close(slot);
        },
        RETIRED_MILLIS);
  }

  private static void close(TokenizerSlot slot) {
    ModelTokenizer tokenizer = slot.content().tokenizer();
    if (tokenizer != null) {
      tokenizer.close();
    }
  }

  /** The one kind of engine that serves the model; {@code otherwise} if none is known to. */
  private static Dialect dialect(List<ReplicaConfig> replicas, String model, Dialect otherwise) {
    Set<Dialect> kinds =
        replicas.stream()
            .filter(replica -> replica.models().isEmpty() || replica.models().contains(model))
            .map(ReplicaConfig::dialect)
            .map(kind -> kind.isSglang() ? Dialect.SGLANG : Dialect.VLLM)
            .collect(Collectors.toSet());
    if (kinds.size() > 1) {
      return Dialect.MIXED;
    }
    return kinds.isEmpty() ? otherwise : kinds.iterator().next();
  }

  private void load(TokenizerSlot slot) {
    if (!byModel.containsValue(slot)) {
      return; // no model needs it any more
    }
    long start = loading.nanoClock().getAsLong();
    slot.begin();
    String stamp = loading.stamp().apply(slot.settings());
    try {
      ModelTokenizer tokenizer = loading.loader().apply(slot.settings(), slot);
      long nanos = loading.nanoClock().getAsLong() - start;
      keep(slot, tokenizer, TimeUnit.NANOSECONDS.toMillis(nanos));
    } catch (RuntimeException | Error e) {
      String problem = e.getMessage() == null ? e.toString() : e.getMessage();
      slot.failed(problem);
      LOG.warn("the tokenizer of {} was not loaded: {}", models(slot), problem);
      retryLater(slot, e instanceof TokenizerLoadException ? stamp : null);
    }
  }

  private void keep(TokenizerSlot slot, ModelTokenizer tokenizer, long millis) {
    if (closed || !byModel.containsValue(slot)) {
      tokenizer.close();
      return;
    }
    resize(tokenizer, equalPart());
    slot.ready(tokenizer, millis);
    shareMemory();
    LOG.info("the tokenizer of {} was loaded in {} ms", models(slot), millis);
  }

  /**
   * Loads later once more.
   *
   * @param stamp of files that cannot be used; null if the failure may pass by itself
   */
  private void retryLater(TokenizerSlot slot, @Nullable String stamp) {
    if (stamp == null || slot.content().failures() <= DOUBLINGS) {
      later(slot, () -> load(slot));
      return;
    }
    slot.waitForFiles();
    LOG.warn("the tokenizer of {} is loaded again when its files change", models(slot));
    later(slot, () -> loadChanged(slot, stamp));
  }

  private void loadChanged(TokenizerSlot slot, String stamp) {
    if (byModel.containsValue(slot) && stamp.equals(loading.stamp().apply(slot.settings()))) {
      later(slot, () -> loadChanged(slot, stamp));
    } else {
      load(slot);
    }
  }

  private void later(TokenizerSlot slot, Runnable attempt) {
    int doublings = Math.min(DOUBLINGS, slot.content().failures() - 1);
    later(attempt, loading.backoffMillis() << doublings);
  }

  private void later(Runnable work, long delayMillis) {
    try {
      Future<?> unused = thread.schedule(work, delayMillis, TimeUnit.MILLISECONDS);
    } catch (RejectedExecutionException e) {
      LOG.debug("closed, no tokenizer is loaded any more");
    }
  }

  private List<String> models(TokenizerSlot slot) {
    return byModel.entrySet().stream()
        .filter(entry -> entry.getValue() == slot)
        .map(Map.Entry::getKey)
        .toList();
  }

  /**
   * Waits until each tokenizer has been tried once.
   *
   * @return what is wrong with the first that failed, or null
   */
  public @Nullable String await() throws InterruptedException {
    for (TokenizerSlot slot : slots()) {
      slot.await();
      String problem = slot.content().problem();
      if (problem != null) {
        return problem(models(slot).get(0), problem);
      }
    }
    return null;
  }

  @Override
  public Tokenizers.@Nullable Local of(String model) {
    TokenizerSlot slot = byModel.get(model);
    if (slot == null) {
      return null;
    }
    Content content = slot.content();
    return new Tokenizers.Local(
        model,
        quarantined.contains(model) ? null : content.tokenizer(),
        content.state() == State.LOADING
            ? FallbackCause.LOADING
            : content.state() == State.FAILED
                ? FallbackCause.NOT_LOADED
                : FallbackCause.QUARANTINED,
        content.cost());
  }

  @Override
  public Tokenizers.@Nullable Local only() {
    return byModel.size() == 1 ? of(byModel.keySet().iterator().next()) : null;
  }

  /** Uses the model's tokenizer no more, until {@link #release}; false if that is so already. */
  public boolean quarantine(String model) {
    return byModel.containsKey(model) && quarantined.add(model);
  }

  /** Uses the model's tokenizer again; false if it was not in quarantine. */
  public boolean release(String model) {
    return quarantined.remove(model);
  }

  /** How all stand, in the order of the configuration. */
  public List<TokenizerStatus> status() {
    return byModel.keySet().stream().map(model -> Objects.requireNonNull(status(model))).toList();
  }

  /** How the one of {@code model} stands; null if none is configured. */
  public @Nullable TokenizerStatus status(String model) {
    TokenizerSlot slot = byModel.get(model);
    if (slot == null) {
      return null;
    }
    Content content = slot.content();
    return new TokenizerStatus(
        model,
        slot.settings().place(),
        state(slot),
        content.tokenizer(),
        content.problem(),
        content.failures(),
        slot.waitsForFiles(),
        content.loadMillis(),
        slot.download(),
        quarantined.contains(model));
  }

  private static State state(TokenizerSlot slot) {
    State state = slot.content().state();
    boolean downloading = state != State.READY && slot.loads() && slot.download().isUnderWay();
    return downloading ? State.DOWNLOADING : state;
  }

  /** How each model's tokenizer stands, for a scrape. */
  public void collect(MetricValues to) {
    for (TokenizerStatus model : status()) {
      String name = model.model();
      boolean ready = model.state() == TokenizerStatus.State.READY;
      to.add(Metric.TOKENIZER_READY, ready ? 1 : 0, name);
      to.add(Metric.TOKENIZER_LOAD_FAILURES_TOTAL, model.failures(), name);
      to.add(Metric.TOKENIZER_QUARANTINED, model.quarantined() ? 1 : 0, name);
      TokenizerStatus.Download download = model.download();
      to.add(Metric.TOKENIZER_DOWNLOADED_BYTES, download.bytes(), name);
      to.add(Metric.TOKENIZER_DOWNLOAD_SIZE_BYTES, download.totalBytes(), name);
      to.add(Metric.TOKENIZER_DOWNLOAD_RETRIES_TOTAL, download.retries(), name);
      if (model.tokenizer() != null) {
        collect(to, name, model.tokenizer().encodeCounts());
        PromptImages images = model.tokenizer().images();
        collect(to, name, "image", images.memory().counts());
        collect(to, name, "image_learned", images.learned().counts());
        images
            .learned()
            .lessons()
            .forEach(
                (lesson, count) -> to.add(Metric.IMAGE_LESSONS_TOTAL, count, name, lesson.label()));
      }
    }
  }

  private static void collect(
      MetricValues to, String model, String layer, ImageMemory.Counts images) {
    to.add(Metric.TOKENIZER_MEMORY_BYTES, images.bytes(), model, layer);
    to.add(Metric.TOKENIZER_MEMORY_MAX_BYTES, images.maxBytes(), model, layer);
    to.add(Metric.TOKENIZER_EVICTIONS_TOTAL, images.evictions(), model, layer);
  }

  private static void collect(MetricValues to, String model, EncodeCounts counts) {
    to.add(Metric.TOKENS_TOTAL, counts.prefixTokens(), model, "prefix");
    to.add(Metric.TOKENS_TOTAL, counts.chunkTokens(), model, "chunk");
    to.add(Metric.TOKENS_TOTAL, counts.wordTokens(), model, "word");
    to.add(Metric.TOKENS_TOTAL, counts.nativeTokens(), model, "native");
    collect(to, model, "prefix", counts.prefixes());
    collect(to, model, "chunk", counts.chunks());
    collect(to, model, "word", counts.words());
  }

  private static void collect(MetricValues to, String model, String name, LayerCounts layer) {
    to.add(Metric.TOKENIZER_MEMORY_BYTES, layer.bytes(), model, name);
    to.add(Metric.TOKENIZER_MEMORY_MAX_BYTES, layer.maxBytes(), model, name);
    to.add(Metric.TOKENIZER_EVICTIONS_TOTAL, layer.evictions(), model, name);
  }

  /** Ends loading and closes what was loaded; a load that still runs closes its own. */
  @Override
  public void close() {
    closed = true;
    thread.shutdownNow();
    try {
      if (!thread.awaitTermination(STOP_SECONDS, TimeUnit.SECONDS)) {
        LOG.warn("a tokenizer is still being loaded");
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    slots().forEach(LoadedTokenizers::close);
    retired.forEach(LoadedTokenizers::close);
  }

  /**
   * Sizes of the caches of prompts: a quarter of all for bodies, the rest in equal parts for the
   * texts of each tokenizer.
   *
   * <p>Immutable.
   *
   * @param bodyBytes for bodies of all models
   * @param tokenizerBytes for the texts of one tokenizer
   */
  public record CacheSizes(long bodyBytes, long tokenizerBytes) {

    private static final int BODIES_SHARE = 4;

    /** The shares of {@code config}. */
    public static CacheSizes of(RouterConfig config) {
      return of(MemoryBudget.of(config).cacheBytes(), LoadedTokenizers.count(config));
    }

    static CacheSizes of(long all, int tokenizers) {
      long bodies = all / BODIES_SHARE;
      return new CacheSizes(bodies, (all - bodies) / Math.max(1, tokenizers));
    }
  }
}
