package dev.warmpath.router.members;

import static dev.warmpath.router.members.DnsServer.address;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIOException;

import dev.warmpath.router.config.ClusterConfig;
import dev.warmpath.router.config.ConfigException;
import dev.warmpath.router.config.ConfigTree;
import dev.warmpath.router.members.DnsClient.Search;
import dev.warmpath.router.rig.Rig;
import io.fabric8.kubernetes.api.model.discovery.v1.EndpointBuilder;
import io.fabric8.kubernetes.api.model.discovery.v1.EndpointSlice;
import io.fabric8.kubernetes.api.model.discovery.v1.EndpointSliceBuilder;
import io.fabric8.kubernetes.client.Config;
import io.fabric8.kubernetes.client.ConfigBuilder;
import io.netty.handler.codec.dns.DnsResponseCode;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

class PeerAddressesTest {

  private static ClusterConfig config(String where) {
    try {
      String yaml = "cluster: {mode: mesh, insecure: true, port: 7801, %s}".formatted(where);
      return ConfigTree.parse(yaml, "f.yaml").config().cluster();
    } catch (ConfigException e) {
      throw new IllegalArgumentException(e);
    }
  }

  private static List<String> found(PeerAddresses addresses) throws IOException {
    return addresses.look().stream()
        .map((InetSocketAddress at) -> at.getAddress().getHostAddress() + ":" + at.getPort())
        .sorted()
        .toList();
  }

  @Test
  void aListNamesHostsWithPortsAndOnesThatHaveNoAddressYet() throws IOException {
    String list = "peers: ['10.0.0.1', '10.0.0.2:7000', '[::1]:7001', '[::1]', 'nowhere.invalid']";
    try (PeerAddresses addresses = new PeerAddresses(config(list))) {
      assertThat(found(addresses))
          .containsExactly(
              "0:0:0:0:0:0:0:1:7001", "0:0:0:0:0:0:0:1:7801", "10.0.0.1:7801", "10.0.0.2:7000");
    }
  }

  @Test
  void aNameHasTheAddressesThatItsServerKnowsNow() throws IOException {
    ClusterConfig config = config("dns: routers.example");
    try (DnsServer server = new DnsServer()) {
      String[] at = server.address().split(":");
      DnsClient dns =
          new DnsClient(new InetSocketAddress(at[0], Integer.parseInt(at[1])), Search.NONE);
      PeerAddresses addresses = new PeerAddresses(config, dns, null);
      String name = "routers.example.";
      server.zone.put(name, List.of(address(name, "10.0.0.1", 60), address(name, "10.0.0.2", 60)));
      assertThat(found(addresses)).containsExactly("10.0.0.1:7801", "10.0.0.2:7801");
      server.zone.put(name, List.of(address(name, "10.0.0.3", 60)));
      assertThat(found(addresses)).as("at once, whatever the TTL").containsExactly("10.0.0.3:7801");
      server.failure = DnsResponseCode.SERVFAIL;
      assertThatIOException().isThrownBy(addresses::look).withMessageContaining("SERVFAIL");
    }
  }

  private static EndpointSlice slice(String name, String... notReady) {
    return new EndpointSliceBuilder()
        .withNewMetadata()
        .withName(name)
        .withNamespace("test")
        .addToLabels("kubernetes.io/service-name", "routers")
        .endMetadata()
        .withAddressType("IPv4")
        .withEndpoints(
            List.of(notReady).stream()
                .map(address ->
                    new EndpointBuilder()
                        .withAddresses(address)
                        .withNewConditions()
                        .withReady(false)
                        .endConditions()
                        .build())
                .toList())
        .build();
  }

  @Test
  void aServiceHasItsEndpointsReadyOrNotAndWakesWhenTheyChange() throws IOException {
    ApiServer server = new ApiServer();
    Config credentials =
        new ConfigBuilder(Config.empty())
            .withMasterUrl("http://127.0.0.1:" + server.port())
            .withNamespace("test")
            .build();
    try (PeerAddresses addresses =
        new PeerAddresses(
            config("service: routers"), null, new KubernetesConnection(() -> credentials))) {
      AtomicInteger woken = new AtomicInteger();
      addresses.onChange(woken::incrementAndGet);
      server.put(slice("s1", "10.0.0.1"));
      assertThat(found(addresses)).containsExactly("10.0.0.1:7801");
      server.put(slice("s2", "10.0.0.2"));
      Rig.until(() -> woken.get() > 0);
      assertThat(found(addresses)).containsExactly("10.0.0.1:7801", "10.0.0.2:7801");
    } finally {
      server.close();
    }
  }
}
