package dev.warmpath.router.cluster;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.warmpath.router.config.ClusterConfig;
import dev.warmpath.router.config.ConfigException;
import dev.warmpath.router.config.ConfigTree;
import dev.warmpath.router.rig.Rig;
import java.io.IOException;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** What routers may rely on, whatever brings their messages. */
abstract class ClusterLinkContract {

  /** A router as the link sees it. */
  static final class Node implements ClusterLink.Listener, AutoCloseable {

    final RouterId id;
    final ClusterLink link;
    final List<Set<RouterId>> views = new CopyOnWriteArrayList<>();
    final List<String> received = new CopyOnWriteArrayList<>();
    final List<byte[]> messages = new CopyOnWriteArrayList<>();

    Node(RouterId id, ClusterLink link) {
      this.id = id;
      this.link = link;
    }

    Node begin() {
      link.begin(this);
      return this;
    }

    @Override
    public void reachable(Set<RouterId> others) {
      views.add(others);
    }

    @Override
    public void received(RouterId from, byte[] message) {
      messages.add(message);
      received.add(
          from.name()
              + ":"
              + (message.length > 100 ? "long" : new String(message, StandardCharsets.UTF_8)));
    }

    Set<String> reached() {
      return reachedIds().stream().map(RouterId::name).collect(Collectors.toSet());
    }

    Set<RouterId> reachedIds() {
      return views.isEmpty() ? Set.of() : views.get(views.size() - 1);
    }

    void broadcast(String text) {
      link.broadcast(text.getBytes(StandardCharsets.UTF_8));
    }

    void send(Node to, String text) {
      link.send(to.id, text.getBytes(StandardCharsets.UTF_8));
    }

    @Override
    public void close() {
      link.close();
    }
  }

  private static final List<Socket> RESERVED = new ArrayList<>();

  private final List<Node> nodes = new ArrayList<>();
  private long starts;

  /** A link of the router to the others of this test, not begun. */
  abstract ClusterLink link(RouterId id) throws Exception;

  final Node node(String name) throws Exception {
    RouterId id = new RouterId(name, ++starts);
    Node node = new Node(id, link(id));
    nodes.add(node);
    return node;
  }

  /** Begins one that those which come later find; those that begin at once only merge. */
  final Node first(String name) throws Exception {
    return awaitFindable(node(name).begin());
  }

  Node awaitFindable(Node begun) {
    return begun;
  }

  final Node adopt(Node node) {
    nodes.add(node);
    return node;
  }

  @AfterEach
  void closeAll() throws IOException {
    nodes.forEach(Node::close);
    for (Socket reserved : RESERVED) {
      reserved.close();
    }
    RESERVED.clear();
  }

  static ClusterConfig config(String keys) {
    try {
      return ConfigTree.parse("cluster: {" + keys + "}", "test").config().cluster();
    } catch (ConfigException e) {
      throw new AssertionError(e);
    }
  }

  /** That nobody listens on until the test does. */
  static int freePort() throws IOException {
    Socket reserved = Rig.reserved();
    RESERVED.add(reserved);
    return reserved.getLocalPort();
  }

  static void untilReached(Node node, String... names) {
    Rig.until(() -> node.reached().equals(Set.of(names)));
  }

  /** Said again until it is heard, as what is said may be lost. */
  static void untilHeard(Node by, String heard, Runnable said) {
    Rig.until(() -> {
      said.run();
      return by.received.contains(heard);
    });
  }

  @Test
  void threeFindEachOtherAndTalk() throws Exception {
    Node a = node("a").begin();
    Node b = node("b").begin();
    Node c = node("c").begin();
    untilReached(a, "b", "c");
    untilReached(b, "a", "c");
    untilReached(c, "a", "b");
    Rig.until(() -> a.link.status().problem().isEmpty());
    untilHeard(b, "a:to all", () -> a.broadcast("to all"));
    untilHeard(c, "a:to all", () -> a.broadcast("to all"));
    untilHeard(a, "c:to a", () -> c.send(a, "to a"));
    untilHeard(c, "a:to c", () -> a.send(c, "to c"));
    assertThat(a.received).allMatch(heard -> !heard.startsWith("a:"));
    assertThat(b.received).doesNotContain("c:to a", "a:to c");
    assertThat(a.link.status().sentBytes()).isPositive();
    assertThat(a.link.status().receivedBytes()).isPositive();
  }

  @Test
  void whoLeavesIsSeenToLeaveAndWhoComesBackIsAnother() throws Exception {
    Node a = first("a");
    Node b = node("b").begin();
    untilReached(a, "b");
    untilReached(b, "a");
    b.close();
    untilReached(a);
    assertThat(a.link.status().problem()).isNotEmpty();
    a.send(b, "gone");
    assertThat(a.link.status().droppedMessages()).isEqualTo(1);
    Node again = node("b").begin();
    untilReached(a, "b");
    assertThat(a.reachedIds()).containsExactly(again.id).isNotEqualTo(Set.of(b.id));
    untilHeard(again, "a:welcome", () -> a.send(again, "welcome"));
  }

  @Test
  void theLongestMessageArrivesWholeAndALongerOneIsRefused() throws Exception {
    Node a = first("a");
    Node b = node("b").begin();
    untilReached(a, "b");
    untilReached(b, "a");
    byte[] longest = new byte[ClusterLink.LONGEST_MESSAGE];
    new Random(1).nextBytes(longest);
    a.link.send(b.id, longest);
    Rig.until(() -> !b.messages.isEmpty());
    assertThat(Arrays.equals(b.messages.get(0), longest)).isTrue();
    assertThatThrownBy(() -> a.link.broadcast(new byte[longest.length + 1]))
        .isInstanceOf(IllegalArgumentException.class);
    assertThatThrownBy(() -> a.link.send(b.id, new byte[0]))
        .isInstanceOf(IllegalArgumentException.class);
  }

  @Test
  void manyMessagesArriveInOrderAndNoneIsLostOnAQuietNetwork() throws Exception {
    Node a = first("a");
    Node b = node("b").begin();
    untilReached(a, "b");
    untilReached(b, "a");
    List<String> expected = Stream.iterate(0, i -> i + 1).limit(1000).map(i -> "a:" + i).toList();
    for (int i = 0; i < 1000; i++) {
      a.broadcast(Integer.toString(i));
    }
    Rig.until(() -> b.received.size() == 1000);
    assertThat(b.received).isEqualTo(expected);
  }
}
