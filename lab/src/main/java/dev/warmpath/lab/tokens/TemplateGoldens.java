package dev.warmpath.lab.tokens;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.warmpath.tokenizer.template.ChatTemplate;
import dev.warmpath.tokenizer.template.syntax.TemplateException;
import dev.warmpath.tokenizer.template.syntax.TemplateLimits;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.zip.GZIPInputStream;

/**
 * Renders a folder of goldens (templates, conversations, and what real Jinja2 made of each pair)
 * and counts how often the answer is the same. The clock stands at the goldens' own time.
 *
 * <p>Confined to its thread.
 */
final class TemplateGoldens {
  private static final Clock CLOCK =
      Clock.fixed(Instant.parse("2026-01-15T12:34:56Z"), ZoneOffset.UTC);

  private final ObjectMapper json = new ObjectMapper();
  private final Map<String, ChatTemplate> templates = new HashMap<>();
  private final List<String> differences = new ArrayList<>();
  private int exact;
  private int wrong;
  private int inexact;

  private TemplateGoldens() {}

  /**
   * What came out.
   *
   * @param exact the same text, or failure where Jinja2 fails
   * @param wrong other text, or text instead of failure, or failure as if Jinja2 failed
   * @param inexact not rendered, without claiming that Jinja2 would fail
   * @param differences the cases that are not exact, without their text
   */
  record Result(int total, int exact, int wrong, int inexact, List<String> differences) {
    Result {
      differences = List.copyOf(differences);
    }
  }

  /** Runs the goldens in a folder of {@code templates}, {@code conversations}, {@code goldens}. */
  static Result run(Path folder) throws IOException {
    return new TemplateGoldens().runAll(folder);
  }

  private Result runAll(Path folder) throws IOException {
    JsonNode sources = read(folder.resolve("templates.json.gz"));
    JsonNode conversations = read(folder.resolve("conversations.json.gz"));
    JsonNode goldens = read(folder.resolve("goldens.json.gz"));
    for (JsonNode golden : goldens) {
      String template = golden.path("template").asText();
      String conversation = golden.path("conversation").asText();
      String source = sources.path(template).path("template").asText();
      check(golden, template, source, variables(conversations.path(conversation)));
    }
    return new Result(goldens.size(), exact, wrong, inexact, differences);
  }

  private JsonNode read(Path file) throws IOException {
    try (InputStream in = new GZIPInputStream(Files.newInputStream(file))) {
      return json.readTree(in);
    }
  }

  @SuppressWarnings("unchecked")
  private Map<String, Object> variables(JsonNode conversation) {
    return json.convertValue(conversation, Map.class);
  }

  private void check(
      JsonNode golden, String template, String source, Map<String, Object> variables) {
    boolean ok = golden.path("ok").asBoolean();
    String name = template + " × " + golden.path("conversation").asText();
    try {
      ChatTemplate parsed =
          templates.computeIfAbsent(
              template, t -> ChatTemplate.parse(source, CLOCK, TemplateLimits.DEFAULT));
      String text = parsed.render(variables);
      count(ok && text.equals(golden.path("output").asText()), name + ": other text");
    } catch (TemplateException e) {
      failed(e, ok, name);
    }
  }

  private void failed(TemplateException e, boolean ok, String name) {
    boolean claims =
        e.kind() == TemplateException.Kind.RAISED || e.kind() == TemplateException.Kind.SYNTAX;
    if (claims) {
      count(!ok, name + ": " + e.getMessage());
    } else {
      inexact++;
      differences.add(name + ": inexact: " + e.getMessage());
    }
  }

  private void count(boolean same, String difference) {
    if (same) {
      exact++;
    } else {
      wrong++;
      differences.add(difference);
    }
  }
}
