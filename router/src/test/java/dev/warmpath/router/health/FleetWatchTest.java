package dev.warmpath.router.health;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.AppenderBase;
import dev.warmpath.eventingest.EngineId;
import dev.warmpath.eventingest.EngineStatus;
import dev.warmpath.eventingest.EngineView;
import dev.warmpath.eventingest.RingFill;
import dev.warmpath.eventingest.StoreRules;
import dev.warmpath.eventingest.Trust;
import dev.warmpath.router.Environment;
import dev.warmpath.router.config.ConfigTree;
import dev.warmpath.router.fleet.Fleet;
import dev.warmpath.router.fleet.KvTransfer;
import dev.warmpath.router.fleet.Replica;
import dev.warmpath.router.fleet.Store;
import dev.warmpath.router.health.FleetWatch.TroubleLog;
import dev.warmpath.router.rig.Backend;
import dev.warmpath.router.rig.Rig;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpServerRequest;
import java.net.URI;
import java.net.http.HttpResponse;
import java.time.Clock;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.slf4j.LoggerFactory;

/** What the log, the metrics and the admin API tell of a fleet that is not well. */
@Timeout(120)
class FleetWatchTest {

  private static final String BODY = "{\"model\":\"m\",\"prompt\":\"p\"}";
  private static final String STREAM = "{\"model\":\"m\",\"prompt\":\"p\",\"stream\":true}";
  private static final int CHECKS = 10;

  private final List<String> lines = new CopyOnWriteArrayList<>();
  private final AtomicLong nanos = new AtomicLong(TimeUnit.HOURS.toNanos(1));
  private final Logger logger = (Logger) LoggerFactory.getLogger(TroubleLog.class);
  private final AppenderBase<ILoggingEvent> appender =
      new AppenderBase<>() {
        @Override
        protected void append(ILoggingEvent event) {
          lines.add(event.getLevel() + " " + event.getFormattedMessage());
        }
      };

  @BeforeEach
  void listen() {
    logger.setLevel(Level.INFO);
    appender.start();
    logger.addAppender(appender);
  }

  @AfterEach
  void stop() {
    logger.detachAppender(appender);
    logger.setLevel(null);
  }

  private Rig rig(int replicas, UnaryOperator<ConfigTree> change) {
    return new Rig(
        replicas,
        tree ->
            change.apply(
                tree.set("health.timeout-ms", 1_500, "test")
                    .set("health.fall", 2, "test")
                    .set("health.metrics-interval-ms", 20, "test")),
        replicas,
        null,
        new Environment(Clock.systemUTC(), nanos::get, new Random(1), null));
  }

  private void pass(int seconds) {
    nanos.addAndGet(TimeUnit.SECONDS.toNanos(seconds));
  }

  private List<String> of(String subject) {
    return lines.stream().filter(line -> line.contains(subject)).toList();
  }

  private static void checks(Backend backend) {
    int before = backend.healthChecks.get();
    Rig.until(() -> backend.healthChecks.get() > before + CHECKS);
  }

  private static String fleet(Rig rig) throws Exception {
    return new String(rig.admin("/admin/fleet").body(), UTF_8);
  }

  @Test
  void aReplicaThatIsDownIsOneLineAndOneWhenItIsBack() throws Exception {
    try (Rig rig = rig(2, tree -> tree)) {
      Backend backend = rig.backends.get(0);
      backend.health = 500;
      Rig.until(() -> rig.up() == 1);
      checks(backend);
      assertThat(of("replica r0")).containsExactly("WARN replica r0: down, status 500");
      assertThat(fleet(rig)).contains("\"problem\":\"status 500\"");
      assertThat(of("model m: no replica"))
          .as("but for the start, if the first checks take long")
          .allMatch(line -> line.contains("it was not checked yet"));
      backend.health = 200;
      Rig.until(() -> of("replica r0").size() == 2);
      assertThat(of("replica r0").get(1)).matches("INFO replica r0: well again after \\d+ s");
    }
  }

  @Test
  void theLineHasTheCause() throws Exception {
    Map<String, Object> dead = Map.of("name", "dead", "url", "http://127.0.0.1:1");
    try (Rig rig = rig(2, tree -> tree.put("replicas", dead, "test"))) {
      rig.backends.get(0).healthHangs = true;
      rig.backends.get(1).health = 503;
      Rig.until(() ->
          lines.contains(
              "WARN model m: no replica is well, the least bad are tried: "
                  + "r0 (no answer within 1500 ms), r1 (status 503)"));
      assertThat(lines)
          .contains(
              "WARN replica dead: down, connection refused",
              "WARN replica r0: down, no answer within 1500 ms",
              "WARN replica r1: down, status 503");
      int before = of("INFO model m: a replica is well again").size();
      rig.backends.get(1).health = 200;
      Rig.until(() -> of("INFO model m: a replica is well again").size() > before);
      assertThat(fleet(rig)).contains("\"modelsWithoutReplica\":[]");
    }
  }

  @Test
  void flappingDoesNotFloodTheLog() throws Exception {
    try (Rig rig = rig(2, tree -> tree)) {
      Backend backend = rig.backends.get(0);
      for (int i = 0; i < 10; i++) {
        backend.health = 500;
        Rig.until(() -> rig.up() == 1);
        checks(backend);
        backend.health = 200;
        Rig.until(() -> rig.up() == 2);
        checks(backend);
      }
      assertThat(of("WARN replica r0")).hasSize(3);
      assertThat(of("INFO replica r0")).hasSize(3);
      backend.health = 500;
      Rig.until(() -> rig.up() == 1);
      pass(60);
      Rig.until(() -> of("WARN replica r0").size() == 4);
      assertThat(of("WARN replica r0").get(3)).contains("(and 7 times before)");
    }
  }

  @Test
  void anEngineThatRefusesEverythingIsToldAndLeftAlone() throws Exception {
    try (Rig rig = rig(2, tree -> tree)) {
      Backend retired = rig.backends.get(0);
      retired.script = (request, body) -> request.response().setStatusCode(503).end("scaling");
      Rig.until(() -> {
        pass(1);
        chat(rig);
        return rig.metrics().get("warmpath_engine_refusing{engine=\"r0\"}") == 1;
      });
      Rig.until(() -> of("engine r0").size() == 1);
      assertThat(of("engine r0").get(0))
          .matches("WARN engine r0: ejected, it answered \\d+ requests in a row with 503.*");
      assertThat(rig.up()).as("its health check passes").isEqualTo(2);
      assertThat(fleet(rig)).contains("\"circuit\":\"open\",\"problem\":\"it answered");
      int before = retired.bodies.size();
      for (int i = 0; i < 20; i++) {
        assertThat(chat(rig)).isEqualTo(200);
      }
      assertThat(retired.bodies).as("no attempts there").hasSize(before);
      pass(30);
      for (int i = 0; i < 20; i++) {
        assertThat(chat(rig)).isEqualTo(200);
      }
      assertThat(retired.bodies).as("one probe").hasSize(before + 1);
      retired.script = (request, body) -> request.response().end("{}");
      pass(60);
      Rig.until(() -> {
        chat(rig);
        return rig.metrics().get("warmpath_engine_refusing{engine=\"r0\"}") == 0;
      });
      Rig.until(() -> of("INFO engine r0").size() == 1);
    }
  }

  private static int chat(Rig rig) {
    try {
      return rig.chat(BODY).statusCode();
    } catch (Exception e) {
      throw new IllegalStateException(e);
    }
  }

  @Test
  void aFullEngineIsNotEjected() throws Exception {
    try (Rig rig = rig(2, tree -> tree)) {
      Backend full = rig.backends.get(0);
      AtomicBoolean ends = new AtomicBoolean();
      AtomicLong sent = new AtomicLong();
      full.script =
          (request, body) -> {
            if (!body.toString().contains("stream")) {
              request.response().setStatusCode(503).end("full");
              return;
            }
            request.response().setChunked(true).putHeader("content-type", "text/event-stream");
            rig.vertx()
                .setPeriodic(
                    2,
                    id -> {
                      request.response().write(Buffer.buffer("data: {}\n\n"));
                      sent.incrementAndGet();
                      if (ends.get()) {
                        rig.vertx().cancelTimer(id);
                        request.response().end();
                      }
                    });
          };
      rig.backends.get(1).script = (request, body) -> request.response().end("{}");
      CompletableFuture<?> one = rig.chatLater(STREAM);
      CompletableFuture<?> other = rig.chatLater(STREAM);
      Rig.until(() -> sent.get() > 0);
      for (int i = 0; i < 20; i++) {
        pass(1);
        long before = sent.get();
        Rig.until(() -> sent.get() > before + 5);
        assertThat(chat(rig)).isEqualTo(200);
      }
      assertThat(full.bodies).as("refused often").hasSizeGreaterThan(5);
      assertThat(rig.metrics()).containsEntry("warmpath_engine_refusing{engine=\"r0\"}", 0.0);
      assertThat(of("engine r0")).isEmpty();
      ends.set(true);
      CompletableFuture.allOf(one, other).join();
    }
  }

  @Test
  void aSleepingEngineGetsRequestsOnlyWhenItIsAlone() throws Exception {
    try (Rig rig = rig(2, tree -> tree)) {
      Backend sleeper = rig.backends.get(0);
      String awake = sleeper.metrics;
      sleeper.metrics = awake + "vllm:engine_sleep_state{engine=\"0\",sleep_state=\"awake\"} 0.0\n";
      Rig.until(() -> of("replica r0").size() == 1);
      assertThat(of("replica r0")).containsExactly("WARN replica r0: its engines sleep");
      assertThat(fleet(rig)).contains("\"asleep\":true");
      for (int i = 0; i < 4; i++) {
        assertThat(chat(rig)).isEqualTo(200);
      }
      assertThat(sleeper.bodies).isEmpty();
      rig.router.fleet().find("r1").orElseThrow().draining(true);
      assertThat(chat(rig)).isEqualTo(200);
      assertThat(sleeper.bodies).hasSize(1);
      sleeper.metrics = awake;
      Rig.until(() -> of("INFO replica r0").size() == 1);
    }
  }

  private static String counted(int tokens) {
    return "process_start_time_seconds 1.7e9\nvllm:generation_tokens_total{engine=\"0\"} "
        + tokens
        + "\nvllm:num_requests_running{engine=\"0\"} 1\n";
  }

  private static void metricsRead(Backend backend) {
    int before = backend.metricsReads.get();
    Rig.until(() -> backend.metricsReads.get() > before + CHECKS);
  }

  @Test
  void anEngineThatHangsWithAGoodCheckIsToldAndAvoided() throws Exception {
    try (Rig rig = rig(2, tree -> tree)) {
      Backend hung = rig.backends.get(0);
      List<HttpServerRequest> held = new CopyOnWriteArrayList<>();
      hung.metrics = counted(5);
      hung.script = (request, body) -> held.add(request);
      metricsRead(hung);
      CompletableFuture<HttpResponse<byte[]>> waiting = hold(rig, hung, BODY);
      pass(29);
      metricsRead(hung);
      assertThat(of("replica r0")).isEmpty();
      pass(1);
      Rig.until(() -> of("replica r0").size() == 1);
      assertThat(of("replica r0"))
          .containsExactly("WARN replica r0: requests wait there, and it answers none");
      assertThat(rig.up()).as("its health check passes").isEqualTo(2);
      assertThat(fleet(rig)).contains("\"stuck\":true,\"problem\":\"requests wait there");
      assertThat(rig.metrics())
          .containsEntry("warmpath_replica_stuck{replica=\"r0\"}", 1.0)
          .containsEntry("warmpath_replica_stuck{replica=\"r1\"}", 0.0)
          .containsEntry("warmpath_replica_up{replica=\"r0\"}", 1.0);
      onlyTheOther(rig, hung);
      assertThat(waiting).as("its request is left to it").isNotDone();

      waiting.cancel(true);
      Rig.until(() -> rig.router.fleet().replicas().get(0).requests() == 0);
      CompletableFuture<HttpResponse<byte[]>> probe = hold(rig, hung, BODY);
      onlyTheOther(rig, hung);
      assertThat(of("INFO replica r0")).isEmpty();
      held.get(1).response().end("{}");
      assertThat(probe.join().statusCode()).isEqualTo(200);
      Rig.until(() -> of("INFO replica r0: well again").size() == 1);
    }
  }

  /** Sends requests until this backend has one more, which it does not answer. */
  private static CompletableFuture<HttpResponse<byte[]>> hold(
      Rig rig, Backend backend, String body) {
    int before = backend.bodies.size();
    while (true) {
      CompletableFuture<HttpResponse<byte[]>> answer = rig.chatLater(body);
      Rig.until(() -> answer.isDone() || backend.bodies.size() > before);
      if (!answer.isDone()) {
        return answer;
      }
    }
  }

  private static void onlyTheOther(Rig rig, Backend avoided) {
    int before = avoided.bodies.size();
    for (int i = 0; i < 10; i++) {
      assertThat(chat(rig)).isEqualTo(200);
    }
    assertThat(avoided.bodies).hasSize(before);
  }

  @Test
  void theHeadsOfStreamsDoNotShowThatAnEngineComputes() throws Exception {
    try (Rig rig = rig(2, tree -> tree)) {
      Backend hung = rig.backends.get(0);
      hung.metrics = counted(5);
      AtomicInteger heads = new AtomicInteger();
      hung.script =
          (request, body) ->
              request
                  .response()
                  .setChunked(true)
                  .putHeader("content-type", "text/event-stream")
                  .writeHead()
                  .onSuccess(sent -> heads.incrementAndGet());
      metricsRead(hung);
      hold(rig, hung, STREAM);
      pass(20);
      hold(rig, hung, STREAM);
      Rig.until(() -> heads.get() == 2);
      metricsRead(hung);
      pass(10);
      metricsRead(hung);
      checks(hung);
      assertThat(of("WARN replica r0: requests wait there")).hasSize(1);
    }
  }

  @Test
  void anEngineWhoseTokensCountOnIsNotStuck() throws Exception {
    try (Rig rig = rig(2, tree -> tree)) {
      Backend slow = rig.backends.get(0);
      slow.metrics = counted(5);
      slow.script = (request, body) -> {};
      metricsRead(slow);
      hold(rig, slow, BODY);
      for (int i = 0; i < 5; i++) {
        pass(20);
        slow.metrics = counted(6 + i);
        metricsRead(slow);
      }
      assertThat(of("replica r0")).isEmpty();
    }
  }

  @Test
  void anEngineWithoutCountersHasUntilFirstByteMs() throws Exception {
    try (Rig rig = rig(2, tree -> tree.set("timeouts.first-byte-ms", 100_000, "test"))) {
      Backend hung = rig.backends.get(0);
      hung.script = (request, body) -> {};
      hold(rig, hung, BODY);
      pass(90);
      checks(hung);
      assertThat(of("replica r0")).isEmpty();
      pass(10);
      Rig.until(() -> of("WARN replica r0: requests wait there").size() == 1);
      onlyTheOther(rig, hung);
    }
  }

  @Test
  void modelsThatDoNotFitAreOneLineEach() throws Exception {
    UnaryOperator<ConfigTree> other =
        tree ->
            tree.put("models", Map.of("name", "Org/X-8B", "tokenizer", "embedded"), "test")
                .put("models", Map.of("name", "k", "tokenizer", "embedded"), "test");
    try (Rig rig = rig(1, other)) {
      Backend backend = rig.backends.get(0);
      backend.models = "{\"data\":[{\"id\":\"m\"},{\"id\":\"k\"},{\"id\":\"a\",\"parent\":\"k\"}]}";
      Rig.until(() -> rig.router.fleet().replicas().get(0).serves("a"));
      checks(backend);
      pass(30);
      Rig.until(() -> of("Org/X-8B").size() == 1);
      checks(backend);
      assertThat(of("model "))
          .filteredOn(line -> !line.matches(".*(was not checked yet|a replica is well again).*"))
          .as("but for the start, if the first checks take long")
          .containsExactlyInAnyOrder(
              "WARN model m: it has no tokenizer and is routed by load: served by r0",
              "WARN model Org/X-8B: configured, but no replica serves it: they serve a, k, m");
      backend.models = "{\"data\":[{\"id\":\"Org/X-8B\"}]}";
      Rig.until(() -> of("INFO model Org/X-8B: a replica serves it").size() == 1);
    }
  }

  @Test
  void anEmptyListIsNotEverything() throws Exception {
    try (Rig rig = rig(1, tree -> tree)) {
      Backend backend = rig.backends.get(0);
      backend.models = "{\"object\":\"list\",\"data\":[]}";
      checks(backend);
      assertThat(chat(rig)).as("configured for it").isEqualTo(200);
      Map<String, Object> unnamed = Map.of("name", "e", "url", backend.url());
      try (Rig second = rig(0, tree -> tree.put("replicas", unnamed, "test"))) {
        Rig.until(() -> second.up() == 1);
        Rig.until(() -> of("replica e").size() == 1);
        assertThat(of("replica e").get(0)).contains("its /v1/models is empty");
        assertThat(chat(second)).isEqualTo(404);
        backend.models = "<html>no list</html>";
        checks(backend);
        assertThat(chat(second)).as("what was known stays").isEqualTo(404);
        backend.models = "{\"data\":[{\"id\":\"m\"}]}";
        Rig.until(() -> of("INFO replica e").size() == 1);
        assertThat(chat(second)).isEqualTo(200);
      }
    }
  }

  @Test
  void aBrokenStreamIsOneLine() {
    Fleet fleet = new Fleet();
    Replica replica = new Replica("e", URI.create("http://e"), Set.of("m"), 1);
    fleet.add(replica);
    AtomicReference<EngineStatus> status = new AtomicReference<>();
    FleetWatch watch =
        new FleetWatch(
            new FleetWatch.Sources(
                fleet,
                new ModelCatalog(fleet, any -> false),
                List::of,
                () -> List.of(status.get()),
                List::of,
                List::of,
                name -> name,
                nanos::get));
    replica.health(Replica.Health.UP);
    status.set(stream(Trust.NONE, "not connected"));
    watch.look();
    pass(9);
    watch.look();
    assertThat(of("engine e")).isEmpty();
    pass(1);
    watch.look();
    status.set(stream(Trust.NONE, "nothing heard yet"));
    watch.look();
    status.set(stream(Trust.SUSPECT, "lost batches 0 to 3"));
    watch.look();
    status.set(stream(Trust.EXACT, "complete"));
    watch.look();
    status.set(stream(Trust.CATCHING_UP, "lost batches 4 to 5"));
    watch.look();
    status.set(stream(Trust.SUSPECT, "connection lost"));
    watch.look();
    watch.look();
    pass(5);
    status.set(stream(Trust.EXACT, "complete"));
    watch.look();
    assertThat(of("engine e"))
        .containsExactly(
            "WARN engine e: its events do not come: not connected",
            "INFO engine e: its events come after 10 s",
            "WARN engine e: its events are not known in full: connection lost",
            "INFO engine e: its events are known in full again after 5 s");
  }

  @Test
  void aStoreThatSaysNothingIsOneLine() {
    AtomicReference<EngineStatus> status = new AtomicReference<>();
    AtomicLong told = new AtomicLong(1_000);
    Store.Heard heard =
        new Store.Heard() {
          @Override
          public EngineView view() {
            return EngineView.UNSEEN;
          }

          @Override
          public long removals() {
            return 0;
          }

          @Override
          public long silentNanos() {
            return TimeUnit.MINUTES.toNanos(2);
          }

          @Override
          public long toldMeanwhile() {
            return told.get();
          }
        };
    Store store = new Store(new StoreRules("pool", null, true, ""), heard);
    FleetWatch watch =
        new FleetWatch(
            new FleetWatch.Sources(
                new Fleet(),
                new ModelCatalog(new Fleet(), any -> false),
                List::of,
                () -> List.of(status.get()),
                () -> List.of(store),
                List::of,
                name -> name,
                nanos::get));
    status.set(stream(store.rules().id(), Trust.NONE, "nothing heard yet"));
    watch.look();
    pass(10);
    watch.look();
    told.set(0);
    watch.look();
    assertThat(of("store pool"))
        .containsExactly(
            "WARN store pool: its events are missed: it says nothing, while its readers fill it or"
                + " read from it: does its 'events' publish?",
            "INFO store pool: its events come after 10 s");
  }

  @Test
  void aPrefillThatServesNobodyIsToldUntilItHasAPair() throws Exception {
    try (Rig rig = rig(2, tree -> tree)) {
      Fleet fleet = rig.router.fleet();
      fleet.updateTransfer(fleet.replicas().get(0), transfer(KvTransfer.Role.PREFILL, "a"));
      fleet.updateTransfer(fleet.replicas().get(1), transfer(KvTransfer.Role.DECODE, "b"));
      assertThat(rig.metrics().get("warmpath_replica_unpaired{replica=\"r0\"}")).isEqualTo(1);
      assertThat(rig.metrics().get("warmpath_replica_unpaired{replica=\"r1\"}")).isEqualTo(1);
      checks(rig.backends.get(0));
      assertThat(of("replica r0")).isEmpty();
      pass(11);
      Rig.until(() -> of("replica r1: no request is split over it").size() == 1);
      assertThat(of("replica r0"))
          .containsExactly(
              "WARN replica r0: no request is split over it: no replica of its model has its"
                  + " kv-connector, kv-group and block size");

      fleet.updateTransfer(fleet.replicas().get(1), transfer(KvTransfer.Role.DECODE, "a"));
      Rig.until(() -> of("replica r1").size() == 2);
      assertThat(rig.metrics().get("warmpath_replica_unpaired{replica=\"r0\"}")).isZero();
      assertThat(of("replica r0").get(1)).startsWith("INFO replica r0: requests can be split");
    }
  }

  private static KvTransfer transfer(KvTransfer.Role role, String group) {
    return new KvTransfer(role, KvTransfer.Connector.NIXL, group, "h", 1, 0, false);
  }

  private static EngineStatus stream(Trust trust, String reason) {
    return stream(new EngineId("e", 0), trust, reason);
  }

  private static EngineStatus stream(EngineId id, Trust trust, String reason) {
    return new EngineStatus(
        id,
        0,
        trust,
        reason,
        Instant.EPOCH,
        0,
        null,
        "unknown",
        Map.of(),
        0,
        new RingFill(0, 0, 0, 1),
        0,
        0,
        null);
  }
}
