package dev.warmpath.router.members;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import dev.warmpath.router.config.ConfigException;
import dev.warmpath.router.config.ConfigTree;
import dev.warmpath.router.config.HostPattern;
import dev.warmpath.router.config.ReplicaConfig;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.List;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class AnnouncedRanksTest {

  private static final String TWO =
      """
      {"1":{"enable_kv_cache_events":true,"publisher":"zmq","endpoint":"tcp://*:5558",\
      "replay_endpoint":"tcp://*:5658","buffer_steps":10000,"topic":""},\
      "0":{"endpoint":"tcp://*:5557","replay_endpoint":null}}\
      """;

  @Test
  void wildcardsAreTheReplicasHost() throws Exception {
    AnnouncedRanks.Described two = describe(TWO, "events: auto");
    assertThat(two.problems()).isEmpty();
    assertThat(endpoints(two)).containsExactly("tcp://gpu:5557", "tcp://gpu:5558");
    assertThat(two.replica().replayOf(0)).isNull();
    assertThat(two.replica().replayOf(1)).isEqualTo("tcp://gpu:5658");
    assertThat(endpoints(describe("{'0':{'endpoint':'tcp://0.0.0.0:7'}}", "events: auto")))
        .containsExactly("tcp://gpu:7");
    assertThat(endpoints(describe("{'0':{'endpoint':'tcp://[::]:7'}}", "events: auto")))
        .containsExactly("tcp://gpu:7");
  }

  @Test
  void ranksOfASecondNodeKeepTheirNumbersAndPorts() throws Exception {
    String second = "{'4':{'endpoint':'tcp://*:5561'},'5':{'endpoint':'tcp://*:5562'}}";
    AnnouncedRanks.Described node = describe(second, "events: auto");
    assertThat(node.replica().firstRank()).isEqualTo(4);
    assertThat(endpoints(node)).containsExactly("tcp://gpu:5561", "tcp://gpu:5562");
    AnnouncedRanks.Described one = describe("{'3':{'endpoint':'tcp://*:1'}}", "events: auto");
    assertThat(one.replica().firstRank()).isEqualTo(3);
    assertThat(endpoints(one)).containsExactly("tcp://gpu:1");
  }

  /** {@code tcp://*:0} is answered with the machine's address and the port that it was given. */
  @Test
  void anEngineMayNameItsOwnHostOrAnAllowedOne() throws Exception {
    String real = "{'0':{'endpoint':'tcp://10.0.0.9:40001'},'1':{'endpoint':'tcp://10.0.0.8:9'}}";
    AnnouncedRanks.Described own = describe(real, "events: auto");
    assertThat(endpoints(own)).containsExactly("tcp://10.0.0.9:40001", null);
    assertThat(own.problems())
        .containsExactly(
            "rank 1 publishes at tcp://10.0.0.8:9, which is not at its own host nor in"
                + " fleet.allowed-hosts: it gives no credit");
    assertThat(endpoints(describe(real, "events: auto", "10.0.0.0/24")))
        .containsExactly("tcp://10.0.0.9:40001", "tcp://10.0.0.8:9");
    String metadata = "{'0':{'endpoint':'tcp://169.254.169.254:80'}}";
    assertThat(endpoints(describe(metadata, "events: auto", "169.254.0.0/16")))
        .containsExactly((String) null);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "ipc:///run/other",
        "inproc://x",
        "tcp://other:5557",
        "tcp://*:0",
        "tcp://*",
        "tcp://gpu@10.0.0.8:5557"
      })
  void whatIsNotAtTheReplicaIsNotFollowed(String endpoint) throws Exception {
    AnnouncedRanks.Described described =
        describe("{'0':{'endpoint':'" + endpoint + "'}}", "events: auto");
    assertThat(described.replica().events()).isNull();
    assertThat(described.problems()).singleElement().asString().contains("gives no credit");
  }

  @Test
  void twoRanksAtOneEndpointAreFollowedByNeither() throws Exception {
    String both = "{'0':{'endpoint':'tcp://*:1'},'1':{'endpoint':'tcp://*:1'}}";
    AnnouncedRanks.Described described = describe(both, "events: auto");
    assertThat(described.replica().events()).isNull();
    assertThat(described.replica().ranks()).isEqualTo(2);
    assertThat(described.problems()).hasSize(2);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "[]",
        "{'0':7}",
        "{'0':{'endpoint':7}}",
        "{'-1':{'endpoint':'tcp://*:1'}}",
        "{'00':{'endpoint':'tcp://*:1'}}",
        "{'0':{'endpoint':'tcp://*:1 tcp://*:2'}}",
        "{'0':{'endpoint':'a\\nb'}}",
        "{'0':"
      })
  void whatIsNoAnswerChangesNothing(String answer) {
    assertThat(AnnouncedRanks.read(answer.replace('\'', '"').getBytes(UTF_8))).isEmpty();
  }

  @Test
  void aLongAnswerIsNotRead() {
    String blank = " ".repeat(AnnouncedRanks.MOST_BYTES);
    assertThat(AnnouncedRanks.read((blank + "{}").getBytes(UTF_8))).isEmpty();
    assertThat(AnnouncedRanks.read("{}".getBytes(UTF_8))).isPresent();
  }

  @Test
  void withoutAnAnswerItIsRoutedByLoad() throws Exception {
    for (String answer :
        new String[] {
          null, "{}", "{'0':{'endpoint':'tcp://*:1'},'2':{'endpoint':'tcp://*:2'}}",
        }) {
      AnnouncedRanks.Described described = describe(answer, "events: auto, ranks: 2");
      assertThat(described.replica().events()).isNull();
      assertThat(described.replica().ranks()).isEqualTo(2);
      assertThat(described.problems()).singleElement().asString().endsWith("routed by load");
    }
    assertThat(describe(null, "events: 'tcp://h:1'").problems()).as("vLLM before 0.31").isEmpty();
    assertThat(describe("{}", "events: 'tcp://h:1'").problems()).hasSize(1);
  }

  @Test
  void theEnginesRanksAndTheConfiguredEndpointsHold() throws Exception {
    AnnouncedRanks.Described more = describe(TWO, "events: 'tcp://nat:5557'");
    assertThat(endpoints(more)).containsExactly("tcp://nat:5557", "tcp://nat:5558");
    assertThat(more.problems())
        .containsExactly(
            "has 2 ranks from rank 0 on, configured are 1 from rank 0 on: the engine's are taken");

    AnnouncedRanks.Described moved = describe(TWO, "events: 'tcp://nat:6557', ranks: 2");
    assertThat(endpoints(moved)).containsExactly("tcp://nat:6557", "tcp://nat:6558");
    assertThat(moved.problems()).hasSize(2).first().asString().contains("tcp://*:5557", ":6557");

    AnnouncedRanks.Described listed =
        describe(TWO, "events: 'tcp://n0:5557 tcp://n1:5558', ranks: 2");
    assertThat(listed.problems()).isEmpty();
    assertThat(endpoints(listed)).containsExactly("tcp://n0:5557", "tcp://n1:5558");

    AnnouncedRanks.Described fewer =
        describe(
            "{'0':{'endpoint':'tcp://*:5557'}}", "events: 'tcp://n0:5557 tcp://n1:9', ranks: 2");
    assertThat(endpoints(fewer)).containsExactly("tcp://n0:5557");

    AnnouncedRanks.Described local = describe(TWO, "events: 'ipc:///run/kv'");
    assertThat(endpoints(local)).containsExactly("ipc:///run/kv", null);

    AnnouncedRanks.Described node =
        describe("{'2':{'endpoint':'tcp://*:5559'}}", "events: 'tcp://h:5557'");
    assertThat(endpoints(node)).containsExactly("tcp://h:5559");
    assertThat(node.replica().firstRank()).isEqualTo(2);
  }

  private static List<@Nullable String> endpoints(AnnouncedRanks.Described described) {
    ReplicaConfig replica = described.replica();
    return Stream.iterate(0, rank -> rank < replica.ranks(), rank -> rank + 1)
        .<@Nullable String>map(replica::eventsOf)
        .toList();
  }

  private static AnnouncedRanks.Described describe(
      @Nullable String answer, String keys, String... allowed) throws ConfigException {
    HostRules hosts =
        new HostRules(Stream.of(allowed).map(HostPattern::of).toList(), AnnouncedRanksTest::lookUp);
    ReplicaConfig replica =
        ConfigTree.parse("replicas: [{name: a, url: 'http://gpu:8000', " + keys + "}]", "f")
            .config()
            .replicas()
            .get(0);
    AnnouncedRanks sources =
        answer == null
            ? AnnouncedRanks.UNTOLD
            : AnnouncedRanks.read(answer.replace('\'', '"').getBytes(UTF_8)).orElseThrow();
    return sources.describe(replica, host -> hosts.mayFollow(replica, host));
  }

  private static InetAddress[] lookUp(String host) throws UnknownHostException {
    return InetAddress.getAllByName(host.equals("gpu") ? "10.0.0.9" : host);
  }
}
