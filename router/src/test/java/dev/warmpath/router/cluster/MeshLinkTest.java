package dev.warmpath.router.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import dev.warmpath.router.config.ClusterConfig;
import dev.warmpath.router.members.PeerAddresses;
import dev.warmpath.router.rig.Rig;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import org.jgroups.protocols.DISCARD;
import org.jgroups.protocols.TP;
import org.jgroups.stack.ProtocolStack;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Routers that hold connections to each other, over loopback. */
class MeshLinkTest extends ClusterLinkContract {

  private static final String SECRET = "0123456789abcdef";

  private final Map<String, Integer> ports = new HashMap<>();
  private final List<Process> processes = new ArrayList<>();

  private int port(String name) throws IOException {
    if (!ports.containsKey(name)) {
      ports.put(name, freePort());
    }
    return ports.get(name);
  }

  @Override
  ClusterLink link(RouterId id) throws Exception {
    return mesh(id, "secret: " + SECRET);
  }

  private MeshLink mesh(RouterId id, String security) throws Exception {
    String keys = "mode: mesh, host: 127.0.0.1, port: %d, peers: [%s], queue-kb: 2048, %s";
    ClusterConfig config = config(keys.formatted(port(id.name()), peers(), security));
    return new MeshLink(id, config, new PeerAddresses(config));
  }

  @Override
  Node awaitFindable(Node begun) {
    Rig.until(() -> !begun.views.isEmpty());
    return begun;
  }

  /** All that may be in a test. */
  private String peers() throws IOException {
    for (String name : List.of("a", "b", "c")) {
      port(name);
    }
    return ports.values().stream()
        .map(port -> "127.0.0.1:" + port)
        .collect(Collectors.joining(","));
  }

  @AfterEach
  void killAll() {
    processes.forEach(Process::destroyForcibly);
  }

  /** A router in a process of its own, with which the others can be reached. */
  private Process process(String name) throws Exception {
    Process process =
        new ProcessBuilder(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-XX:TieredStopAtLevel=1",
                "-cp",
                System.getProperty("java.class.path"),
                MeshLinkTest.class.getName(),
                name,
                Integer.toString(port(name)),
                peers())
            .redirectErrorStream(true)
            .redirectOutput(ProcessBuilder.Redirect.DISCARD)
            .start();
    processes.add(process);
    return process;
  }

  public static void main(String[] arguments) throws Exception {
    RouterId id = new RouterId(arguments[0], ProcessHandle.current().pid());
    ClusterConfig config =
        config(
            "mode: mesh, host: 127.0.0.1, port: %s, peers: [%s], secret: %s"
                .formatted(arguments[1], arguments[2], SECRET));
    MeshLink link = new MeshLink(id, config, new PeerAddresses(config));
    Node node = new Node(id, link).begin();
    while (true) {
      node.broadcast("tick");
      TimeUnit.MILLISECONDS.sleep(20);
    }
  }

  private static void signal(String signal, Process process) throws Exception {
    String pid = Long.toString(process.pid());
    assertThat(new ProcessBuilder("kill", signal, pid).start().waitFor()).isZero();
  }

  @Test
  void aProcessThatIsKilledIsSeenAtOnceAndOneThatIsStoppedSoon() throws Exception {
    Node a = first("a");
    Node b = node("b").begin();
    Process c = process("c");
    untilReached(a, "b", "c");
    untilReached(b, "a", "c");
    signal("-STOP", c);
    untilReached(a, "b");
    untilReached(b, "a");
    signal("-CONT", c);
    untilReached(a, "b", "c");
    untilReached(b, "a", "c");
    c.destroyForcibly();
    untilReached(a, "b");
    Process again = process("c");
    Rig.until(() -> a.reachedIds().stream().anyMatch(id -> id.start() == again.pid()));
    untilReached(b, "a", "c");
  }

  @Test
  void aPeerThatTakesNothingHoldsUpNobodyAndNoMoreThanTheQueueIsKeptForIt() throws Exception {
    Node a = first("a");
    Node b = node("b").begin();
    Process c = process("c");
    untilReached(a, "b", "c");
    untilReached(b, "a", "c");
    byte[] filler = new byte[200_000];
    int heardBefore = b.messages.size();
    long most = 0;
    for (int i = 0; i < 5 && a.link.status().droppedMessages() < 50; i++) {
      untilReached(a, "b", "c");
      signal("-STOP", c);
      // More than sockets take on both sides, so that the rest has to wait, before c is missed.
      while (a.reached().contains("c") && a.link.status().droppedMessages() < 50) {
        int heard = b.messages.size();
        a.link.broadcast(filler);
        most = Math.max(most, a.link.status().waitingBytes());
        Rig.until(() -> b.messages.size() > heard);
      }
      if (a.link.status().droppedMessages() < 50) { // the machine was too slow for that
        signal("-CONT", c);
      }
    }
    assertThat(a.link.status().droppedMessages()).isGreaterThanOrEqualTo(50);
    assertThat(b.messages.size()).isGreaterThan(heardBefore + 50);
    // The queue, and what waits for the one connection.
    assertThat(most).isLessThanOrEqualTo(2 * 2048 * 1024);
    untilReached(a, "b");
    assertThat(a.link.status().waitingBytes()).isLessThan(2048 * 1024);
    untilHeard(b, "a:still here", () -> a.broadcast("still here"));
    signal("-CONT", c);
    untilReached(a, "b", "c");
  }

  @Test
  void twoSidesOfACutGoOnAndMergeAfterIt() throws Exception {
    Node a = first("a");
    Node b = node("b").begin();
    Node c = node("c").begin();
    untilReached(a, "b", "c");
    untilReached(b, "a", "c");
    untilReached(c, "a", "b");
    List<DISCARD> cuts = new ArrayList<>();
    for (Node node : List.of(a, b, c)) {
      DISCARD cut = new DISCARD();
      ProtocolStack stack = ((MeshLink) node.link).channel().getProtocolStack();
      stack.insertProtocol(cut, ProtocolStack.Position.ABOVE, TP.class);
      cuts.add(cut);
    }
    cuts.get(2).discardAll(true);
    untilReached(c);
    untilReached(a, "b");
    untilReached(b, "a");
    untilHeard(b, "a:meanwhile", () -> a.broadcast("meanwhile"));
    assertThat(c.link.status().problem()).isNotEmpty();
    cuts.get(2).discardAll(false);
    untilReached(a, "b", "c");
    untilReached(b, "a", "c");
    untilReached(c, "a", "b");
    untilHeard(c, "a:again", () -> a.broadcast("again"));
  }

  @Test
  void aStrangerWithoutTheSecretIsNeitherReachedNorHeard() throws Exception {
    Node a = first("a");
    Node b = node("b").begin();
    untilReached(a, "b");
    RouterId c = new RouterId("c", 99);
    Node other = adopt(new Node(c, mesh(c, "secret: fedcba9876543210"))).begin();
    Rig.until(() -> a.link.status().refusedMessages() + b.link.status().refusedMessages() > 3);
    Rig.until(() -> !other.views.isEmpty());
    untilHeard(b, "a:among us", () -> a.broadcast("among us"));
    assertThat(other.views).allMatch(Set::isEmpty);
    assertThat(other.received).isEmpty();
    assertThat(a.views).noneMatch(view -> view.contains(c));
    other.close();
    Node open = adopt(new Node(c, mesh(c, "insecure: true"))).begin();
    long before = a.link.status().refusedMessages();
    Rig.until(() -> a.link.status().refusedMessages() > before + 3);
    Rig.until(() -> !open.views.isEmpty());
    assertThat(open.views).allMatch(Set::isEmpty);
    assertThat(a.views).noneMatch(view -> view.contains(c));
    untilReached(a, "b");
  }

  @Test
  void bytesThatAreNoMeshDoNotDisturbIt() throws Exception {
    Node a = first("a");
    Node b = node("b").begin();
    untilReached(a, "b");
    for (String noise :
        List.of("GET / HTTP/1.1\r\n\r\n", "\0\0\0\0\0\0", "beer" + "\377".repeat(64))) {
      try (Socket socket = new Socket(InetAddress.getByName("127.0.0.1"), port("a"))) {
        OutputStream out = socket.getOutputStream();
        out.write(noise.getBytes(StandardCharsets.ISO_8859_1));
        out.flush();
      }
    }
    Socket silent = new Socket(InetAddress.getByName("127.0.0.1"), port("a"));
    try (silent) {
      untilHeard(a, "b:one", () -> b.broadcast("one"));
      untilHeard(b, "a:two", () -> a.broadcast("two"));
    }
    assertThat(a.views.get(a.views.size() - 1)).containsExactly(b.id);
  }

  @Test
  void withoutASecretWhoIsInsecureTooIsReached() throws Exception {
    RouterId first = new RouterId("a", 1);
    RouterId second = new RouterId("b", 2);
    Node a = awaitFindable(adopt(new Node(first, mesh(first, "insecure: true"))).begin());
    Node b = adopt(new Node(second, mesh(second, "insecure: true"))).begin();
    untilReached(a, "b");
    untilHeard(b, "a:open", () -> a.broadcast("open"));
  }

  @Test
  void aPortThatIsTakenIsToldAndTakenWhenItIsFree() throws Exception {
    ServerSocket taken = new ServerSocket(port("a"), 1, InetAddress.getByName("127.0.0.1"));
    Node a = node("a");
    Node b = node("b").begin();
    try (taken) {
      a.begin();
      Rig.until(() -> a.link.status().problem().contains("No available port"));
    }
    untilReached(a, "b");
    untilReached(b, "a");
  }
}
