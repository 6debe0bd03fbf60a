package dev.warmpath.router.proxy;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import org.junit.jupiter.api.Test;

class UsageScannerTest {

  private static final String USAGE =
      "\"usage\":{\"prompt_tokens\":31,\"total_tokens\":40,\"completion_tokens\":9,"
          + "\"prompt_tokens_details\":{\"cached_tokens\":16}}";
  private static final String CONTENT = "é 漢 \\\"usage\\\":{\\\"prompt_tokens\\\":7} 🚀";
  private static final String PLAIN =
      "{\"id\":\"x\",\"choices\":[{\"message\":{\"content\":\""
          + CONTENT
          + "\","
          + "\"usage\":{\"prompt_tokens\":5}}}],"
          + USAGE
          + ",\"kv\":null}";
  private static final String EVENTS =
      ": hello\r\n\r\ndata: {\"choices\":[{\"delta\":{\"content\":\""
          + CONTENT
          + "\"}}],\"usage\":null}\n\n"
          + "data: {\"choices\":[],"
          + USAGE
          + "}\r\n\r\ndata: [DONE]\n\n";

  @Property
  void anySplitOfADocumentTellsTheSame(@ForAll List<@IntRange(min = 1, max = 40) Integer> sizes) {
    assertThat(scan("application/json", PLAIN, sizes).usage()).isEqualTo(new Usage(31, 16, 9));
  }

  @Property
  void anySplitOfEventsTellsTheSame(@ForAll List<@IntRange(min = 1, max = 40) Integer> sizes) {
    UsageScanner scanner = scan("text/event-stream; charset=utf-8", EVENTS, sizes);
    assertThat(scanner.usage()).isEqualTo(new Usage(31, 16, 9));
    assertThat(scanner.betweenEvents()).isTrue();
  }

  @Test
  void everySingleByteIsAChunk() {
    List<Integer> ones = java.util.Collections.nCopies(4_000, 1);
    assertThat(scan("text/event-stream", EVENTS, ones).usage()).isEqualTo(new Usage(31, 16, 9));
    assertThat(scan("application/json", PLAIN, ones).usage()).isEqualTo(new Usage(31, 16, 9));
  }

  @Property
  void garbageReportsNothingAndThrowsNothing(@ForAll byte[] bytes, @ForAll boolean events) {
    UsageScanner scanner = UsageScanner.of(events ? "text/event-stream" : "application/json");
    scanner.feed(bytes);
    assertThat(scanner.usage()).isEqualTo(Usage.NONE);
  }

  @Test
  void aReportWithoutCachedTokensSaysSo() {
    Usage usage =
        scan(
                "application/json",
                "{\"usage\":{\"prompt_tokens\":3,\"prompt_tokens_details\":null}}",
                List.of())
            .usage();
    assertThat(usage).isEqualTo(new Usage(3, Usage.ABSENT, Usage.ABSENT));
    assertThat(usage.tellsCachedTokens()).isFalse();
  }

  @Test
  void anEventOfAnotherChoiceIsSeen() {
    assertThat(scan("text/event-stream", EVENTS, List.of()).hasChoices()).isFalse();
    String first = "data: {\"choices\":[{\"index\":0,\"text\":\"\\\"index\\\":1\"}]}\n\n";
    assertThat(scan("text/event-stream", first, List.of()).hasChoices()).isFalse();
    for (String index : List.of("\"index\":1", "\"index\": 12")) {
      String second = first + "data: {\"choices\":[{" + index + ",\"text\":\"a\"}]}\n\n";
      assertThat(scan("text/event-stream", second, List.of()).hasChoices()).isTrue();
    }
    assertThat(scan("text/event-stream", "data: \"index\":\n\n", List.of()).hasChoices()).isFalse();
  }

  @Test
  void wrongTypesAreAbsent() {
    String text =
        "{\"usage\":{\"prompt_tokens\":1e3,\"prompt_tokens_details\":{\"cached_tokens\":99999999999}}}";
    assertThat(scan("application/json", text, List.of()).usage()).isEqualTo(Usage.NONE);
  }

  @Test
  void aDataLineBeyondTheBoundIsReadAsItComes() {
    String longText = "x".repeat(SseUsageScanner.LINE_LIMIT_BYTES);
    String line = "data: {\"a\":\"" + longText + "\"," + USAGE + "}\n\n";
    assertThat(scan("text/event-stream", line, List.of(100, 7)).usage())
        .isEqualTo(new Usage(31, 16, 9));
    assertThat(scan("text/event-stream", line, List.of()).usage()).isEqualTo(new Usage(31, 16, 9));
    assertThat(scan("text/event-stream", line, List.of(70_000)).betweenEvents()).isTrue();
    String other = "event: {\"a\":\"" + longText + "\"," + USAGE + "}\n\n";
    assertThat(scan("text/event-stream", other, List.of(100, 7)).usage()).isEqualTo(Usage.NONE);
    assertThat(scan("text/event-stream", other + EVENTS, List.of(100, 7)).usage().cachedTokens())
        .isEqualTo(16);
  }

  @Property
  void messagesLeaveOutWhatWasCached(@ForAll List<@IntRange(min = 1, max = 40) Integer> sizes) {
    String usage =
        "\"usage\":{\"input_tokens\":15,\"output_tokens\":9,\"cache_read_input_tokens\":16}";
    String start = "{\"type\":\"message_start\",\"message\":{\"content\":[]," + usage + "}}";
    String delta =
        "{\"type\":\"message_delta\",\"delta\":{\"usage\":{\"input_tokens\":1}},"
            + "\"usage\":{\"input_tokens\":10,\"cache_read_input_tokens\":32,"
            + "\"cache_creation_input_tokens\":2}}";
    String events = "event: message_start\ndata: " + start + "\n\n";
    assertThat(scan("text/event-stream", events, sizes).usage()).isEqualTo(new Usage(31, 16, 9));
    events += "event: message_delta\ndata: " + delta + "\n\n";
    assertThat(scan("text/event-stream", events, sizes).usage()).isEqualTo(new Usage(44, 32, 9));
    assertThat(scan("application/json", "{\"content\":[]," + usage + "}", sizes).usage())
        .isEqualTo(new Usage(31, 16, 9));
    assertThat(scan("application/json", "{\"usage\":{\"input_tokens\":4}}", sizes).usage())
        .isEqualTo(new Usage(4, Usage.ABSENT, Usage.ABSENT));
  }

  @Test
  void aLaterReportOfTheAnswerAloneLeavesThePrompt() {
    String events =
        "event: message_start\ndata: {\"message\":{\"usage\":{\"input_tokens\":15,"
            + "\"cache_read_input_tokens\":16,\"output_tokens\":1}}}\n\n"
            + "event: message_delta\ndata: {\"usage\":{\"output_tokens\":9}}\n\n";
    assertThat(scan("text/event-stream", events, List.of()).usage())
        .isEqualTo(new Usage(31, 16, 9));
  }

  @Test
  void countsTheEventsThatBringContent() {
    String opening = "event: ping\ndata: {}\n\n";
    assertThat(scan("text/event-stream", opening, List.of()).contentEvents()).isZero();
    String events = opening + "data: {\"a\":1}\n\ndata: {\"a\":2}\n\ndata: [DONE]\n\n";
    assertThat(scan("text/event-stream", events, List.of(3, 5)).contentEvents()).isEqualTo(2);
    assertThat(scan("application/json", PLAIN, List.of()).contentEvents()).isZero();
  }

  @Property
  void responsesCountWhatWasCachedIn(@ForAll List<@IntRange(min = 1, max = 40) Integer> sizes) {
    String body =
        "{\"output\":[{\"usage\":{\"input_tokens\":1}}],\"usage\":{\"input_tokens\":31,"
            + "\"input_tokens_details\":{\"cached_tokens\":16},\"output_tokens\":9}}";
    assertThat(scan("application/json", body, sizes).usage()).isEqualTo(new Usage(31, 16, 9));
    String event = "data: {\"type\":\"response.completed\",\"response\":" + body + "}\n\n";
    assertThat(scan("text/event-stream", event, sizes).usage()).isEqualTo(new Usage(31, 16, 9));
  }

  @Test
  void knowsWhereAnEventMayBegin() {
    assertThat(scan("text/event-stream", "data: 1\n\ndata: 2", List.of()).betweenEvents())
        .isFalse();
    assertThat(scan("text/event-stream", "data: 1\n", List.of()).betweenEvents()).isFalse();
    assertThat(scan("text/event-stream", "data: 1\r\n\r\n", List.of()).betweenEvents()).isTrue();
    assertThat(scan("application/json", "{}\n\n", List.of()).betweenEvents()).isFalse();
  }

  private static UsageScanner scan(String type, String text, List<Integer> sizes) {
    UsageScanner scanner = UsageScanner.of(type);
    byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
    int at = 0;
    for (int size : sizes) {
      int to = Math.min(bytes.length, at + size);
      scanner.feed(Arrays.copyOfRange(bytes, at, to));
      at = to;
    }
    scanner.feed(Arrays.copyOfRange(bytes, at, bytes.length));
    return scanner;
  }
}
