package dev.warmpath.router.discovery.dns;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;

class SearchPathTest {

  private static final List<String> OF_A_POD =
      List.of(
          "# a pod's",
          "search default.svc.cluster.local svc.cluster.local cluster.local",
          "nameserver 10.96.0.10",
          "options ndots:5 timeout:2");

  @Test
  void aNameWithFewDotsIsLookedForInTheDomainsFirst() {
    SearchPath pod = SearchPath.parse(OF_A_POD);
    assertThat(pod.names("vllm"))
        .containsExactly(
            "vllm.default.svc.cluster.local.",
            "vllm.svc.cluster.local.",
            "vllm.cluster.local.",
            "vllm.");
    assertThat(pod.names("_http._tcp.vllm.default.svc"))
        .containsSubsequence("_http._tcp.vllm.default.svc.cluster.local.");
  }

  @Test
  void aNameWithManyDotsIsTriedFirstAsItIs() {
    SearchPath one = SearchPath.parse(List.of("domain example.org."));
    assertThat(one.names("a.b")).containsExactly("a.b.", "a.b.example.org.");
    assertThat(one.names("a")).containsExactly("a.example.org.", "a.");
  }

  @Test
  void aCompleteNameIsTriedAlone() {
    assertThat(SearchPath.parse(OF_A_POD).names("vllm.")).containsExactly("vllm.");
    assertThat(SearchPath.NONE.names("vllm")).containsExactly("vllm.");
  }

  @Test
  void theLastLineCounts() {
    SearchPath path =
        SearchPath.parse(
            List.of("search a b", "search c", "options ndots:999", "options ndots:x", ""));
    assertThat(path).isEqualTo(new SearchPath(List.of("c"), 15));
  }
}
