package dev.warmpath.router.logs;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonGenerator;
import dev.warmpath.router.logs.RequestLog.Waiting;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.time.Instant;

/**
 * Writes a request as a line of the access log. What is not known is left out.
 *
 * <p>Confined to the log's thread.
 */
final class AccessLine implements LineFormat {

  private static final JsonFactory JSON = new JsonFactory();
  private static final byte[] NOTHING = {};

  @Override
  public byte[] header(long nowMillis) {
    return NOTHING;
  }

  @Override
  public byte[] of(Waiting waiting) throws IOException {
    Decision decision = waiting.decision();
    ByteArrayOutputStream line = new ByteArrayOutputStream(512);
    try (JsonGenerator json = JSON.createGenerator(line)) {
      json.writeStartObject();
      json.writeStringField("time", Instant.ofEpochMilli(waiting.arrivedMillis()).toString());
      json.writeStringField("id", decision.request().id());
      json.writeStringField("method", decision.request().method());
      json.writeStringField("path", decision.request().path());
      DecisionLine.text(json, "client", decision.request().client());
      DecisionLine.text(json, "model", decision.request().model());
      if (decision.choice() != null) {
        DecisionLine.engine(json, decision.choice());
      }
      DecisionLine.tokens(json, decision.tokens());
      DecisionLine.times(json, decision.times());
      DecisionLine.result(json, decision.result());
      json.writeEndObject();
    }
    line.write('\n');
    return line.toByteArray();
  }
}
