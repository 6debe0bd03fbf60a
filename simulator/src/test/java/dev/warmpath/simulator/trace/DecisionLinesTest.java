package dev.warmpath.simulator.trace;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Base64;
import java.util.zip.GZIPOutputStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class DecisionLinesTest {

  private static final String HEADER =
      "{\"format\":\"warmpath-decisions\",\"version\":1,\"time_ms\":1,\"key\":\"aa\"}";
  private static final long BEGIN = 1_700_000_000_000L;

  @TempDir Path folder;

  @Test
  void aSessionGoesOnWhenItsRequestBeforeIsOver() throws Exception {
    Trace trace =
        read(
            HEADER,
            line(10_000, 2_000, 640, 100, "s", ""), // over at 12 s
            line(11_000, 3_000, 300, 10, "s", ""), // overlaps the first: a lane of its own
            line(13_500, 1_000, 700, 10, "s", ""), // over at 14.5 s, behind the first
            line(16_000, 500, 350, 10, "s", ""), // behind the third, which ended last
            line(16_200, 500, 360, 10, "s", ""), // behind the second, the only free lane
            line(17_000, 500, 900, 10, "", ""));
    assertThat(trace.requests()).isEqualTo(6);
    assertThat(trace.after(0)).isEqualTo(Trace.NONE);
    assertThat(trace.seconds(0)).isZero();
    assertThat(trace.after(1)).isEqualTo(Trace.NONE);
    assertThat(trace.seconds(1)).isEqualTo(1);
    assertThat(trace.after(2)).isEqualTo(0);
    assertThat(trace.seconds(2)).isEqualTo(1.5);
    assertThat(trace.after(3)).isEqualTo(2);
    assertThat(trace.seconds(3)).isEqualTo(1.5);
    assertThat(trace.after(4)).isEqualTo(1);
    assertThat(trace.seconds(4)).isEqualTo(2.2);
    assertThat(trace.session(4)).isEqualTo(0);
    assertThat(trace.after(5)).isEqualTo(Trace.NONE);
    assertThat(trace.seconds(5)).isEqualTo(7);
    assertThat(trace.session(5)).isEqualTo(Trace.NONE);
    assertThat(trace.promptTokens(5)).isEqualTo(900);
    assertThat(trace.answerTokens(0)).isEqualTo(100);
  }

  @Test
  void aRequestThatEndedLaterMayHaveComeEarlier() throws Exception {
    Trace trace = read(HEADER, line(5_000, 100, 64, 1, "", ""), line(1_000, 9_000, 128, 1, "", ""));
    assertThat(trace.promptTokens(0)).isEqualTo(128);
    assertThat(trace.seconds(0)).isZero();
    assertThat(trace.seconds(1)).isEqualTo(4);
  }

  @Test
  void prefixesAreShared() throws Exception {
    Trace trace =
        read(
            HEADER,
            line(1_000, 100, 330, 1, "a", blocks(0, 7, 8, 9, 10, 11)),
            line(2_000, 100, 200, 1, "b", blocks(0, 7, 8, 12)),
            line(3_000, 100, 400, 1, "a", blocks(4, 13, 14)),
            line(4_000, 100, 130, 1, "b", blocks(0, 8, 7)));
    assertThat(trace.blockSizeTokens()).isEqualTo(64);
    assertThat(trace.blockNumbers(0)).containsExactly(0, 1, 2, 3, 4);
    assertThat(trace.blockNumbers(1)).containsExactly(0, 1, 5);
    assertThat(trace.blockNumbers(2)).containsExactly(0, 1, 2, 3, 6, 7);
    assertThat(trace.blockNumbers(3)).doesNotContain(0, 1).hasSize(2);
  }

  @Test
  void whatNoEngineAnsweredIsLeftOut() throws Exception {
    Trace trace =
        read(
            HEADER,
            line(1_000, 100, 64, 1, "", "").replace("completed", "rejected"),
            line(2_000, 100, 64, 1, "", "").replace("completed", "error"),
            line(3_000, 100, 64, 1, "", "").replace("\"engine\":\"e\",", ""),
            line(4_000, 100, 64, 1, "", "").replace("\"answer_tokens\":1,", ""),
            line(5_000, 100, 99, 1, "", "").replace("completed", "client_gone"),
            line(6_000, 100, 98, 1, "", "").replace("answer_tokens\":1", "answer_events\":5"));
    assertThat(trace.requests()).isEqualTo(2);
    assertThat(trace.promptTokens(0)).isEqualTo(99);
    assertThat(trace.answerTokens(1)).isEqualTo(5);
  }

  @Test
  void theHalfLineOfAKilledRouterIsLeftOut() throws Exception {
    String line = line(1_000, 100, 64, 1, "s", blocks(0, 1));
    Trace trace = read(HEADER, line, line.substring(0, 100));
    assertThat(trace.requests()).isEqualTo(1);
  }

  @Test
  void errorsNameFileLineAndField() {
    String good = line(1_000, 100, 64, 1, "s", blocks(0, 1));
    String bad = "log.jsonl: line 2: ";
    fails(bad + "'time_ms' is missing", HEADER, good.replace("time_ms", "time"));
    fails(bad + "'prompt_tokens' is", HEADER, good.replace(":64,\"ans", ":\"a\",\"ans"));
    fails(
        bad + "'pieces' is not base64",
        HEADER,
        good.replaceAll("pieces\":\"[^\"]*", "pieces\":\"!"));
    fails(bad + "'keep' is -1", HEADER, good.replace("keep\":0", "keep\":-1"));
    fails(bad + "'keep' is 3 and", HEADER, good.replace("keep\":0", "keep\":3"));
    fails(bad + "no JSON object", HEADER, "nonsense}");
    fails(
        "line 1: format 'warmpath-decisions' version 2, known is",
        HEADER.replace("n\":1", "n\":2"));
    fails("no requests of the format 'decisions'", HEADER);
    fails("log.jsonl: seconds=", HEADER, good, line(9_000_000_000_000_000L, 1, 64, 1, "", ""));
  }

  @Test
  void readsPackedFiles() throws Exception {
    Path file = folder.resolve("log.jsonl.gz");
    try (GZIPOutputStream out = new GZIPOutputStream(Files.newOutputStream(file))) {
      out.write((HEADER + "\n" + line(1_000, 100, 64, 1, "", "")).getBytes(StandardCharsets.UTF_8));
    }
    assertThat(TraceFile.read(file, TraceFormat.DECISIONS, 10).requests()).isEqualTo(1);
    assertThat(LoggedRequest.readAll(file)).hasSize(1);
  }

  @Test
  void numbersOfBlocksAreDenseAndStable() {
    DecisionLines.PieceNumbers numbers = new DecisionLines.PieceNumbers();
    for (int round = 0; round < 2; round++) {
      int before = DecisionLines.PieceNumbers.ROOT;
      for (int i = 0; i < 100_000; i++) {
        before = numbers.of(before, i % 7 == 0 ? 1 : i * 31);
        assertThat(before).isEqualTo(i);
      }
    }
    assertThat(numbers.of(DecisionLines.PieceNumbers.ROOT, 5)).isEqualTo(100_000);
  }

  private void fails(String message, String... lines) {
    assertThatThrownBy(() -> read(lines))
        .isInstanceOf(TraceException.class)
        .hasMessageContaining(message);
  }

  private Trace read(String... lines) throws Exception {
    Path file = folder.resolve("log.jsonl");
    Files.writeString(file, String.join("\n", lines));
    return TraceFile.read(file, TraceFormat.DECISIONS, Integer.MAX_VALUE);
  }

  private static String line(
      long atMillis, long totalMillis, int prompt, int answer, String session, String blocks) {
    return "{\"time_ms\":%d,%s\"engine\":\"e\",\"prompt_tokens\":%d,\"answer_tokens\":%d,\"total_ms\":%d,%s\"outcome\":\"completed\"}"
        .formatted(
            BEGIN + atMillis,
            session.isEmpty() ? "" : "\"session\":\"" + session + "\",",
            prompt,
            answer,
            totalMillis,
            blocks);
  }

  private static String blocks(int keep, int... others) {
    ByteBuffer bytes = ByteBuffer.allocate(4 * others.length);
    bytes.asIntBuffer().put(others);
    String pieces = Base64.getEncoder().withoutPadding().encodeToString(bytes.array());
    return "\"keep\":%d,\"pieces\":\"%s\",".formatted(keep, pieces);
  }
}
