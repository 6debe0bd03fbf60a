package dev.warmpath.router.members;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.warmpath.router.config.ConfigException;
import dev.warmpath.router.config.ConfigTree;
import dev.warmpath.router.config.HostPattern;
import dev.warmpath.router.config.ReplicaConfig;
import dev.warmpath.router.fleet.Fleet;
import dev.warmpath.router.fleet.Replica;
import dev.warmpath.router.members.FleetChange.Refusal;
import dev.warmpath.router.rig.Rig;
import java.net.InetAddress;
import java.net.URI;
import java.net.UnknownHostException;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class HostRulesTest {

  private static final HostRules USUAL = rules();

  @ParameterizedTest
  @ValueSource(
      strings = {
        "http://169.254.169.254",
        "http://[::ffff:169.254.169.254]",
        "http://[fe80::1]:8000",
        "http://[fd00:ec2::254]",
        "http://100.100.100.200",
        "http://168.63.129.16",
        "http://0.0.0.0:8000",
        "http://[::]:8000",
        "http://224.0.0.1",
        "http://255.255.255.255",
        "http://[64:ff9b::a9fe:a9fe]"
      })
  void whatTellsMachinesTheirSecretsIsNeverAllowed(String url) throws ConfigException {
    HostRules all = rules("0.0.0.0/0", "::/0");
    assertThat(refusal(USUAL, "admin", url, "")).contains("fleet.allowed-hosts");
    assertThat(refusal(all, "admin", url, "")).contains("fleet.allowed-hosts");
    assertThat(refusal(all, "dns", url, "")).contains("fleet.allowed-hosts");
    assertThat(refusal(USUAL, "configuration", url, "")).isNull();
  }

  @ParameterizedTest
  @CsvSource({
    "http://10.1.2.3:8000, true",
    "http://127.0.0.1:8000, true",
    "http://localhost:8000, true",
    "http://192.168.255.1, true",
    "http://172.31.0.1, true",
    "http://172.32.0.1, false",
    "http://100.64.0.1, true",
    "http://[fd12::1]:8000, true",
    "http://[2001:db8::1]:8000, false",
    "http://8.8.8.8, false"
  })
  void withoutRulesPrivateAddressesAreAllowed(String url, boolean allowed) throws ConfigException {
    assertThat(refusal(USUAL, "admin", url, "") == null).isEqualTo(allowed);
  }

  @Test
  void rulesAreRangesAndNames() throws ConfigException {
    HostRules rules = rules("10.1.0.0/20", "localhost", "2001:db8::/33");
    assertThat(refusal(rules, "admin", "http://10.1.15.255", "")).isNull();
    assertThat(refusal(rules, "admin", "http://10.1.16.0", "")).isNotNull();
    assertThat(refusal(rules, "admin", "http://LOCALHOST:1", "")).isNull();
    assertThat(refusal(rules, "admin", "http://127.0.0.1:1", "")).isNotNull();
    assertThat(refusal(rules, "admin", "http://[2001:db8:7fff::1]", "")).isNull();
    assertThat(refusal(rules, "admin", "http://[2001:db8:8000::1]", "")).isNotNull();
    HostRules names = rules("*.invalid");
    assertThat(refusal(names, "admin", "http://a.invalid", "")).contains("unknown");
  }

  @Test
  void eventsAndReplayAreJudgedToo() throws ConfigException {
    String url = "http://10.0.0.1:8000";
    assertThat(refusal(USUAL, "admin", url, "events: 'tcp://10.0.0.1:5557'")).isNull();
    assertThat(refusal(USUAL, "admin", url, "events: 'tcp://[fd00::1]:5557'")).isNull();
    for (String endpoint :
        new String[] {
          "tcp://169.254.169.254:80", "tcp://*:5557", "ipc:///var/run/docker.sock", "inproc://a"
        }) {
      assertThat(refusal(USUAL, "admin", url, "events: '" + endpoint + "'"))
          .as(endpoint)
          .isNotNull();
    }
    assertThat(
            refusal(USUAL, "admin", url, "events: 'tcp://10.0.0.1:1', replay: 'tcp://8.8.8.8:1'"))
        .contains("8.8.8.8");
    assertThat(refusal(USUAL, "dns", url, "events: 'tcp://10.0.0.1:1', bind: true"))
        .contains("bind");
  }

  @ParameterizedTest
  @ValueSource(strings = {"10.0.0.0/33", "10.0.0/8", "a/b", "::/129", "10.0.0.0/x"})
  void aRuleThatIsNoneIsRefused(String rule) {
    String config = "listen: {}\nfleet: {allowed-hosts: ['" + rule + "']}";
    assertThatThrownBy(() -> ConfigTree.parse(config, "router.yaml").config())
        .isInstanceOf(ConfigException.class)
        .hasMessageContaining("router.yaml:2")
        .hasMessageContaining("'fleet.allowed-hosts': '" + rule + "'");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "http://169.254.169.254/",
        "http://u:p@10.0.0.1",
        "http://10.0.0.1/latest/meta-data",
        "http://10.0.0.1?x=1",
        "file:///etc/passwd",
        "gopher://10.0.0.1",
        "http://8.8.8.8"
      })
  void theAdminApiRefusesThem(String url) throws Exception {
    try (Rig rig = new Rig(1)) {
      URI uri = URI.create("http://127.0.0.1:" + rig.router.adminPort() + "/admin/replicas");
      HttpResponse<byte[]> answer =
          rig.send(
              HttpRequest.newBuilder(uri)
                  .POST(
                      HttpRequest.BodyPublishers.ofString(
                          "{\"name\":\"x\",\"url\":\"" + url + "\"}"))
                  .build());
      assertThat(answer.statusCode()).isEqualTo(400);
      assertThat(rig.router.fleet().replicas()).hasSize(1);
    }
  }

  /** A name is connected to where it led when it was judged, until it is judged anew. */
  @Test
  void aNameThatMovesIsJudgedAnew() throws Exception {
    Map<String, List<String>> zone = new ConcurrentHashMap<>();
    zone.put("engine.example", List.of("10.0.0.1"));
    HostRules rules =
        new HostRules(
            List.of(),
            host -> {
              List<String> found = zone.get(host);
              if (found == null) {
                throw new UnknownHostException(host);
              }
              InetAddress[] addresses = new InetAddress[found.size()];
              for (int i = 0; i < addresses.length; i++) {
                addresses[i] = InetAddress.getByName(found.get(i));
              }
              return addresses;
            });
    Connected connected = new Connected();
    ReplicaConfig replica =
        ConfigTree.replica(
            "{name: x, url: 'http://Engine.example:8000', events: 'tcp://engine.example:5557'}",
            "test");
    try (Membership membership =
        new Membership(
            new Membership.Environment(
                new Fleet(), connected, rules, () -> 1_000, System::nanoTime, Thread::new))) {
      assertThat(membership.put(Membership.ADMIN, replica).added()).containsExactly("x");
      assertThat(connected.log).containsExactly("events tcp://10.0.0.1:5557", "http 10.0.0.1");
      membership.lookUpHosts();
      zone.put("engine.example", List.of("10.0.0.2", "10.0.0.1"));
      membership.lookUpHosts();
      zone.remove("engine.example");
      membership.lookUpHosts();
      assertThat(connected.log).as("it is where it was").hasSize(2);

      zone.put("engine.example", List.of("fd00::2"));
      membership.lookUpHosts();
      assertThat(connected.log.subList(2, connected.log.size()))
          .containsExactly(
              "no more x", "events tcp://[fd00:0:0:0:0:0:0:2]:5557", "http fd00:0:0:0:0:0:0:2");
      assertThat(membership.members()).extracting(Member::leaving).containsExactly(false);

      zone.put("engine.example", List.of("169.254.169.254"));
      membership.lookUpHosts();
      assertThat(connected.log).as("nothing goes there").hasSize(5);
      assertThat(membership.members()).allMatch(Member::leaving);
      assertThat(membership.refusals())
          .extracting(Refusal::reason)
          .containsExactly("host 'engine.example' (169.254.169.254) is not in fleet.allowed-hosts");
    }
  }

  /** What is connected to, in its order. */
  private static final class Connected implements Membership.Follower {
    private final List<String> log = new CopyOnWriteArrayList<>();

    @Override
    public void follow(ReplicaConfig replica, String model) {
      log.add("events " + replica.events());
    }

    @Override
    public void entering(Replica replica, ReplicaConfig config, String address) {
      log.add("http " + address);
    }

    @Override
    public void unfollow(ReplicaConfig replica) {
      log.add("no more " + replica.name());
    }

    @Override
    public void allKnown() {}

    @Override
    public void changed(List<ReplicaConfig> replicas) {}
  }

  private static HostRules rules(String... allowed) {
    return new HostRules(Stream.of(allowed).map(HostPattern::of).toList());
  }

  private static String refusal(HostRules rules, String source, String url, String more)
      throws ConfigException {
    return rules
        .judge(source, ConfigTree.replica("{name: x, url: '" + url + "', " + more + "}", "test"))
        .refusal();
  }
}
