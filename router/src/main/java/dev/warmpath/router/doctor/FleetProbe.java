package dev.warmpath.router.doctor;

import dev.warmpath.eventingest.Clocks;
import dev.warmpath.eventingest.EngineSource;
import dev.warmpath.router.EventStreams;
import dev.warmpath.router.HostFacts;
import dev.warmpath.router.config.DiscoveryConfig;
import dev.warmpath.router.config.FileWatch;
import dev.warmpath.router.config.ReplicaConfig;
import dev.warmpath.router.config.RouterConfig;
import dev.warmpath.router.doctor.FleetFacts.DiscoveryFacts;
import dev.warmpath.router.doctor.FleetFacts.PairTrial;
import dev.warmpath.router.doctor.FleetFacts.TlsFacts;
import dev.warmpath.router.doctor.HttpFacts.EngineKind;
import dev.warmpath.router.doctor.ReplicaFacts.StreamFacts;
import dev.warmpath.router.doctor.ReplicaFacts.Trial;
import dev.warmpath.router.doctor.TrialProbe.TrialPrompt;
import dev.warmpath.router.fleet.KvTransfer;
import dev.warmpath.router.fleet.Replica;
import dev.warmpath.router.members.AnnouncedRanks;
import dev.warmpath.router.members.Found;
import dev.warmpath.router.members.HostRules;
import dev.warmpath.router.members.Look;
import dev.warmpath.router.members.Member;
import dev.warmpath.router.members.Membership;
import dev.warmpath.router.members.ReplicaCheck;
import dev.warmpath.router.prompt.InferenceRules;
import dev.warmpath.router.tokenize.ImageComparison;
import dev.warmpath.router.tokenize.LoadedTokenizers;
import dev.warmpath.router.tokenize.ProbeComparison;
import dev.warmpath.router.tokenize.TokenizerStatus;
import dev.warmpath.router.upstream.EngineClient;
import dev.warmpath.router.upstream.EngineHttp;
import dev.warmpath.router.upstream.Upstreams;
import dev.warmpath.tokenizer.ModelTokenizer;
import io.vertx.core.Vertx;
import io.vertx.core.VertxOptions;
import io.vertx.core.file.FileSystemOptions;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.URI;
import java.security.GeneralSecurityException;
import java.security.cert.X509Certificate;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.function.BiFunction;
import java.util.function.Function;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.SSLSocket;
import javax.net.ssl.TrustManager;
import javax.net.ssl.X509ExtendedTrustManager;
import org.jspecify.annotations.Nullable;

/**
 * Finds the facts of a fleet: looks once for what {@code discovery} finds, asks each replica's
 * routes, follows its events as a router does, and sends it two requests if that is allowed.
 * Replicas are asked at the same time, a few at once.
 *
 * <p>Confined to the thread that made it.
 */
public final class FleetProbe implements AutoCloseable {

  private static final int AT_ONCE = 8;

  /** Long enough that no connector computes it rather than transfer it. */
  private static final int PAIR_WORDS = 500;

  private static final int ANSWER_BYTES = 16 << 20;

  /**
   * What may be done.
   *
   * @param requests whether engines may be sent requests
   * @param patience longest time to wait for an engine's connection, its replay and its events
   */
  public record Options(boolean requests, Duration patience) {}

  private final RouterConfig config;
  private final DiscoveryProbe discovered;
  private final List<ReplicaConfig> replicas;
  private final Options options;
  private final Duration timeout;
  private final Vertx vertx =
      Vertx.vertx(
          new VertxOptions()
              .setFileSystemOptions(
                  new FileSystemOptions()
                      .setFileCachingEnabled(false)
                      .setClassPathResolvingEnabled(false)));
  private final FileWatch files;
  private final EngineHttp http;
  private final StreamProbe streams;
  private final LoadedTokenizers tokenizers;
  private final List<Replica> fleet;
  private final HttpProbe routes;
  private final TrialProbe trials;

  /**
   * Finds the replicas.
   *
   * @throws UncheckedIOException if files of keys or certificates cannot be used
   */
  public FleetProbe(RouterConfig config, Options options) {
    this.config = config;
    this.options = options;
    this.discovered = new DiscoveryProbe(config);
    this.files = new FileWatch(config.files().pollMs());
    this.timeout = Duration.ofMillis(config.parity().timeoutMs());
    Upstreams upstreams = new Upstreams(config.upstream(), vertx, files);
    this.http =
        new EngineHttp(
            FleetProbe::daemon,
            upstreams.newClient(
                "doctor",
                new EngineClient.Limits(config.timeouts()::connectMs, AT_ONCE, ANSWER_BYTES)));
    this.replicas = describe(discovered.replicas(), upstreams);
    this.tokenizers = LoadedTokenizers.begin(config, System::nanoTime);
    this.streams = new StreamProbe(config);
    this.fleet = replicas.stream().map(replica -> replica(replica, upstreams)).toList();
    this.routes = new HttpProbe(http, timeout, Clocks.ofTheMachine());
    this.trials = new TrialProbe(http, streams, fleet, options.patience());
  }

  /** As a router would follow those whose engines are asked for their events. */
  private List<ReplicaConfig> describe(List<ReplicaConfig> named, Upstreams upstreams) {
    List<CompletableFuture<ReplicaConfig>> described =
        named.stream().map(replica -> describe(replica, upstreams)).toList();
    return described.stream().map(CompletableFuture::join).toList();
  }

  private CompletableFuture<ReplicaConfig> describe(ReplicaConfig named, Upstreams upstreams) {
    if (!named.asksForEvents()) {
      return CompletableFuture.completedFuture(named);
    }
    HostRules hosts = new HostRules(config.fleet().hostPatterns());
    return http.get(replica(named, upstreams), "/kv_event_sources", timeout)
        .handle((answer, failure) -> failure == null ? answer.body() : new byte[0])
        .thenApplyAsync(body ->
            AnnouncedRanks.read(body)
                .orElse(AnnouncedRanks.UNTOLD)
                .describe(named, host -> hosts.mayFollow(named, host))
                .replica());
  }

  private static Replica replica(ReplicaConfig config, Upstreams upstreams) {
    Replica replica = Member.newReplica(config, false);
    upstreams.add(replica, config.upstream(), null);
    return replica;
  }

  private static Thread daemon(Runnable work) {
    Thread thread = new Thread(work, "warmpath-doctor");
    thread.setDaemon(true);
    return thread;
  }

  /** Finds all facts; takes seconds. */
  public FleetFacts look() throws InterruptedException {
    replicas.forEach(replica -> streams.follow(replica, replica.blockModel(config.onlyModel())));
    tokenizers.follow(replicas);
    String unused = tokenizers.await();
    List<ReplicaFacts> found = new ArrayList<>();
    ExecutorService threads = Executors.newFixedThreadPool(AT_ONCE, FleetProbe::daemon);
    try {
      List<Future<ReplicaFacts>> asked =
          fleet.stream().map(replica -> threads.submit(() -> look(replica))).toList();
      for (Future<ReplicaFacts> facts : asked) {
        found.add(facts.get());
      }
    } catch (ExecutionException e) {
      throw new IllegalStateException("examining a replica failed", e.getCause());
    } finally {
      threads.shutdownNow();
    }
    return new FleetFacts(
        config,
        found,
        stores(),
        options.requests() ? pairs(found) : List.of(),
        discovered.sources(),
        tokenizerProblems(),
        HostFacts.ofTheMachine(),
        Clocks.ofTheMachine().wallClock().instant());
  }

  private ReplicaFacts look(Replica replica) throws InterruptedException {
    ReplicaConfig configured = replicas.get(fleet.indexOf(replica));
    HttpFacts told = routes.ask(replica, configured.dialect().isSglang());
    replica.transfer(told.transfer(replica.transfer()));
    List<EngineSource> sources =
        EventStreams.sources(configured, configured.blockModel(config.onlyModel()));
    for (EngineSource source : sources) {
      if (portProblem(source) == null) {
        streams.awaitStart(source.id(), source.replayEndpoint() != null, options.patience());
      }
    }
    List<ProbeComparison> comparisons = told.reachable() ? compare(replica, told) : List.of();
    List<ImageComparison> images =
        told.kind() == EngineKind.VLLM ? compareImages(replica, told) : List.of();
    List<Trial> tried = told.reachable() && options.requests() ? tryOut(replica, told) : List.of();
    List<StreamFacts> followed = sources.stream().map(this::stream).toList();
    return new ReplicaFacts(
        configured,
        told,
        TlsProbe.read(replica.baseUrl(), timeout),
        followed,
        comparisons,
        images,
        tried);
  }

  /** One after the other, since each is judged by what the engines count meanwhile. */
  private List<PairTrial> pairs(List<ReplicaFacts> found) {
    PairProbe probe = new PairProbe(http, options.patience());
    List<Replica> reachable = new ArrayList<>();
    for (ReplicaFacts facts : found) {
      if (facts.http().reachable() && !facts.http().baseModels().isEmpty()) {
        reachable.add(fleet.get(found.indexOf(facts)));
      }
    }
    Function<Replica, HttpFacts> told = replica -> found.get(fleet.indexOf(replica)).http();
    BiFunction<Replica, Replica, List<String>> models =
        (from, to) -> told.apply(to).sharedModels(told.apply(from));
    List<PairTrial> tried = new ArrayList<>();
    for (PairProbe.Pair pair :
        PairProbe.pairs(reachable, (from, to) -> !models.apply(from, to).isEmpty())) {
      String model = model(models.apply(pair.prefill(), pair.decode()));
      int words = pairWords(told.apply(pair.decode()));
      tried.add(probe.run(pair, TrialPrompt.of(model, words, tokenizer(model))));
    }
    return tried;
  }

  private static int pairWords(HttpFacts told) {
    return told.maxModelTokens() == 0
        ? PAIR_WORDS
        : Math.min(PAIR_WORDS, told.maxModelTokens() / 4);
  }

  private List<StreamFacts> stores() {
    return config.stores().stream()
        .filter(store -> store.events() != null)
        .map(store -> stream(EventStreams.source(store, config.onlyModel())))
        .toList();
  }

  private StreamFacts stream(EngineSource source) {
    String replay = source.replayEndpoint();
    return streams.facts(
        source, portProblem(source), replay == null ? null : TcpPort.problem(replay, timeout));
  }

  private @Nullable String portProblem(EngineSource source) {
    return source.bind() ? null : TcpPort.problem(source.endpoint(), timeout);
  }

  private List<ProbeComparison> compare(Replica replica, HttpFacts told) {
    List<ProbeComparison> all = new ArrayList<>();
    for (String model : told.baseModels()) {
      ModelTokenizer tokenizer = tokenizer(model);
      if (tokenizer != null) {
        all.add(ProbeComparison.of(model, tokenizer, replica, http, timeout));
      }
    }
    return all;
  }

  private List<ImageComparison> compareImages(Replica replica, HttpFacts told) {
    List<ImageComparison> all = new ArrayList<>();
    for (String model : told.baseModels()) {
      ModelTokenizer tokenizer = tokenizer(model);
      ImageComparison compared =
          tokenizer == null
              ? null
              : ImageComparison.of(model, told.root(model), tokenizer, replica, http, timeout);
      if (compared != null) {
        all.add(compared);
      }
    }
    return all;
  }

  /** With a model that has a tokenizer, if any has. */
  private List<Trial> tryOut(Replica replica, HttpFacts told) throws InterruptedException {
    List<String> served = told.baseModels();
    KvTransfer transfer = replica.transfer();
    boolean servesNobody =
        transfer.connector() == KvTransfer.Connector.SGLANG && !transfer.servesAlone();
    if (served.isEmpty() || servesNobody) {
      return List.of();
    }
    String model = model(served);
    List<Trial> all = new ArrayList<>();
    for (int rank = 0; rank < replica.ranks(); rank++) {
      all.add(trials.run(replica, rank, told, model, tokenizer(model)));
    }
    return all;
  }

  private String model(List<String> served) {
    return served.stream()
        .filter(name -> tokenizer(name) != null)
        .findFirst()
        .orElse(served.get(0));
  }

  private @Nullable ModelTokenizer tokenizer(String model) {
    TokenizerStatus status = tokenizers.status(model);
    return status == null ? null : status.tokenizer();
  }

  private Map<String, String> tokenizerProblems() {
    Map<String, String> problems = new LinkedHashMap<>();
    for (TokenizerStatus status : tokenizers.status()) {
      if (status.problem() != null) {
        problems.put(status.model(), status.problem());
      }
    }
    return problems;
  }

  @Override
  public void close() {
    streams.close();
    http.close();
    files.close();
    vertx.close();
    tokenizers.close();
  }

  /**
   * Looks once at each source of replicas, and takes and refuses what they name as the router does.
   * Blocks.
   *
   * <p>Confined to one thread.
   */
  private static final class DiscoveryProbe {

    private final ReplicaCheck check;
    private final List<ReplicaConfig> replicas = new ArrayList<>();
    private final List<DiscoveryFacts> sources = new ArrayList<>();

    /** Looks at all sources of {@code config}. */
    DiscoveryProbe(RouterConfig config) {
      check = new HostRules(config.fleet().hostPatterns()).firstOfName();
      take(Membership.CONFIGURATION, config.replicas(), new ArrayList<>());
      config.discovery().forEach(source -> sources.add(look(source)));
    }

    /** Those that are configured, and those that were found. */
    List<ReplicaConfig> replicas() {
      return List.copyOf(replicas);
    }

    List<DiscoveryFacts> sources() {
      return sources;
    }

    private DiscoveryFacts look(DiscoveryConfig source) {
      try (Look look = Look.of(source, new InferenceRules(new Random()))) {
        Found found = look.look();
        List<String> refused = new ArrayList<>(found.refused());
        List<String> taken = take(source.name(), found.replicas(), refused);
        return new DiscoveryFacts(source.name(), null, taken, refused);
      } catch (IOException e) {
        return new DiscoveryFacts(
            source.name(), String.valueOf(e.getMessage()), List.of(), List.of());
      }
    }

    /** Returns the names of those that are taken. */
    private List<String> take(String source, List<ReplicaConfig> named, List<String> refused) {
      List<String> taken = new ArrayList<>();
      for (ReplicaConfig replica : named) {
        String reason = check.judge(source, replica).refusal();
        if (reason == null) {
          replicas.add(replica);
          taken.add(replica.name());
        } else {
          refused.add(replica.name() + ": " + reason);
        }
      }
      return taken;
    }
  }

  /**
   * Reads a server's certificate, whoever signed it: whether it is trusted shows when the replica
   * is asked. Nothing is sent to the server.
   */
  private static final class TlsProbe {

    private static final int DEFAULT_PORT = 443;

    private TlsProbe() {}

    /** The certificate of an {@code https} address; null if it has none, or shows none in time. */
    static @Nullable TlsFacts read(URI url, Duration timeout) {
      if (!"https".equals(url.getScheme())) {
        return null;
      }
      int port = url.getPort() < 0 ? DEFAULT_PORT : url.getPort();
      int millis = (int) timeout.toMillis();
      try (Socket plain = new Socket()) {
        plain.connect(new InetSocketAddress(url.getHost(), port), millis);
        plain.setSoTimeout(millis);
        SSLContext context = SSLContext.getInstance("TLS");
        context.init(null, new TrustManager[] {new AnyCertificate()}, null);
        try (SSLSocket socket =
            (SSLSocket) context.getSocketFactory().createSocket(plain, url.getHost(), port, true)) {
          socket.startHandshake();
          X509Certificate shown = (X509Certificate) socket.getSession().getPeerCertificates()[0];
          return new TlsFacts(
              shown.getSubjectX500Principal().getName(), shown.getNotAfter().toInstant());
        }
      } catch (IOException | GeneralSecurityException e) {
        return null;
      }
    }

    /** Lets the handshake go on with any certificate. */
    private static final class AnyCertificate extends X509ExtendedTrustManager {

      @Override
      public void checkClientTrusted(X509Certificate[] chain, String authType, Socket socket) {}

      @Override
      public void checkServerTrusted(X509Certificate[] chain, String authType, Socket socket) {}

      @Override
      public void checkClientTrusted(X509Certificate[] chain, String authType, SSLEngine engine) {}

      @Override
      public void checkServerTrusted(X509Certificate[] chain, String authType, SSLEngine engine) {}

      @Override
      public void checkClientTrusted(X509Certificate[] chain, String authType) {}

      @Override
      public void checkServerTrusted(X509Certificate[] chain, String authType) {}

      @Override
      public X509Certificate[] getAcceptedIssuers() {
        return new X509Certificate[0];
      }
    }
  }
}
