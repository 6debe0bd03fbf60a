package dev.warmpath.router.console;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import com.fasterxml.jackson.databind.JsonNode;
import dev.warmpath.eventingest.EngineId;
import dev.warmpath.eventingest.EngineStatus;
import dev.warmpath.eventingest.RingFill;
import dev.warmpath.eventingest.Trust;
import dev.warmpath.kvindex.IndexLimits;
import dev.warmpath.kvindex.runs.RunKvIndex;
import dev.warmpath.router.console.Totals.HitRates;
import dev.warmpath.router.dispatch.Assignment;
import dev.warmpath.router.dispatch.Dispatcher;
import dev.warmpath.router.dispatch.PreparedRequest;
import dev.warmpath.router.dispatch.Prompt;
import dev.warmpath.router.fleet.EngineEvents;
import dev.warmpath.router.fleet.EngineMeters;
import dev.warmpath.router.fleet.ExpectedBlocks;
import dev.warmpath.router.fleet.Fleet;
import dev.warmpath.router.fleet.Outcome;
import dev.warmpath.router.fleet.Replica;
import dev.warmpath.router.metrics.Metric;
import dev.warmpath.router.metrics.Metrics;
import dev.warmpath.router.proxy.ProxyMetrics;
import dev.warmpath.router.proxy.ResponseEnd;
import dev.warmpath.router.proxy.Route;
import dev.warmpath.router.proxy.Routes;
import dev.warmpath.router.proxy.Usage;
import dev.warmpath.router.routing.Policies;
import java.net.URI;
import java.time.Clock;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** The numbers of the last hour, from the counters of a dispatcher that really dispatches. */
class HistoryTest {

  private static final Route ROUTE = Routes.ALWAYS.find("/v1/completions").orElseThrow();
  private static final Instant BEGIN = Instant.ofEpochSecond(1_000_000);

  private final Metrics measured = new Metrics();
  private final ProxyMetrics metrics = new ProxyMetrics(measured.registry());
  private final Fleet fleet = new Fleet();
  private final List<EngineStatus> streams = new ArrayList<>();
  private final Dispatcher dispatcher =
      new Dispatcher(
          fleet,
          new RunKvIndex(IndexLimits.unbounded(100)),
          EngineEvents.NONE,
          Policies.named("round-robin", Map.of()),
          new Dispatcher.Limits(ExpectedBlocks.Limits.DEFAULT, 100, 10),
          new Dispatcher.Environment(() -> this.nanos, new Random(1), measured, List.of()));
  private long nanos;
  private final History history =
      new History(
          new Totals.Sources(measured.registry(), dispatcher, () -> streams, () -> this.nanos),
          Clock.fixed(BEGIN, ZoneOffset.UTC));

  @AfterEach
  void close() {
    measured.close();
  }

  @Test
  void aStepHasTheRatesOfItsTenSeconds() {
    Replica replica = add("a");
    serve(replica, new Usage(1_000, 600, 10), 30);
    serve(replica, new Usage(1_000, 200, 10), 30);
    Metric.UNCACHED_TOKENS_TOTAL.counter(measured.registry(), "m", "evicted").increment(50);
    Metric.UNCACHED_TOKENS_TOTAL.counter(measured.registry(), "n", "evicted").increment(10);
    metrics.countRejection("overloaded");
    metrics.countEnd(ROUTE, 429, ResponseEnd.COMPLETE, 1);
    pass(10);
    history.step();

    JsonNode series = history.json(10).path("series");
    assertThat(only(series, "requests")).isEqualTo(0.3);
    assertThat(only(series, "refused")).isEqualTo(0.1);
    assertThat(only(series, "hitRate")).isEqualTo(0.4);
    assertThat(only(series, "tokensSaved")).isEqualTo(80);
    assertThat(only(series, "prefillMillisSaved")).isCloseTo(5.632, within(0.001));
    assertThat(only(series, "inFlight")).isZero();
    assertThat(series.path("refusals").path("overloaded").get(0).asDouble()).isEqualTo(0.1);
    assertThat(series.path("uncached").path("evicted").get(0).asDouble()).isEqualTo(6);
    assertThat(series.path("picks").elements().next().get(0).asDouble()).isEqualTo(0.2);
  }

  @Test
  void timesAreReadFromTheBucketsOfTheStepAlone() {
    EngineMeters engine = assign(add("a")).meters();
    for (int i = 0; i < 100; i++) {
      engine.recordFirstByte(TimeUnit.SECONDS.toNanos(50));
    }
    pass(10);
    history.step();
    for (int i = 0; i < 90; i++) {
      engine.recordFirstByte(TimeUnit.MILLISECONDS.toNanos(20));
    }
    for (int i = 0; i < 10; i++) {
      engine.recordFirstByte(TimeUnit.MILLISECONDS.toNanos(200));
      engine.recordTokenGap(TimeUnit.MILLISECONDS.toNanos(9));
    }
    engine.recordFirstByte(TimeUnit.SECONDS.toNanos(1_000));
    pass(10);
    history.step();

    JsonNode series = history.json(10).path("series");
    assertThat(only(series, "ttftP50")).isBetween(10.0, 30.0);
    assertThat(only(series, "ttftP90")).isBetween(30.0, 300.0);
    assertThat(only(series, "ttftP99")).isBetween(100.0, 300.0);
    assertThat(only(series, "itlP50")).isBetween(5.0, 10.0);
    assertThat(history.json(20).path("series").path("ttftP50").get(0).asDouble())
        .isBetween(30_000.0, 100_000.0);
  }

  @Test
  void whatIsNotKnownIsNull() {
    pass(10);
    history.step();
    JsonNode series = history.json(3_600).path("series");
    for (String name : List.of("hitRate", "ttftP50", "itlP99", "eventLagMillis")) {
      assertThat(series.path(name).get(0).isNull()).as(name).isTrue();
    }
    assertThat(only(series, "requests")).isZero();
  }

  @Test
  void eventStreamsShowTheirLagGapsAndReplays() {
    streams.add(stream("a", 3, 1, 0.02));
    pass(10);
    history.step();
    streams.set(0, stream("a", 5, 2, 0.5));
    streams.add(stream("b", 0, 0, 0.1));
    pass(10);
    history.step();
    streams.set(0, stream("a", 1, 0, 0)); // it began again
    pass(10);
    history.step();
    JsonNode series = history.json(30).path("series");
    assertThat(series.path("eventLagMillis").toString()).isEqualTo("[20.0,500.0,100.0]");
    assertThat(series.path("gaps").toString()).isEqualTo("[0.3,0.2,0.1]");
    assertThat(series.path("replays").toString()).isEqualTo("[0.1,0.1,0.0]");
  }

  private static EngineStatus stream(String replica, long gaps, long replays, double lagSeconds) {
    return new EngineStatus(
        new EngineId(replica, 0),
        0,
        Trust.EXACT,
        "",
        BEGIN,
        1,
        null,
        "unknown",
        Map.of("gaps", gaps, "replays", replays),
        lagSeconds,
        new RingFill(0, 0, 0, 1),
        0,
        0,
        null);
  }

  @Test
  void anHourIsKeptInArraysOfOneLength() {
    Replica replica = add("a");
    for (int i = 0; i < 400; i++) {
      if (i % 100 == 99) {
        metrics.countRejection("code_" + i);
        serve(replica, new Usage(10, 5, 1), 1);
      }
      pass(10);
      history.step();
    }
    JsonNode shown = history.json(3_600);
    assertThat(shown.path("stepSeconds").asInt()).isEqualTo(10);
    assertThat(shown.path("from").asLong()).isEqualTo(BEGIN.toEpochMilli() - 3_600_000);
    assertThat(lengths(shown.path("series"))).containsOnly(360);
    assertThat(shown.path("series").path("refusals").size()).isEqualTo(4);
    assertThat(lengths(history.json(15).path("series"))).containsOnly(2);
  }

  @Test
  void namesBeyondABoundAreCountedTogether() {
    for (int i = 0; i < 100; i++) {
      metrics.countRejection("code_" + i);
    }
    pass(10);
    history.step();
    JsonNode refusals = history.json(10).path("series").path("refusals");
    assertThat(refusals.size()).isEqualTo(65);
    assertThat(refusals.path("other").get(0).asDouble()).isEqualTo(3.6);
  }

  @Test
  void countersThatLeftOrBeganAgainTakeNothingBack() {
    Replica first = add("a");
    serve(first, new Usage(1_000, 500, 10), 10);
    history.now();
    fleet.change(List.of(fleet.find("a").orElseThrow()), List.of());
    Replica second = add("a");
    serve(second, new Usage(100, 50, 10), 10);
    pass(10);
    history.step();
    JsonNode series = history.json(10).path("series");
    assertThat(only(series, "tokensSaved")).isEqualTo(55);
    assertThat(only(series, "ttftP50")).isPositive();
  }

  @Test
  void nowIsTheLastTenSecondsAsSoonAsThereAreSome() {
    Replica replica = add("a");
    serve(replica, new Usage(100, 50, 10), 10);
    pass(5);
    assertThat(history.now().path("tokensSaved").asDouble()).isEqualTo(10);
    pass(5);
    history.step();
    for (int second = 0; second < 12; second++) {
      pass(1);
      serve(replica, new Usage(100, second, 10), 10);
      history.now();
    }
    pass(1);
    // seconds 13 back to 3: what was served from the third second on
    assertThat(history.now().path("tokensSaved").asDouble())
        .isEqualTo((3 + 4 + 5 + 6 + 7 + 8 + 9 + 10 + 11) / 10.0);
  }

  @Test
  void anEngineHasTheRatesOfItsLastFiveMinutes() {
    Replica replica = add("a");
    Replica silent = add("silent");
    serve(silent, new Usage(100, Usage.ABSENT, 1), 10);
    Assignment old = serve(replica, new Usage(1_000, 0, 1), 10);
    old.meters().countPrediction(1_000, 0);
    pass(10);
    history.step();
    assertThat(history.rates("a")).isEqualTo(new HitRates(0, 1));
    for (int i = 0; i < 30; i++) {
      Assignment assignment = serve(replica, new Usage(100, 80, 1), 10);
      assignment.meters().countPrediction(64, 80);
      pass(10);
      history.step();
    }
    assertThat(history.rates("a")).isEqualTo(new HitRates(0.8, 0.2));
    assertThat(history.rates("silent").hitRate()).isNaN();
    assertThat(history.rates("nobody").predictionError()).isNaN();
  }

  private Replica add(String name) {
    Replica replica = new Replica(name, URI.create("http://" + name), Set.of("m"), 1);
    replica.health(Replica.Health.UP);
    fleet.add(replica);
    return replica;
  }

  private Assignment assign(Replica replica) {
    PreparedRequest request =
        new PreparedRequest("m", Prompt.of(null), null, false, 10, 0, null)
            .only(Set.of(replica.name()));
    return (Assignment) dispatcher.assign(request, Set.of());
  }

  /** One request from dispatch to its end. */
  private Assignment serve(Replica replica, Usage usage, int firstByteMillis) {
    Assignment assignment = assign(replica);
    long nanos = TimeUnit.MILLISECONDS.toNanos(firstByteMillis);
    assignment.meters().recordFirstByte(nanos);
    assignment
        .meters()
        .countTokens("m", usage.promptTokens(), usage.cachedTokens(), usage.answerTokens());
    assignment.finished(Outcome.COMPLETED);
    metrics.countEnd(ROUTE, 200, ResponseEnd.COMPLETE, nanos);
    return assignment;
  }

  private void pass(int seconds) {
    nanos += TimeUnit.SECONDS.toNanos(seconds);
  }

  private static double only(JsonNode series, String name) {
    assertThat(series.path(name)).hasSize(1);
    return series.path(name).get(0).asDouble();
  }

  private static List<Integer> lengths(JsonNode series) {
    List<Integer> lengths = new ArrayList<>();
    series.forEach(values -> {
      if (values.isArray()) {
        lengths.add(values.size());
      } else {
        values.forEach(each -> lengths.add(each.size()));
      }
    });
    return lengths;
  }
}
