package dev.warmpath.router;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.warmpath.router.config.ConfigTree;
import dev.warmpath.router.config.RouterConfig;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicReference;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/** A router that warms itself up before it listens. */
class RehearsedStartTest {

  private static final int REQUESTS = 60;
  private static final RouterConfig.WarmUp BOUNDS = new RouterConfig.WarmUp(60, REQUESTS);

  private final HttpClient http = HttpClient.newHttpClient();
  private final Environment machine = Environment.ofTheMachine();

  @Test
  void warmUpTakesTheWholeWayFromEventsToStreams() throws Exception {
    RouterConfig config = tree().config();
    AtomicReference<String> last = new AtomicReference<>("");
    WarmUp.Start start =
        (model, engines) -> {
          RouterProcess router =
              RouterProcess.start(RehearsedStart.ownConfig(config, model, engines));
          return new WarmUp.Router() {
            @Override
            public int port() {
              return router.port();
            }

            @Override
            public int adminPort() {
              return router.adminPort();
            }

            @Override
            public void close() {
              last.set(metrics(router));
              router.close();
            }
          };
        };

    long answered = new WarmUp(start, BOUNDS, machine.nanoClock()).run();

    assertThat(answered)
        .as("the last few may be under way when it ends")
        .isGreaterThan(REQUESTS / 2);
    assertThat(sum(last.get(), "warmpath_event_stream_total", "event=\"batches\"")).isPositive();
    assertThat(sum(last.get(), "warmpath_tokens_total", "")).isPositive();
    assertThat(sum(last.get(), "warmpath_fallbacks_total", "")).isZero();
    assertThat(sum(last.get(), "warmpath_predictions_total", "result=\"over\""))
        .as("prompts that the events made known; the stub engines report no cached tokens")
        .isPositive();
  }

  @Test
  void nothingOfItIsLeft() throws Exception {
    RouterConfig config =
        tree().set("warm-up.seconds", 60, "test").set("warm-up.requests", 30, "test").config();
    try (RouterProcess router = RehearsedStart.start(config, machine, listening -> {})) {
      String metrics = metrics(router);
      assertThat(sum(metrics, "warmpath_requests_total", "")).isZero();
      assertThat(sum(metrics, "warmpath_event_stream_total", "")).isZero();
      assertThat(router.fleet().replicas()).isEmpty();
    }
  }

  @Test
  void listensBeforeItIsWarmAndIsReadyAfterwards() throws Exception {
    RouterConfig config =
        tree().set("warm-up.seconds", 60, "test").set("warm-up.requests", 30, "test").config();
    List<String> meanwhile = new ArrayList<>();
    try (RouterProcess router =
        RehearsedStart.start(
            config,
            machine,
            listening -> {
              meanwhile.add(page(listening.port(), "/health"));
              meanwhile.add(page(listening.port(), "/health/live"));
            })) {
      assertThat(meanwhile.get(0)).startsWith("503 ").contains("\"status\":\"starting\"");
      assertThat(meanwhile.get(1)).startsWith("200 ");
      assertThat(page(router.port(), "/health")).contains("\"status\":\"no_replica\"");
    }
  }

  @Test
  void aTakenPortIsToldBeforeTheWarmUp() throws Exception {
    try (RouterProcess other = RouterProcess.start(tree().config())) {
      RouterConfig config =
          tree()
              .set("listen.port", other.port(), "test")
              .set("warm-up.seconds", 600, "test")
              .config();
      assertThatThrownBy(() -> RehearsedStart.start(config, machine, listening -> {}))
          .isInstanceOf(StartException.class)
          .hasMessageContaining("listen on 127.0.0.1:" + other.port());
    }
  }

  private String page(int port, String path) {
    HttpRequest request =
        HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port + path)).build();
    try {
      HttpResponse<String> answer = http.send(request, BodyHandlers.ofString());
      return answer.statusCode() + " " + answer.body();
    } catch (IOException | InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }

  @Test
  void warmUpThatCannotStartHoldsNothingUp() {
    WarmUp.Start broken =
        (model, engines) -> {
          throw new StartException("no room", new IOException());
        };
    assertThat(new WarmUp(broken, BOUNDS, machine.nanoClock()).run()).isZero();
  }

  private static ConfigTree tree() throws Exception {
    return ConfigTree.empty()
        .set("listen.port", 0, "test")
        .set("admin.port", 0, "test")
        .set("snapshot.enabled", false, "test");
  }

  private String metrics(RouterProcess router) {
    URI uri = URI.create("http://127.0.0.1:" + router.adminPort() + "/metrics");
    try {
      return http.send(HttpRequest.newBuilder(uri).build(), BodyHandlers.ofString()).body();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }

  private static double sum(String metrics, String name, String label) {
    Matcher lines =
        Pattern.compile("(?m)^" + name + "(\\{[^}]*" + label + "[^}]*})? (\\S+)$").matcher(metrics);
    double sum = 0;
    while (lines.find()) {
      sum += Double.parseDouble(lines.group(2));
    }
    return sum;
  }
}
