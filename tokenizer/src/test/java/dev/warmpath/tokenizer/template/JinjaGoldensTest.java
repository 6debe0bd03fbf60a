package dev.warmpath.tokenizer.template;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.warmpath.tokenizer.template.syntax.TemplateException;
import dev.warmpath.tokenizer.template.syntax.TemplateException.Kind;
import dev.warmpath.tokenizer.template.syntax.TemplateLimits;
import java.io.IOException;
import java.net.URISyntaxException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;

/**
 * Chat templates of this project, which use together what 69 models' own templates use, with each
 * conversation: the answers are those of Jinja2 3.1 under CPython ({@code
 * src/test/python/render_goldens.py} asks it again), with the clock at 2026-01-15 12:34:56.
 */
class JinjaGoldensTest {
  private static final Clock CLOCK =
      Clock.fixed(Instant.parse("2026-01-15T12:34:56Z"), ZoneOffset.UTC);
  private static final String SUFFIX = ".jinja";
  private static final ObjectMapper JSON = new ObjectMapper();

  private final Path folder = folder();
  private final Map<String, String> templates = templates();
  private final JsonNode conversations = read("conversations.json");
  private final JsonNode goldens = read("goldens.json");

  @TestFactory
  Stream<DynamicTest> answersAreJinjas() {
    return templates.keySet().stream()
        .flatMap(template ->
            conversations.properties().stream()
                .map(conversation -> template + " " + conversation.getKey()))
        .map(pair -> DynamicTest.dynamicTest(pair, () -> check(pair)));
  }

  /** The list was made of models' templates, by {@link Constructs}. */
  @Test
  void everyConstructOfModelsTemplatesIsUsed() throws IOException {
    List<String> ofModels = Files.readAllLines(folder.resolve("constructs.txt"));
    assertThat(ofModels).hasSizeGreaterThan(150);
    Set<String> used = Constructs.of(templates.values());
    assertThat(ofModels).filteredOn(construct -> !used.contains(construct)).isEmpty();
  }

  @Test
  void nothingIsLeftOverInTheGoldens() {
    List<String> pairs = new ArrayList<>();
    answersAreJinjas().forEach(test -> pairs.add(test.getDisplayName()));
    assertThat(goldens.fieldNames()).toIterable().containsExactlyInAnyOrderElementsOf(pairs);
  }

  private void check(String pair) {
    String template = pair.substring(0, pair.indexOf(' '));
    String conversation = pair.substring(pair.indexOf(' ') + 1);
    JsonNode golden = goldens.required(pair);
    assertThat(outcome(template, conversation))
        .isEqualTo(golden.isNull() ? "fails" : "gives " + golden.textValue());
  }

  @SuppressWarnings("unchecked")
  private String outcome(String template, String conversation) {
    Map<String, Object> variables = JSON.convertValue(conversations.get(conversation), Map.class);
    String source = Objects.requireNonNull(templates.get(template));
    try {
      return "gives " + ChatTemplate.parse(source, CLOCK, TemplateLimits.DEFAULT).render(variables);
    } catch (TemplateException e) {
      return e.kind() == Kind.RAISED ? "fails" : e.kind() + ": " + e.getMessage();
    }
  }

  private static Path folder() {
    try {
      return Path.of(Objects.requireNonNull(JinjaGoldensTest.class.getResource("goldens")).toURI());
    } catch (URISyntaxException e) {
      throw new IllegalStateException(e);
    }
  }

  private Map<String, String> templates() {
    Map<String, String> sources = new TreeMap<>();
    try (Stream<Path> files = Files.list(folder.resolve("templates"))) {
      for (Path file : (Iterable<Path>) files::iterator) {
        String name = String.valueOf(file.getFileName());
        sources.put(name.substring(0, name.length() - SUFFIX.length()), Files.readString(file));
      }
    } catch (IOException e) {
      throw new IllegalStateException(e);
    }
    return sources;
  }

  private JsonNode read(String file) {
    try {
      return JSON.readTree(Files.readString(folder.resolve(file)));
    } catch (IOException e) {
      throw new IllegalStateException(e);
    }
  }
}
