package dev.warmpath.router.cli;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.ObjectMapper;
import dev.warmpath.router.rig.RouterCommand;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** What a start shows, in a process of its own. */
class ServeStartTest {

  @Test
  void theLogIsJsonFromItsFirstLineAndSilentAboutTheWarmUp() throws Exception {
    List<String> arguments =
        List.of(
            "serve",
            "--port",
            "0",
            "--admin-port",
            "0",
            "--tokenizer",
            "m=embedded",
            "--set",
            "log.format=json",
            "--set",
            "snapshot.enabled=false",
            "--set",
            "warm-up.requests=30",
            "--set",
            "warm-up.seconds=60");
    Map<String, String> environment =
        Map.of(
            "WARMPATH_REPLICAS", "[{name: a, url: 'http://127.0.0.1:1'}]",
            "WARMPATH_NO_KEY", "1",
            "WARMPATH_LOG_LEVEL", "INFO");
    try (RouterCommand router = new RouterCommand(List.of("-Xmx256m"), arguments, environment)) {
      router.listening();
      HttpResponse<String> console =
          HttpClient.newBuilder()
              .followRedirects(HttpClient.Redirect.ALWAYS)
              .build()
              .send(
                  HttpRequest.newBuilder(URI.create(router.adminUrl() + "/")).build(),
                  BodyHandlers.ofString());
      assertThat(console.statusCode()).isEqualTo(200);
      assertThat(console.body()).contains("<html");
      router.awaitLine("warmpath is ready");
      String log = router.errors();
      String wholeLines = log.substring(0, log.lastIndexOf('\n') + 1);
      List<String> lines = wholeLines.lines().toList();
      assertThat(lines).as("the replica is in it").anyMatch(line -> line.contains("added [a]"));
      assertThat(lines).anyMatch(line -> line.contains("WARMPATH_NO_KEY"));
      assertThat(lines)
          .noneMatch(line -> line.matches("(?i).*(stub|warm-up|warmed|leaving, |cutting).*"));
      for (String line : lines) {
        assertThat(new ObjectMapper().readTree(line).path("level").asText()).as(line).isNotEmpty();
      }
    }
  }
}
