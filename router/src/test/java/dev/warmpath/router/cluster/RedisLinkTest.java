package dev.warmpath.router.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import dev.warmpath.router.config.ClusterConfig;
import dev.warmpath.router.rig.Rig;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.slf4j.LoggerFactory;

/** Routers that meet at a real Redis. */
class RedisLinkTest extends ClusterLinkContract {

  private RedisServer server;

  @BeforeEach
  void startServer() throws Exception {
    server = new RedisServer();
  }

  @AfterEach
  void stopServer() {
    if (server != null) {
      server.close();
    }
  }

  @Override
  ClusterLink link(RouterId id) {
    return at(id, server.url(), "");
  }

  private static RedisLink at(RouterId id, String url, String more) {
    ClusterConfig config =
        config("mode: redis, queue-kb: 2048, redis-url: '%s'%s".formatted(url, more));
    return new RedisLink(id, config, System::nanoTime);
  }

  @Test
  void whenRedisDiesRoutersGoOnAloneAndMeetAgainWhenItIsBack() throws Exception {
    Node a = node("a").begin();
    Node b = node("b").begin();
    untilReached(a, "b");
    untilReached(b, "a");
    server.kill();
    untilReached(a);
    untilReached(b);
    assertThat(a.link.status().problem()).contains(server.url());
    a.broadcast("to nobody");
    server.startAgain();
    untilReached(a, "b");
    untilReached(b, "a");
    untilHeard(b, "a:again", () -> a.broadcast("again"));
    untilHeard(a, "b:again", () -> b.send(a, "again"));
    Rig.until(() -> a.link.status().problem().isEmpty());
  }

  /** Each attempt left a stack trace behind, 1.5 s after it had failed. */
  @Test
  void aServerThatIsNotThereIsToldOnce() throws Exception {
    ListAppender<ILoggingEvent> log = new ListAppender<>();
    Logger root = (Logger) LoggerFactory.getLogger(Logger.ROOT_LOGGER_NAME);
    log.start();
    root.addAppender(log);
    try {
      server.kill();
      Node a = node("a").begin();
      Rig.until(() -> a.link.status().problem().contains(server.url()));
      long failed = System.nanoTime();
      Rig.until(() -> System.nanoTime() - failed > TimeUnit.MILLISECONDS.toNanos(2_500));
      assertThat(List.copyOf(log.list))
          .filteredOn(event -> event.getLevel().isGreaterOrEqual(Level.WARN))
          .singleElement()
          .satisfies(event -> assertThat(event.getFormattedMessage()).contains("goes on alone"));
    } finally {
      root.detachAppender(log);
    }
  }

  @Test
  void aServerThatHangsIsToldAndNoMoreThanTheQueueWaits() throws Exception {
    Node a = node("a").begin();
    Node b = node("b").begin();
    untilReached(a, "b");
    server.signal("-STOP");
    byte[] message = new byte[100_000];
    for (int i = 0; i < 100; i++) {
      a.link.broadcast(message);
    }
    assertThat(a.link.status().waitingBytes()).isLessThanOrEqualTo(2048 * 1024);
    assertThat(a.link.status().droppedMessages()).isGreaterThanOrEqualTo(50);
    untilReached(a);
    assertThat(a.link.status().problem()).contains(server.url());
    server.signal("-CONT");
    untilReached(a, "b");
    untilReached(b, "a");
    assertThat(a.link.status().waitingBytes()).isZero();
    untilHeard(b, "a:again", () -> a.broadcast("again"));
  }

  /** What came was minutes old, and counted; each new connection was taken for a good one. */
  @Test
  void aLineThatIsTooSlowIsNotTakenForAConnection() throws Exception {
    ExecutorService threads = Executors.newCachedThreadPool();
    try (ServerSocket relay = new ServerSocket(0, 64, InetAddress.getByName("127.0.0.1"))) {
      threads.execute(() -> {
        try {
          while (true) {
            Socket near = relay.accept();
            Socket far = new Socket(InetAddress.getByName("127.0.0.1"), server.port);
            threads.execute(() -> trickle(near, far));
            threads.execute(() -> trickle(far, near));
          }
        } catch (IOException e) {
          // the test is over
        }
      });
      Node b = node("b").begin();
      Node c = node("c").begin();
      untilReached(b, "c");
      RouterId id = new RouterId("a", 9);
      Node a = adopt(new Node(id, at(id, "redis://127.0.0.1:" + relay.getLocalPort(), "")));
      a.begin();
      Rig.until(() -> {
        b.link.broadcast(new byte[2_000]);
        return a.link.status().problem().contains("" + relay.getLocalPort());
      });
      long begin = System.nanoTime();
      List<String> good = new ArrayList<>();
      Rig.until(() -> {
        b.link.broadcast(new byte[2_000]);
        if (!a.link.status().problem().contains("" + relay.getLocalPort())) {
          good.add(a.link.status().problem());
        }
        return System.nanoTime() - begin > TimeUnit.SECONDS.toNanos(7);
      });
      assertThat(good).isEmpty();
      assertThat(b.reached()).contains("c");
    } finally {
      threads.shutdownNow();
    }
  }

  /** One kilobyte a second. */
  private static void trickle(Socket from, Socket to) {
    byte[] piece = new byte[20];
    try (from;
        to) {
      InputStream in = from.getInputStream();
      for (int n = in.read(piece); n >= 0; n = in.read(piece)) {
        to.getOutputStream().write(piece, 0, n);
        LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(n));
      }
    } catch (IOException e) {
      // one end has left
    }
  }

  @Test
  void aSubscriptionThatTheServerEndsIsMadeAnew() throws Exception {
    Node a = node("a").begin();
    Node b = node("b").begin();
    untilReached(a, "b");
    untilReached(b, "a");
    int before = b.views.size();
    server.ask("CLIENT KILL TYPE pubsub");
    Rig.until(() -> b.views.size() >= before + 2 && b.reached().contains("a"));
    untilReached(a, "b");
    untilHeard(b, "a:again", () -> a.broadcast("again"));
  }

  @Test
  void aRouterThatIsGoneWithoutAWordIsMissedSoon() throws Exception {
    Node a = node("a").begin();
    Rig.until(() -> a.link.status().problem().startsWith("no other router"));
    // As a router says that it is there, and then dies: its start, the length of its name, its
    // name.
    String here = "\"\\x01\\x00\\x00\\x00\\x00\\x00\\x00\\x00\\x07\\x00\\x01z\"";
    assertThat(server.ask("PUBLISH warmpath:{warmpath}:all " + here)).startsWith(":1");
    untilReached(a, "z");
    untilReached(a);
  }

  /** A server that others use as a cache, or fill: github.com/SGrondin/bottleneck/issues/73. */
  @Test
  void aServerThatIsFullCarriesMessages() throws Exception {
    server.ask("CONFIG SET maxmemory 1");
    assertThat(server.ask("SET any thing")).startsWith("-OOM");
    meet();
    assertThat(server.ask("KEYS *")).startsWith("*0");
  }

  @Test
  void aServerWhoseDiskIsFullCarriesMessages() throws Exception {
    server.ask("CONFIG SET save \"3600 1\"");
    server.removeFolder();
    server.ask("BGSAVE");
    Rig.until(() -> server.refuses("SET any thing", "-MISCONF"));
    meet();
  }

  @Test
  void aServerThatMissesItsReplicasCarriesMessages() throws Exception {
    server.ask("CONFIG SET min-replicas-to-write 1");
    assertThat(server.ask("SET any thing")).startsWith("-NOREPLICAS");
    meet();
  }

  private void meet() throws Exception {
    Node a = node("a").begin();
    Node b = node("b").begin();
    untilReached(a, "b");
    untilReached(b, "a");
    untilHeard(b, "a:to all", () -> a.broadcast("to all"));
    untilHeard(a, "b:to a", () -> b.send(a, "to a"));
    Rig.until(() -> a.link.status().problem().isEmpty());
  }

  /** Its connections stay: github.com/StackExchange/StackExchange.Redis/issues/2264. */
  @Test
  void aServerThatIsMadeAReplicaIsLeft() throws Exception {
    Node a = node("a").begin();
    Node b = node("b").begin();
    untilReached(a, "b");
    try (RedisServer other = new RedisServer()) {
      server.ask("REPLICAOF 127.0.0.1 " + other.port);
      untilReached(a);
      assertThat(a.link.status().problem()).contains("READONLY");
      server.ask("REPLICAOF NO ONE");
      untilReached(a, "b");
      untilReached(b, "a");
    }
  }

  @Test
  void aPasswordAndAUserAreGivenApartFromTheUrl() throws Exception {
    server.ask("ACL SETUSER router on >hush ~warmpath:* &warmpath:* +@all");
    server.ask("ACL SETUSER default off");
    String url = "redis://router@127.0.0.1:" + server.port;
    RouterId one = new RouterId("a", 1);
    RouterId two = new RouterId("b", 2);
    RouterId three = new RouterId("c", 3);
    Node a = adopt(new Node(one, at(one, url, ", redis-password: hush"))).begin();
    Node b = adopt(new Node(two, at(two, url, ", redis-password: hush"))).begin();
    Node c = adopt(new Node(three, at(three, url, ", redis-password: wrong"))).begin();
    untilReached(a, "b");
    untilReached(b, "a");
    Rig.until(() -> c.link.status().problem().contains("WRONGPASS"));
    assertThat(c.views).isEmpty();
  }

  @Test
  void clustersOfOtherNamesDoNotMeet() throws Exception {
    Node a = node("a").begin();
    RouterId id = new RouterId("x", 1);
    Node x = adopt(new Node(id, at(id, server.url(), ", name: other"))).begin();
    Node b = node("b").begin();
    untilReached(a, "b");
    Rig.until(() -> x.link.status().problem().startsWith("no other router"));
    untilHeard(b, "a:one", () -> a.broadcast("one"));
    assertThat(x.received).isEmpty();
    assertThat(x.views).isEmpty();
  }

  @Test
  void aRedisClusterIsNamedBySeveralAddresses() throws Exception {
    try (RedisServer cluster = new RedisServer("--cluster-enabled", "yes")) {
      assertThat(cluster.ask("CLUSTER ADDSLOTSRANGE 0 16383")).startsWith("+OK");
      Rig.until(() -> {
        try {
          return cluster.ask("CLUSTER INFO").contains("cluster_state:ok");
        } catch (IOException e) {
          return false;
        }
      });
      String url = "redis://127.0.0.1:%d,127.0.0.1:%<d".formatted(cluster.port);
      RouterId one = new RouterId("a", 1);
      RouterId two = new RouterId("b", 2);
      Node a = adopt(new Node(one, at(one, url, ""))).begin();
      Node b = adopt(new Node(two, at(two, url, ""))).begin();
      untilReached(a, "b");
      untilReached(b, "a");
      untilHeard(b, "a:sharded", () -> a.broadcast("sharded"));
      cluster.kill();
      untilReached(a);
    }
  }

  @Test
  void aSentinelTellsWhichServerItIs() throws Exception {
    try (RedisServer sentinel = RedisServer.sentinelOf(server)) {
      String url = "redis-sentinel://127.0.0.1:%d#main".formatted(sentinel.port);
      RouterId one = new RouterId("a", 1);
      Node a = adopt(new Node(one, at(one, url, ""))).begin();
      Node b = node("b").begin();
      untilReached(a, "b");
      untilReached(b, "a");
      untilHeard(b, "a:found", () -> a.broadcast("found"));
    }
  }
}
