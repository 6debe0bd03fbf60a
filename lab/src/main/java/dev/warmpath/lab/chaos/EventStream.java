package dev.warmpath.lab.chaos;

import com.fasterxml.jackson.databind.JsonNode;
import dev.warmpath.lab.chaos.HttpAnswer.End;
import dev.warmpath.lab.chaos.Verdict.Kind;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The events of one streamed answer, compared with the only right text.
 *
 * <p>Confined to one thread; judges once.
 */
final class EventStream {

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

  Verdict judge() {
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

  private Verdict ended(boolean whole) {
    if (!finished || !text.toString().equals(question.answer())) {
      return Classifier.wrong("another text than '" + question.answer() + "'", answer);
    }
    return whole
        ? Verdict.of(Kind.COMPLETED, "")
        : Verdict.of(Kind.CLEAR_ERROR, "cut off behind its last event");
  }

  private Verdict broken(boolean whole) {
    if (!question.answer().startsWith(text.toString())) {
      return Classifier.wrong("no beginning of '" + question.answer() + "'", answer);
    } else if (error != null) {
      return Verdict.of(Kind.CLEAR_ERROR, "error event " + error);
    } else if (whole) {
      return Classifier.wrong("a stream that seems whole without [DONE]", answer);
    }
    return Verdict.of(Kind.CLEAR_ERROR, "a stream that is cut off");
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
