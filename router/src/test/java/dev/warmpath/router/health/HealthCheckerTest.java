package dev.warmpath.router.health;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.net.httpserver.HttpServer;
import dev.warmpath.router.config.ConfigTree;
import dev.warmpath.router.config.FileWatch;
import dev.warmpath.router.config.RouterConfig;
import dev.warmpath.router.config.UpstreamConfig;
import dev.warmpath.router.fleet.EngineEvents;
import dev.warmpath.router.fleet.Fleet;
import dev.warmpath.router.fleet.KvTransfer;
import dev.warmpath.router.fleet.Replica;
import dev.warmpath.router.members.AnnouncedRanks;
import dev.warmpath.router.upstream.Upstreams;
import io.netty.channel.ConnectTimeoutException;
import io.vertx.core.Vertx;
import java.io.IOException;
import java.net.ConnectException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.UnknownHostException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Set;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import javax.net.ssl.SSLException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class HealthCheckerTest {

  private final Vertx vertx = Vertx.vertx();
  private final BlockingQueue<String> heard = new LinkedBlockingQueue<>();
  private HttpServer engine;
  private volatile int status = 200;
  private volatile String body = "";
  private final AtomicInteger asked = new AtomicInteger();

  @BeforeEach
  void start() throws IOException {
    engine = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    engine.createContext(
        "/",
        at -> {
          asked.incrementAndGet();
          byte[] answer = body.getBytes(StandardCharsets.UTF_8);
          at.sendResponseHeaders(status, answer.length == 0 ? -1 : answer.length);
          at.getResponseBody().write(answer);
          at.close();
        });
    engine.start();
  }

  @AfterEach
  void stop() {
    vertx.close().toCompletionStage().toCompletableFuture().join();
    engine.stop(0);
  }

  private Replica replica() {
    URI url = URI.create("http://127.0.0.1:" + engine.getAddress().getPort());
    return new Replica("a", url, Set.of("m"), 1);
  }

  @Test
  void recoveryIsToldEachTime() throws Exception {
    Replica replica = replica();
    check(replica, new Fleet());

    assertThat(heard.take()).isEqualTo("recovered a");
    status = 503;
    while (replica.health() != Replica.Health.DOWN) {
      Thread.onSpinWait();
    }
    assertThat(heard).isEmpty();
    status = 200;
    assertThat(heard.take()).isEqualTo("recovered a");
  }

  /** SGLang's can be switched while it runs; what says nothing changes nothing. */
  @Test
  void anEngineTellsItsRole() throws Exception {
    Replica replica = replica();
    Fleet fleet = new Fleet();
    body = told("prefill", 9001);
    check(replica, fleet);
    assertThat(heard.take()).isEqualTo("recovered a");
    assertThat(replica.transfer().role()).isEqualTo(KvTransfer.Role.PREFILL);
    assertThat(replica.transfer().connector()).isEqualTo(KvTransfer.Connector.SGLANG);
    assertThat(replica.transfer().port()).isEqualTo(9001);
    assertThat(fleet.transfers()).isFalse();

    body = told("prefill", 9002); // started again
    while (replica.transfer().port() != 9002) {
      Thread.onSpinWait();
    }

    body = told("decode", 0);
    while (!fleet.transfers()) {
      Thread.onSpinWait();
    }
    assertThat(replica.transfer().role()).isEqualTo(KvTransfer.Role.DECODE);
    assertThat(replica.transfer().port()).isEqualTo(KvTransfer.BOOTSTRAP_PORT);

    for (String nothing : List.of("{}", "{", "[1]", told("mixed", 5), "\"null\"")) {
      body = nothing;
      int before = asked.get();
      while (asked.get() < before + 12) { // its role is read at every fifth check
        assertThat(replica.transfer().role()).isEqualTo(KvTransfer.Role.DECODE);
      }
    }

    body = told("null", 8998);
    while (fleet.transfers()) {
      Thread.onSpinWait();
    }
    assertThat(replica.transfer().role()).isEqualTo(KvTransfer.Role.BOTH);
    assertThat(replica.transfer().connector()).isEqualTo(KvTransfer.Connector.NONE);
  }

  private static String told(String mode, int port) {
    return "{\"disaggregation_mode\":\"%s\",\"disaggregation_bootstrap_port\":%d}"
        .formatted(mode, port);
  }

  private void check(Replica replica, Fleet fleet) throws Exception {
    replica.transfer(
        new KvTransfer(
            KvTransfer.Role.BOTH,
            KvTransfer.Connector.NONE,
            "",
            "h",
            KvTransfer.BOOTSTRAP_PORT,
            0,
            false));
    fleet.add(replica);
    var catalog = new ModelCatalog(fleet, r -> false);
    var upstreams =
        new Upstreams(new UpstreamConfig(null, null, null, null), vertx, new FileWatch(1_000));
    RouterConfig config =
        ConfigTree.empty()
            .set("health.interval-ms", 20, "test")
            .set("health.timeout-ms", 60_000, "test")
            .set("health.fall", 1, "test")
            .set("health.metrics-interval-ms", 0, "test")
            .config();
    var checker =
        new HealthChecker(
            () -> config,
            fleet,
            upstreams,
            catalog,
            r -> "/health",
            new Told(heard),
            new NothingTold(),
            new FleetWatch(
                new FleetWatch.Sources(
                    fleet,
                    catalog,
                    List::of,
                    List::of,
                    List::of,
                    List::of,
                    name -> null,
                    System::nanoTime)),
            System::nanoTime);
    vertx.deployVerticle(checker).toCompletionStage().toCompletableFuture().join();
  }

  @Test
  void failuresHaveAKindAndWords() {
    assertThat(words(new UnknownHostException("no-such")))
        .isEqualTo("UNANSWERED its host name does not resolve");
    assertThat(words(new ConnectTimeoutException("x")))
        .isEqualTo("UNANSWERED no answer within 70 ms");
    assertThat(words(new TimeoutException("x"))).isEqualTo("UNANSWERED no answer within 70 ms");
    assertThat(words(new ConnectException("x"))).isEqualTo("FAILED connection refused");
    assertThat(words(new IOException(new SSLException("bad")))).isEqualTo("FAILED TLS: bad");
    assertThat(words(new IOException("reset by peer"))).isEqualTo("FAILED the connection broke");
  }

  private static String words(Throwable failure) {
    return HealthChecker.kind(failure) + " " + HealthChecker.problem(failure, 70);
  }

  private static final class NothingTold implements AnnouncedRanks.Listener {

    @Override
    public boolean wantsRanks(Replica replica) {
      return false;
    }

    @Override
    public CompletionStage<Boolean> ranksAnnounced(Replica replica, AnnouncedRanks sources) {
      throw new AssertionError("not asked");
    }
  }

  private record Told(BlockingQueue<String> heard) implements EngineEvents {

    @Override
    public void recovered(Replica replica) {
      heard.add("recovered " + replica.name());
    }

    @Override
    public void unchanged(Replica replica) {}

    @Override
    public void restarted(Replica replica, String why) {}

    @Override
    public void runsSince(Replica replica, double startSeconds) {}

    @Override
    public void gpuBlocks(Replica replica, long blocks) {}

    @Override
    public void cleared(Replica replica, String why) {}
  }
}
