package dev.warmpath.tokenizer.template;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.warmpath.tokenizer.template.syntax.TemplateException;
import dev.warmpath.tokenizer.template.syntax.TemplateException.Kind;
import dev.warmpath.tokenizer.template.syntax.TemplateLimits;
import java.io.IOException;
import java.io.InputStream;
import java.time.Clock;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.Map;
import java.util.Objects;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;

/**
 * One small template per construct; what each gives was taken from Jinja2 3.1 under CPython, set up
 * as for chat templates, with the clock at 2026-01-15 12:34:56.
 */
class JinjaCasesTest {
  private static final Clock CLOCK =
      Clock.fixed(Instant.parse("2026-01-15T12:34:56Z"), ZoneOffset.UTC);

  @TestFactory
  Stream<DynamicTest> constructs() throws IOException {
    return cases("jinja-cases.json");
  }

  /** Names that are set and read in scopes within each other, put together at random. */
  @TestFactory
  Stream<DynamicTest> scopes() throws IOException {
    return cases("jinja-scopes.json");
  }

  private static Stream<DynamicTest> cases(String name) throws IOException {
    JsonNode file = file(name);
    @SuppressWarnings("unchecked")
    Map<String, Object> variables =
        new ObjectMapper().convertValue(file.get("variables"), Map.class);
    return Stream.iterate(0, i -> i < file.get("cases").size(), i -> i + 1)
        .map(i -> file.get("cases").get(i))
        .map(c -> DynamicTest.dynamicTest(c.get("template").asText(), () -> check(c, variables)));
  }

  private static JsonNode file(String name) throws IOException {
    try (InputStream in = JinjaCasesTest.class.getResourceAsStream(name)) {
      return new ObjectMapper().readTree(Objects.requireNonNull(in));
    }
  }

  private static void check(JsonNode expected, Map<String, Object> variables) {
    assertThat(outcome(expected.get("template").asText(), variables)).isEqualTo(wanted(expected));
  }

  private static String wanted(JsonNode expected) {
    if (expected.has("output")) {
      return "gives " + expected.get("output").asText();
    }
    return expected.has("fails") ? "fails" : "refused";
  }

  private static String outcome(String template, Map<String, Object> variables) {
    try {
      ChatTemplate parsed = ChatTemplate.parse(template, CLOCK, TemplateLimits.DEFAULT);
      return "gives " + parsed.render(variables);
    } catch (TemplateException e) {
      assertThat(e.kind()).isNotEqualTo(Kind.LIMIT);
      return e.kind() == Kind.UNSUPPORTED ? "refused" : "fails";
    }
  }
}
