package dev.warmpath.router.metrics;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import dev.warmpath.eventingest.StreamCounter;
import dev.warmpath.router.rig.Backend;
import dev.warmpath.router.rig.Rig;
import io.vertx.core.buffer.Buffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

class MetricsTest {

  private static final String USAGE =
      "{\"usage\":{\"prompt_tokens\":100,\"completion_tokens\":7,"
          + "\"prompt_tokens_details\":{\"cached_tokens\":64}}}";

  private static final Buffer DONE = Buffer.buffer("data: [DONE]\n\n");

  @Test
  void aScrapeShowsRequestsEnginesAndTheProcess() throws Exception {
    try (Rig rig = new Rig(2)) {
      for (int i = 0; i < 4; i++) {
        rig.chat("{\"model\":\"m\"}");
      }
      rig.chat("nonsense");
      rig.chat("{\"model\":\"unknown\"}");
      rig.untilIdle();
      String scrape = new String(rig.admin("/metrics").body(), UTF_8);
      assertThat(scrape)
          .contains(
              "warmpath_requests_total{ending=\"complete\",path=\"/v1/chat/completions\",status=\"200\"} 5.0",
              "warmpath_requests_total{ending=\"complete\",path=\"/v1/chat/completions\",status=\"404\"} 1.0",
              "warmpath_rejected_total{code=\"model_not_found\"} 1.0",
              "warmpath_fallbacks_total{cause=\"bad_json\"} 1.0",
              "warmpath_unassigned_total{cause=\"unknown_model\"} 1.0",
              "warmpath_policy_memory_share{policy=",
              "warmpath_replica_up{replica=\"r0\"} 1.0",
              "warmpath_engine_requests_in_flight{engine=\"r1\"} 0.0",
              "warmpath_outcomes_total{engine=\"r0\",outcome=\"completed\"}",
              "warmpath_request_duration_seconds_bucket{path=\"/v1/chat/completions\",le=",
              "warmpath_first_byte_seconds_count{replica=\"r0\"}",
              "warmpath_event_visible_seconds_bucket{le=\"5.0E-5\"} 0",
              "warmpath_event_visible_seconds_count 0",
              "warmpath_replays_running 0.0",
              "warmpath_tokenizer_queue_limit 256.0",
              "warmpath_expected_blocks_ended_total{engine=\"r0\",result=\"confirmed\"} 0.0",
              "jvm_memory_used_bytes{area=\"heap\",",
              "jvm_gc_max_data_size_bytes ",
              "process_cpu_usage ",
              "process_files_open_files ",
              "process_uptime_seconds ");
      assertThat(names(scrape)).allMatch(MetricsTest::isKnown);
    }
  }

  @Test
  void tokensAreCountedByModelsThatTheFleetServes() throws Exception {
    try (Rig rig = new Rig(1)) {
      rig.backends.get(0).script =
          (request, body) ->
              request.response().putHeader("content-type", "application/json").end(USAGE);
      rig.backends.get(0).models = "{\"data\":[{\"id\":\"m\"},{\"id\":\"lora\"}]}";
      Rig.until(() -> rig.router.fleet().replicas().get(0).serves("lora"));
      rig.chat("{\"model\":\"m\"}");
      rig.chat("{\"model\":\"m\"}");
      rig.chat("{\"model\":\"lora\"}");
      rig.chat("{}");
      rig.untilIdle();
      assertThat(rig.metrics())
          .containsEntry("warmpath_prompt_tokens_total{engine=\"r0\",model=\"m\"}", 200.0)
          .containsEntry("warmpath_cached_tokens_total{engine=\"r0\",model=\"m\"}", 128.0)
          .containsEntry("warmpath_answer_tokens_total{engine=\"r0\",model=\"m\"}", 14.0)
          .containsEntry("warmpath_cached_tokens_total{engine=\"r0\",model=\"lora\"}", 64.0)
          .containsEntry("warmpath_cached_tokens_total{engine=\"r0\",model=\"other\"}", 64.0)
          .containsEntry("warmpath_routing_seconds_count", 4.0);
    }
  }

  @Test
  void gapsBetweenTokensAreTimedAndErrorsAreNot() throws Exception {
    try (Rig rig = new Rig(1)) {
      Backend backend = rig.backends.get(0);
      List<Buffer> parts =
          List.of(Buffer.buffer("data: {}\n\n"), Buffer.buffer("data: {}\n\n"), DONE);
      backend.script = (request, body) -> backend.stream(request, parts);
      rig.chat("{\"stream\":true}");
      backend.script =
          (request, body) -> {
            request.response().setStatusCode(400);
            backend.stream(request, parts);
          };
      rig.chat("{\"stream\":true}");
      rig.untilIdle();
      assertThat(rig.metrics())
          .containsEntry("warmpath_inter_token_seconds_count{replica=\"r0\"}", 1.0);
    }
  }

  @Test
  void documentationListsEveryMetric() throws Exception {
    List<String> rows =
        Files.readAllLines(Path.of("../docs/metrics.md")).stream()
            .filter(line -> line.startsWith("| `warmpath_"))
            .toList();
    assertThat(rows).isEqualTo(Arrays.stream(Metric.values()).map(MetricsTest::row).toList());
  }

  @Test
  void documentationListsEveryCounterOfAStream() throws Exception {
    List<String> rows =
        Files.readAllLines(Path.of("../docs/metrics.md")).stream()
            .dropWhile(line -> !line.equals("| event | counts |"))
            .skip(2)
            .takeWhile(line -> line.startsWith("|"))
            .toList();
    assertThat(rows)
        .isEqualTo(
            Arrays.stream(StreamCounter.values())
                .map(counter -> "| `%s` | %s |".formatted(counter.label(), counter.meaning()))
                .toList());
  }

  private static String row(Metric metric) {
    String labels = metric.labels().stream().collect(Collectors.joining(", "));
    return "| `%s` | %s | %s | %s |"
        .formatted(
            metric.exposed(),
            metric.type().name().toLowerCase(Locale.ROOT),
            labels,
            metric.meaning());
  }

  private static List<String> names(String scrape) {
    return scrape
        .lines()
        .filter(line -> line.startsWith("warmpath_"))
        .map(line -> line.split("[{ ]", 2)[0])
        .distinct()
        .toList();
  }

  private static boolean isKnown(String name) {
    return Arrays.stream(Metric.values())
        .anyMatch(metric ->
            name.equals(metric.exposed())
                || (metric.type() == Metric.Type.HISTOGRAM
                    && name.matches(metric.exposed() + "_(bucket|count|sum|max)")));
  }
}
