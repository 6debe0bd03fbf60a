package dev.warmpath.lab.chaos;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import dev.warmpath.lab.chaos.ChaosEngine.EngineFault;
import dev.warmpath.lab.chaos.Classifier.ChaosVerdict.Kind;
import dev.warmpath.lab.chaos.Questions.Question;
import java.io.ByteArrayInputStream;
import java.io.InputStream;
import java.io.SequenceInputStream;
import java.net.SocketTimeoutException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ClassifierTest {

  private static final Question STREAMED = new Question("{}", true, "The path.");
  private static final Question WHOLE = new Question("{}", false, "The path.");
  private static final String DONE = "data: [DONE]\n\n";
  private static final String ALL = piece("c7", "The ", null) + piece("c7", "path.", "stop") + DONE;
  private static final String ERROR =
      "{\"error\":{\"message\":\"It broke.\",\"type\":\"upstream_error\",\"code\":\"broken\"}}";
  private static final String ERROR_EVENT = "data: " + ERROR + "\n\n";

  @Test
  void aWholeStreamIsCompleted() {
    assertThat(streamed(chunked(ALL, true))).isEqualTo(Kind.COMPLETED);
    String apart = head("transfer-encoding: chunked") + chunk(ALL.substring(0, 9));
    assertThat(streamed(apart + chunk(ALL.substring(9)) + "0\r\n\r\n")).isEqualTo(Kind.COMPLETED);
  }

  @ParameterizedTest
  @ValueSource(strings = {"stop", "[DONE]", "path.\"}}]}\n\n", "data: [DONE]\n"})
  void aTruncatedStreamThatLooksWholeIsWrong(String cutBehind) {
    String part = ALL.substring(0, ALL.indexOf(cutBehind) + cutBehind.length());
    assertThat(streamed(chunked(part, true))).isEqualTo(Kind.WRONG);
  }

  @Test
  void everyVisibleCutIsAClearError() {
    String whole = chunked(ALL, true);
    int head = whole.indexOf("\r\n\r\n") + 4;
    for (int length = head; length < whole.length(); length++) {
      Kind kind = streamed(whole.substring(0, length));
      assertThat(kind).as("after %d bytes", length).isEqualTo(Kind.CLEAR_ERROR);
    }
    for (int length = 0; length < head - 2; length++) {
      assertThat(streamed(whole.substring(0, length))).isEqualTo(Kind.WRONG);
    }
  }

  @Test
  void anErrorEventIsAClearErrorIfNothingFollows() {
    String broken = piece("c7", "The ", null) + ERROR_EVENT;
    assertThat(streamed(chunked(broken, false))).isEqualTo(Kind.CLEAR_ERROR);
    assertThat(streamed(chunked(broken + DONE, true))).isEqualTo(Kind.WRONG);
    assertThat(streamed(chunked(piece("c7", "A", null) + ERROR_EVENT, false)))
        .isEqualTo(Kind.WRONG);
  }

  @Test
  void bytesOfAnotherRequestAreWrong() {
    String other = piece("c7", "The ", null) + piece("c71", "path.", "stop") + DONE;
    assertThat(streamed(chunked(other, true))).isEqualTo(Kind.WRONG);
    String text = piece("c7", "Another path.", "stop") + DONE;
    assertThat(streamed(chunked(text, true))).isEqualTo(Kind.WRONG);
    assertThat(whole(sized(body("c71", "The path.")))).isEqualTo(Kind.WRONG);
    assertThat(whole(sized(body("c7", "The way.")))).isEqualTo(Kind.WRONG);
  }

  @Test
  void eventsThatRunIntoEachOtherOrPastTheEndAreWrong() {
    String torn = piece("c7", "The ", null).strip() + piece("c7", "path.", "stop") + DONE;
    assertThat(streamed(chunked(torn, true))).isEqualTo(Kind.WRONG);
    assertThat(streamed(chunked(ALL + piece("c7", "", null), true))).isEqualTo(Kind.WRONG);
    assertThat(streamed(chunked(ALL.replace("[DONE]", "[DONE"), true))).isEqualTo(Kind.WRONG);
  }

  @Test
  void aMissingOrRepeatedPieceIsWrong() {
    assertThat(streamed(chunked(piece("c7", "path.", "stop") + DONE, true))).isEqualTo(Kind.WRONG);
    assertThat(streamed(chunked(piece("c7", "The ", null) + ALL, true))).isEqualTo(Kind.WRONG);
  }

  @Test
  void malformedFramingIsWrong() {
    assertThat(streamed("Chaos is no protocol.\r\n\r\n")).isEqualTo(Kind.WRONG);
    assertThat(streamed(head("transfer-encoding: chunked") + "zz\r\n")).isEqualTo(Kind.WRONG);
    assertThat(streamed(head("x: y") + ALL)).isEqualTo(Kind.WRONG);
    String longer = head("transfer-encoding: chunked") + "3\r\n" + ALL;
    assertThat(streamed(longer)).isEqualTo(Kind.WRONG);
  }

  @Test
  void aWholeBodyIsCompletedAndACutOneIsAClearError() {
    String whole = sized(body("c7", "The path."));
    assertThat(whole(whole)).isEqualTo(Kind.COMPLETED);
    assertThat(whole(whole.substring(0, whole.length() - 1))).isEqualTo(Kind.CLEAR_ERROR);
    assertThat(whole(sized("{\"id\":\"chatcmpl-c7-1\"}"))).isEqualTo(Kind.WRONG);
    assertThat(whole(sized(body("c7", "The path.") + "}"))).isEqualTo(Kind.WRONG);
    assertThat(whole(sized(EngineFault.RUBBISH))).isEqualTo(Kind.CLEAR_ERROR);
    assertThat(whole(sized(EngineFault.RUBBISH.substring(1)))).isEqualTo(Kind.WRONG);
  }

  @Test
  void aRefusalSaysWhyAndWhenToComeBack() {
    assertThat(whole(error(503, "retry-after: 1\r\n", ERROR))).isEqualTo(Kind.REFUSED);
    assertThat(whole(error(429, "retry-after: 1\r\n", ERROR))).isEqualTo(Kind.REFUSED);
    assertThat(whole(error(503, "", ERROR))).isEqualTo(Kind.CLEAR_ERROR);
    assertThat(whole(error(502, "retry-after: 1\r\n", ERROR))).isEqualTo(Kind.CLEAR_ERROR);
    assertThat(whole(error(503, "retry-after: 1\r\n", "busy"))).isEqualTo(Kind.WRONG);
    assertThat(whole(error(502, "", "{\"error\":{}}"))).isEqualTo(Kind.WRONG);
  }

  @Test
  void silenceIsHungWhateverCameBefore() {
    InputStream silent =
        new InputStream() {
          @Override
          public int read() throws SocketTimeoutException {
            throw new SocketTimeoutException("Read timed out");
          }
        };
    for (String before : new String[] {"", "HTTP/1.1 200", chunked(ALL, false)}) {
      InputStream in = new SequenceInputStream(bytes(before), silent);
      assertThat(Classifier.judge(STREAMED, "c7", HttpAnswer.read(in)).kind()).isEqualTo(Kind.HUNG);
      in = new SequenceInputStream(bytes(before), silent);
      assertThat(Classifier.judgeHalf(HttpAnswer.read(in)).kind()).isEqualTo(Kind.HUNG);
    }
  }

  @Test
  void halfABodyGetsAnErrorOrTheEndOfItsConnection() {
    assertThat(half(error(408, "", ERROR))).isEqualTo(Kind.CLEAR_ERROR);
    assertThat(half("")).isEqualTo(Kind.CLEAR_ERROR);
    assertThat(half(sized(body("c7", "The path.")))).isEqualTo(Kind.WRONG);
  }

  private static Kind streamed(String seen) {
    return Classifier.judge(STREAMED, "c7", HttpAnswer.read(bytes(seen))).kind();
  }

  private static Kind whole(String seen) {
    return Classifier.judge(WHOLE, "c7", HttpAnswer.read(bytes(seen))).kind();
  }

  private static Kind half(String seen) {
    return Classifier.judgeHalf(HttpAnswer.read(bytes(seen))).kind();
  }

  private static InputStream bytes(String text) {
    return new ByteArrayInputStream(text.getBytes(UTF_8));
  }

  private static String head(String header) {
    return "HTTP/1.1 200 OK\r\n" + header + "\r\n\r\n";
  }

  private static String chunk(String text) {
    return Integer.toHexString(text.length()) + "\r\n" + text + "\r\n";
  }

  private static String chunked(String text, boolean ended) {
    return head("transfer-encoding: chunked") + chunk(text) + (ended ? "0\r\n\r\n" : "");
  }

  private static String sized(String body) {
    return head("content-length: " + body.length()) + body;
  }

  private static String error(int status, String headers, String body) {
    return "HTTP/1.1 %d Error\r\n%scontent-length: %d\r\n\r\n%s"
        .formatted(status, headers, body.length(), body);
  }

  private static String piece(String id, String text, String finish) {
    return "data: {\"id\":\"chatcmpl-%s-1f\",\"choices\":[{\"finish_reason\":%s,\"delta\":{\"content\":\"%s\"}}]}\n\n"
        .formatted(id, finish == null ? null : "\"" + finish + "\"", text);
  }

  private static String body(String id, String text) {
    return "{\"id\":\"chatcmpl-%s-1f\",\"choices\":[{\"finish_reason\":\"stop\",\"message\":{\"content\":\"%s\"}}],\"usage\":{}}"
        .formatted(id, text);
  }
}
