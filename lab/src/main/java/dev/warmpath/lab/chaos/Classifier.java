package dev.warmpath.lab.chaos;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.warmpath.lab.chaos.ChaosEngine.EngineFault;
import dev.warmpath.lab.chaos.Classifier.ChaosVerdict.Kind;
import dev.warmpath.lab.chaos.HttpAnswer.End;
import dev.warmpath.lab.chaos.Questions.Question;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Compares an answer with the only right one. A pure function of what was seen on the socket. */
final class Classifier {

  static final ObjectMapper JSON =
      new ObjectMapper().enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS);

  private Classifier() {}

  /**
   * Judges a whole request's answer.
   *
   * @param requestId sent as {@code x-request-id}; engines make it part of their answers' ids
   */
  static ChaosVerdict judge(Question question, String requestId, HttpAnswer answer) {
    if (answer.end() == End.SILENT) {
      return ChaosVerdict.of(Kind.HUNG, "nothing came after " + shown(answer));
    } else if (answer.end() == End.MALFORMED) {
      return wrong("malformed: " + answer.detail(), answer);
    } else if (answer.status() == 0) {
      return wrong("closed without an answer", answer);
    } else if (answer.status() != 200) {
      return error(answer);
    } else if (EngineFault.RUBBISH.equals(answer.body())) {
      return ChaosVerdict.of(Kind.CLEAR_ERROR, "not JSON, as the engine sent it");
    } else if (question.streamed()) {
      return new EventStream(question, requestId, answer).judge();
    }
    return whole(question, requestId, answer);
  }

  /** Judges the answer to half a body: an error, or the end of the connection. */
  static ChaosVerdict judgeHalf(HttpAnswer answer) {
    if (answer.end() == End.SILENT) {
      return ChaosVerdict.of(Kind.HUNG, "half a body still waits");
    } else if (answer.status() == 0 && answer.end() == End.CUT) {
      return ChaosVerdict.of(Kind.CLEAR_ERROR, "half a body, closed");
    } else if (answer.status() == 200 || answer.end() == End.MALFORMED) {
      return wrong("half a body", answer);
    }
    return error(answer);
  }

  static ChaosVerdict wrong(String why, HttpAnswer answer) {
    return ChaosVerdict.of(Kind.WRONG, why + ": " + shown(answer));
  }

  /** The JSON of a text, or a missing node. */
  static JsonNode json(String text) {
    try {
      return JSON.readTree(text);
    } catch (JsonProcessingException e) {
      return JSON.missingNode();
    }
  }

  static boolean isError(JsonNode body) {
    JsonNode error = body.path("error");
    return !error.path("message").asText("").isBlank() && !error.path("type").asText("").isBlank();
  }

  private static ChaosVerdict error(HttpAnswer answer) {
    String status = "status " + answer.status();
    if (answer.end() == End.CUT) {
      return ChaosVerdict.of(Kind.CLEAR_ERROR, status + ", cut off");
    }
    JsonNode body = json(answer.body());
    if (!isError(body)) {
      return wrong("an error without OpenAI's JSON", answer);
    }
    boolean asksToWait = answer.header("retry-after").matches("\\d+");
    boolean busy = answer.status() == 429 || answer.status() == 503;
    String reason = status + " " + body.path("error").path("code").asText("");
    return ChaosVerdict.of(busy && asksToWait ? Kind.REFUSED : Kind.CLEAR_ERROR, reason);
  }

  private static ChaosVerdict whole(Question question, String requestId, HttpAnswer answer) {
    if (answer.end() == End.CUT) {
      return ChaosVerdict.of(Kind.CLEAR_ERROR, "a body that is cut off");
    }
    JsonNode body = json(answer.body());
    JsonNode choice = body.path("choices").path(0);
    if (!body.path("id").asText("").contains("-" + requestId + "-")) {
      return wrong("the answer to another request", answer);
    } else if (!choice.path("message").path("content").asText("").equals(question.answer())) {
      return wrong("another text than '" + question.answer() + "'", answer);
    } else if (!choice.path("finish_reason").isTextual() || !body.path("usage").isObject()) {
      return wrong("no end", answer);
    }
    return ChaosVerdict.of(Kind.COMPLETED, "");
  }

  private static String shown(HttpAnswer answer) {
    String body = answer.body();
    String end = body.length() <= 600 ? body : "… " + body.substring(body.length() - 600);
    return "status %d, %d characters, %s %s, %s: %s"
        .formatted(
            answer.status(),
            body.length(),
            answer.end(),
            answer.detail(),
            answer.headers(),
            end.replace("\n", "\\n"));
  }

  /**
   * The events of one streamed answer, compared with the only right text.
   *
   * <p>Confined to one thread; judges once.
   */
  static final class EventStream {

    private static final String PREFIX = "data: ";
    private static final String SEPARATOR = "\n\n";

    private final Question question;
    private final String requestId;
    private final HttpAnswer answer;
    private final StringBuilder text = new StringBuilder();
    private boolean finished;
    private boolean done;
    private @Nullable String error;

    EventStream(Question question, String requestId, HttpAnswer answer) {
      this.question = question;
      this.requestId = requestId;
      this.answer = answer;
    }

    ChaosVerdict judge() {
      List<String> events = List.of(answer.body().split(SEPARATOR, -1));
      for (String event : events.subList(0, events.size() - 1)) {
        String problem = take(event);
        if (problem != null) {
          return Classifier.wrong(problem, answer);
        }
      }
      boolean whole = answer.end() == End.WHOLE;
      if (whole && !events.get(events.size() - 1).isEmpty()) {
        return Classifier.wrong("a stream that ends within an event", answer);
      }
      return done ? ended(whole) : broken(whole);
    }

    private ChaosVerdict ended(boolean whole) {
      if (!finished || !text.toString().equals(question.answer())) {
        return Classifier.wrong("another text than '" + question.answer() + "'", answer);
      }
      return whole
          ? ChaosVerdict.of(Kind.COMPLETED, "")
          : ChaosVerdict.of(Kind.CLEAR_ERROR, "cut off behind its last event");
    }

    private ChaosVerdict broken(boolean whole) {
      if (!question.answer().startsWith(text.toString())) {
        return Classifier.wrong("no beginning of '" + question.answer() + "'", answer);
      } else if (error != null) {
        return ChaosVerdict.of(Kind.CLEAR_ERROR, "error event " + error);
      } else if (whole) {
        return Classifier.wrong("a stream that seems whole without [DONE]", answer);
      }
      return ChaosVerdict.of(Kind.CLEAR_ERROR, "a stream that is cut off");
    }

    /** Takes the next event; what is wrong with it, or null. */
    private @Nullable String take(String event) {
      if (done || error != null) {
        return "an event behind the last";
      } else if (!event.startsWith(PREFIX)) {
        return "no event: '" + event + "'";
      } else if (event.equals(PREFIX + "[DONE]")) {
        done = true;
        return null;
      }
      JsonNode data = Classifier.json(event.substring(PREFIX.length()));
      if (Classifier.isError(data)) {
        error = data.path("error").path("code").asText("");
        return null;
      } else if (!data.path("id").asText("").contains("-" + requestId + "-")) {
        return "an event of another request: '" + event + "'";
      }
      JsonNode choice = data.path("choices").path(0);
      text.append(choice.path("delta").path("content").asText(""));
      finished |= choice.path("finish_reason").isTextual();
      return null;
    }
  }

  /**
   * What became of one request.
   *
   * @param detail for people: what was seen
   * @param replica the one that the answer names; empty if it names none
   * @param firstByteMillis from the first byte sent to the first received; negative if none came
   */
  record ChaosVerdict(Kind kind, String detail, String replica, double firstByteMillis) {

    /** The classes of outcomes. */
    enum Kind {
      /** The whole right answer. */
      COMPLETED,
      /** 429 or 503, with Retry-After and an error that gives a reason. */
      REFUSED,
      /** Another error, or a response that is visibly cut off. */
      CLEAR_ERROR,
      /** The client left, as it meant to. */
      LEFT,
      /** Nothing came, and nothing ended, for longer than all time limits together. */
      HUNG,
      /** Anything else. */
      WRONG
    }

    static ChaosVerdict of(Kind kind, String detail) {
      return new ChaosVerdict(kind, detail, "", -1);
    }

    ChaosVerdict with(String replica, double firstByteMillis) {
      return new ChaosVerdict(kind, detail, replica, firstByteMillis);
    }
  }
}
