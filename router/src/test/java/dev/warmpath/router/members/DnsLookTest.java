package dev.warmpath.router.members;

import static dev.warmpath.router.members.DnsServer.address;
import static dev.warmpath.router.members.DnsServer.service;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIOException;
import static org.assertj.core.api.Assertions.tuple;

import dev.warmpath.router.config.ConfigException;
import dev.warmpath.router.config.ConfigTree;
import dev.warmpath.router.config.ReplicaConfig;
import dev.warmpath.router.members.DnsClient.Search;
import dev.warmpath.router.members.Look.DnsLook;
import io.netty.handler.codec.dns.DnsResponseCode;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.util.List;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.xbill.DNS.Name;

class DnsLookTest {

  private static final String NAME = "vllm.example.";
  private static final String SRV = "_http._tcp.vllm.example.";

  private final DnsServer server = new DnsServer();
  private DnsLook look;

  @AfterEach
  void close() {
    server.close();
  }

  private void looksFor(String keys, Search search) {
    String yaml = "discovery:\n  - {kind: dns, server: '%s', %s}".formatted(server.address(), keys);
    try {
      look = new DnsLook(ConfigTree.parse(yaml, "f.yaml").config().discovery().get(0), search);
    } catch (ConfigException e) {
      throw new IllegalArgumentException(e);
    }
  }

  private void looksForHost(String more) {
    looksFor("host: vllm.example, port: 8000" + more, Search.NONE);
  }

  private void looksForSrv() {
    looksFor("srv: _http._tcp.vllm.example, replica: {events: 'tcp://{host}:5557'}", Search.NONE);
  }

  private static List<String> urls(Found found) {
    return found.replicas().stream().map(replica -> replica.url().toString()).toList();
  }

  @Test
  void eachAddressIsAReplica() throws IOException {
    looksForHost(", replica: {events: 'tcp://{host}:5557', models: [m]}");
    server.zone.put(NAME, List.of(address(NAME, "10.0.0.2", 7), address(NAME, "10.0.0.1", 9)));
    Found found = look.look();
    assertThat(found.validMillis()).isEqualTo(7_000);
    assertThat(found.replicas())
        .extracting(ReplicaConfig::name, ReplicaConfig::events)
        .containsExactly(
            tuple("10.0.0.1", "tcp://10.0.0.1:5557"), tuple("10.0.0.2", "tcp://10.0.0.2:5557"));
    assertThat(urls(found)).containsExactly("http://10.0.0.1:8000", "http://10.0.0.2:8000");
    assertThat(found.replicas().get(0).models()).containsExactly("m");
    server.zone.put(NAME, List.of(address(NAME, "10.0.0.2", 5)));
    assertThat(urls(look.look())).containsExactly("http://10.0.0.2:8000");
  }

  @Test
  void ipv6CountsWhereThereIsNoIpv4() throws IOException {
    looksForHost("");
    server.zone.put(NAME, List.of(address(NAME, "fd00::1", 5)));
    Found found = look.look();
    assertThat(urls(found)).containsExactly("http://[fd00:0:0:0:0:0:0:1]:8000");
    assertThat(found.replicas().get(0).name()).isEqualTo("fd00-0-0-0-0-0-0-1");
    server.zone.put(NAME, List.of(address(NAME, "fd00::1", 5), address(NAME, "10.0.0.1", 5)));
    assertThat(urls(look.look())).containsExactly("http://10.0.0.1:8000");
  }

  @Test
  void aServiceRecordHasItsOwnPortAndName() throws IOException {
    looksForSrv();
    server.zone.put(
        SRV,
        List.of(
            service(SRV, "pod-0.vllm.example.", 8001, 30),
            service(SRV, "Pod-1.vllm.example.", 8002, 20)));
    server.zone.put("pod-0.vllm.example.", List.of(address("pod-0.vllm.example.", "10.0.0.1", 5)));
    server.zone.put("pod-1.vllm.example.", List.of(address("pod-1.vllm.example.", "fd00::2", 5)));
    Found found = look.look();
    assertThat(found.replicas()).extracting(ReplicaConfig::name).containsExactly("pod-0", "pod-1");
    assertThat(urls(found))
        .containsExactly("http://10.0.0.1:8001", "http://[fd00:0:0:0:0:0:0:2]:8002");
    assertThat(found.replicas().get(1).events()).isEqualTo("tcp://[fd00:0:0:0:0:0:0:2]:5557");
    assertThat(found.validMillis()).isEqualTo(20_000);
  }

  @Test
  void addressesThatComeWithServiceRecordsAreNotAskedFor() throws IOException {
    looksForSrv();
    server.zone.put(SRV, List.of(service(SRV, "pod-0.vllm.example.", 8001, 30)));
    server.additional.add(address("pod-0.vllm.example.", "10.0.0.1", 5));
    assertThat(urls(look.look())).containsExactly("http://10.0.0.1:8001");
    assertThat(server.asked).containsExactly(SRV + " SRV");
  }

  @Test
  void aTargetWithoutAddressIsNoReplica() throws IOException {
    looksForSrv();
    server.zone.put(SRV, List.of(service(SRV, "pod-0.vllm.example.", 8001, 30)));
    server.zone.put("pod-0.vllm.example.", List.of(address("pod-0.vllm.example.", "10.0.0.1", 5)));
    assertThat(look.look().replicas()).hasSize(1);
    server.zone.remove("pod-0.vllm.example.");
    assertThatIOException().isThrownBy(look::look).withMessageContaining("no address in 1 answers");
  }

  @Test
  void replicasLeaveAfterSeveralEmptyAnswersOnly() throws IOException {
    looksForHost(", empty-looks: 3");
    assertThat(look.look().replicas()).isEmpty();
    server.zone.put(NAME, List.of(address(NAME, "10.0.0.1", 5)));
    assertThat(look.look().replicas()).hasSize(1);
    server.zone.remove(NAME);
    assertThatIOException()
        .isThrownBy(look::look)
        .withMessage("no address in 1 answers in a row; its replicas leave after 3");
    server.zone.put(NAME, List.of());
    assertThatIOException().isThrownBy(look::look).withMessageContaining("in 2 answers");
    server.zone.put(NAME, List.of(address(NAME, "10.0.0.1", 5)));
    assertThat(look.look().replicas()).hasSize(1);
    server.zone.remove(NAME);
    assertThatIOException().isThrownBy(look::look).withMessageContaining("in 1 answers");
    assertThatIOException().isThrownBy(look::look).withMessageContaining("in 2 answers");
    assertThat(look.look().replicas()).isEmpty();
  }

  @Test
  void aFailureIsNoEmptyAnswer() throws IOException {
    looksForHost(", empty-looks: 1");
    server.zone.put(NAME, List.of(address(NAME, "10.0.0.1", 5)));
    assertThat(look.look().replicas()).hasSize(1);
    server.failure = DnsResponseCode.SERVFAIL;
    assertThatIOException()
        .isThrownBy(look::look)
        .withMessageContainingAll("vllm.example. A", "SERVFAIL");
    server.failure = DnsResponseCode.NOERROR;
    server.silent = true;
    assertThatIOException()
        .isThrownBy(look::look)
        .withMessageContaining("vllm.example. A: no answer");
    server.silent = false;
    assertThat(look.look().replicas()).hasSize(1);
  }

  @Test
  void anAnswerThatDoesNotFitComesByTcp() throws IOException {
    looksForHost("");
    server.cutsOff = true;
    server.zone.put(
        NAME, IntStream.range(0, 200).mapToObj(i -> address(NAME, "10.0.1." + i, 5)).toList());
    assertThat(look.look().replicas()).hasSize(200);
    assertThat(server.asked).containsExactly(NAME + " A", "tcp " + NAME + " A");
  }

  @Test
  void aShortNameIsLookedForInTheSearchDomains() throws IOException {
    looksFor("host: vllm, port: 8000", search(5, "svc.example", "example"));
    server.zone.put(NAME, List.of(address(NAME, "10.0.0.1", 5)));
    assertThat(urls(look.look())).containsExactly("http://10.0.0.1:8000");
    assertThat(server.asked).containsExactly("vllm.svc.example. A", NAME + " A");
    server.failure = DnsResponseCode.SERVFAIL;
    assertThatIOException().isThrownBy(look::look).withMessageContaining("vllm.example. A");
  }

  @ParameterizedTest
  @ValueSource(strings = {"SERVFAIL", "REFUSED"})
  void aDomainWhoseServersFailIsPassedOver(String code) throws IOException {
    looksFor("host: vllm, port: 8000", search(5, "svc.example", "example"));
    server.failures.put(
        "vllm.svc.example.",
        code.equals("SERVFAIL") ? DnsResponseCode.SERVFAIL : DnsResponseCode.REFUSED);
    server.zone.put(NAME, List.of(address(NAME, "10.0.0.1", 5)));
    assertThat(urls(look.look())).containsExactly("http://10.0.0.1:8000");
    server.zone.clear();
    assertThatIOException()
        .as("it may be there")
        .isThrownBy(look::look)
        .withMessage("vllm.svc.example. A: " + code);
  }

  /** Or the address of a later domain's wildcard would take the fleet's place. */
  @Test
  void theDomainInWhichANameWasFoundIsNotPassedOver() throws IOException {
    looksFor("host: vllm, port: 8000", search(5, "svc.example", "example"));
    server.zone.put("vllm.svc.example.", List.of(address("vllm.svc.example.", "10.0.0.1", 5)));
    server.zone.put(NAME, List.of(address(NAME, "10.6.6.6", 5)));
    assertThat(urls(look.look())).containsExactly("http://10.0.0.1:8000");
    server.failures.put("vllm.svc.example.", DnsResponseCode.SERVFAIL);
    assertThatIOException().isThrownBy(look::look).withMessage("vllm.svc.example. A: SERVFAIL");
    server.failures.clear();
    assertThat(urls(look.look())).containsExactly("http://10.0.0.1:8000");
  }

  @Test
  void aNameWithManyDotsIsTriedFirstAsItIs() throws IOException {
    looksFor("host: vllm.svc, port: 8000", search(1, "example"));
    assertThat(look.look().replicas()).isEmpty();
    assertThat(server.asked).startsWith("vllm.svc. A", "vllm.svc.example. A");
    looksFor("host: vllm.svc, port: 8000", search(2, "example"));
    server.asked.clear();
    assertThat(look.look().replicas()).isEmpty();
    assertThat(server.asked).startsWith("vllm.svc.example. A", "vllm.svc. A");
    looksFor("host: vllm.svc., port: 8000", search(2, "example"));
    server.asked.clear();
    assertThat(look.look().replicas()).isEmpty();
    assertThat(server.asked).containsExactly("vllm.svc. A", "vllm.svc. AAAA");
  }

  @Test
  void aServerThatIsSilentIsAskedLast() throws IOException {
    try (DnsServer other = new DnsServer()) {
      server.silent = true;
      other.zone.put(NAME, List.of(address(NAME, "10.0.0.1", 5)));
      DnsClient client =
          new DnsClient(
              List.of(
                  new InetSocketAddress("127.0.0.1", server.port()),
                  new InetSocketAddress("127.0.0.1", other.port())),
              Search.NONE);
      assertThat(client.addresses(NAME).records()).containsExactly("10.0.0.1");
      assertThat(client.addresses(NAME).records()).containsExactly("10.0.0.1");
      assertThat(server.asked).hasSize(1);
      assertThat(other.asked).hasSize(2);
    }
  }

  @Test
  void aNameThatIsNoneIsNamed() {
    looksFor("host: 'a..b', port: 8000", search(1, "example"));
    assertThatIOException()
        .isThrownBy(look::look)
        .withMessageStartingWith("a..b: is no name of DNS");
  }

  private static Search search(int dots, String... domains) {
    return new Search(
        Stream.of(domains).map(domain -> Name.fromConstantString(domain + ".")).toList(), dots);
  }
}
