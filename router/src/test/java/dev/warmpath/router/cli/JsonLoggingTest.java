package dev.warmpath.router.cli;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.LoggerContext;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.classic.spi.LoggingEvent;
import ch.qos.logback.core.OutputStreamAppender;
import ch.qos.logback.core.encoder.Encoder;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import org.junit.jupiter.api.Test;
import org.slf4j.LoggerFactory;

class JsonLoggingTest {

  @Test
  void linesAreObjects() throws Exception {
    LoggerContext context = (LoggerContext) LoggerFactory.getILoggerFactory();
    OutputStreamAppender<ILoggingEvent> appender =
        (OutputStreamAppender<ILoggingEvent>)
            context.getLogger(Logger.ROOT_LOGGER_NAME).iteratorForAppenders().next();
    Encoder<ILoggingEvent> text = appender.getEncoder();
    try {
      ServeCommand.JsonLogging.enable();
      Logger logger = context.getLogger("dev.warmpath.X");
      IllegalStateException bug = new IllegalStateException("b\"ug");
      LoggingEvent event =
          new LoggingEvent("X", logger, Level.WARN, "n={} \n", bug, new Object[] {3});
      String line = new String(appender.getEncoder().encode(event), UTF_8);
      assertThat(line.indexOf('\n')).as("one line").isEqualTo(line.length() - 1);
      JsonNode json = new ObjectMapper().readTree(line);
      assertThat(json.path("level").asText()).isEqualTo("WARN");
      assertThat(json.path("loggerName").asText()).isEqualTo("dev.warmpath.X");
      assertThat(json.path("formattedMessage").asText()).isEqualTo("n=3 \n");
      assertThat(json.path("throwable").path("message").asText()).isEqualTo("b\"ug");
      assertThat(json.path("timestamp").isNumber()).isTrue();
    } finally {
      appender.setEncoder(text);
    }
  }
}
