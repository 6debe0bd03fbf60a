package dev.warmpath.router.members;

import static org.assertj.core.api.Assertions.assertThat;

import dev.warmpath.router.config.ConfigException;
import dev.warmpath.router.config.ConfigTree;
import dev.warmpath.router.config.DiscoveryConfig;
import dev.warmpath.router.members.KubernetesLook.ReadyEndpoints;
import io.fabric8.kubernetes.api.model.discovery.v1.EndpointSlice;
import io.fabric8.kubernetes.client.utils.Serialization;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

class ReadyEndpointsTest {

  private static DiscoveryConfig config(String keys) throws ConfigException {
    String yaml = "discovery:\n  - {kind: kubernetes, service: vllm" + keys + "}";
    return ConfigTree.parse(yaml, "f.yaml").config().discovery().get(0);
  }

  private static ReadyEndpoints read(String keys, String... slices) throws ConfigException {
    List<EndpointSlice> parsed =
        Stream.of(slices)
            .map(slice -> "--- {metadata: {name: s}, addressType: IPv4, " + slice + "}")
            .map(slice -> Serialization.unmarshal(slice, EndpointSlice.class))
            .toList();
    return ReadyEndpoints.read(parsed, config(keys));
  }

  private static List<String> hosts(ReadyEndpoints slices) {
    return slices.ready().stream().map(ReadyEndpoints.Ready::host).toList();
  }

  @Test
  void aSliceWithoutEndpointsOrPortsHasNone() throws ConfigException {
    ReadyEndpoints slices =
        read(
            "",
            "endpoints: null, ports: null",
            "ports: [{port: 1}]",
            "endpoints: [{addresses: null}]");
    assertThat(slices.ready()).isEmpty();
    assertThat(slices.refused()).isEmpty();
  }

  @Test
  void anUnknownConditionIsReady() throws ConfigException {
    ReadyEndpoints slices =
        read(
            "",
            "ports: [{port: 8000}], endpoints: [{addresses: [10.1.0.1]},"
                + " {addresses: [10.1.0.2], conditions: {}},"
                + " {addresses: [10.1.0.3], conditions: {ready: true, terminating: true}},"
                + " {addresses: [10.1.0.4], conditions: {ready: false}}]");
    assertThat(hosts(slices)).containsExactly("10.1.0.1", "10.1.0.2");
  }

  @Test
  void anEndpointInTwoSlicesCountsOnce() throws ConfigException {
    String endpoint = "ports: [{port: 8000}], endpoints: [{addresses: [10.1.0.1, 10.1.0.9]}]";
    assertThat(hosts(read("", endpoint, endpoint))).containsExactly("10.1.0.1");
  }

  @Test
  void aSliceWithoutAClearPortIsRefusedAlone() throws ConfigException {
    String[] slices = {
      "ports: [{name: http, port: 8000}, {name: metrics, port: 9000}], endpoints: [{addresses:"
          + " [10.1.0.1]}]",
      "ports: [{name: other, port: 8000}], endpoints: [{addresses: [10.1.0.2]}]",
      "ports: [{name: other}], endpoints: [{addresses: [10.1.0.3]}]"
    };
    assertThat(hosts(read("", slices))).containsExactly("10.1.0.2");
    assertThat(read("", slices).refused())
        .containsExactly(
            "EndpointSlice s: it has not one port", "EndpointSlice s: it has not one port");
    assertThat(hosts(read(", port-name: http", slices))).containsExactly("10.1.0.1");
    assertThat(read(", port-name: http", slices).refused())
        .containsOnly("EndpointSlice s: it has no port 'http'");
    assertThat(hosts(read(", port: 7000", slices))).hasSize(3);
  }
}
