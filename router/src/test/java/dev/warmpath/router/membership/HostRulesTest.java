package dev.warmpath.router.membership;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.warmpath.router.config.ConfigTree;
import dev.warmpath.router.config.read.ConfigException;
import dev.warmpath.router.host.HostPattern;
import dev.warmpath.router.rig.Rig;
import java.net.URI;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
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

  private static HostRules rules(String... allowed) {
    return new HostRules(Stream.of(allowed).map(HostPattern::of).toList());
  }

  private static String refusal(HostRules rules, String source, String url, String more)
      throws ConfigException {
    return rules.refusal(
        source, ConfigTree.replica("{name: x, url: '" + url + "', " + more + "}", "test"));
  }
}
