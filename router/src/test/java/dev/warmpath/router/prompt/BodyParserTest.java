package dev.warmpath.router.prompt;

import static java.nio.charset.StandardCharsets.UTF_16LE;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.StreamReadConstraints;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import net.jqwik.api.Example;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import org.junit.jupiter.api.Test;

class BodyParserTest {

  private static final int DEPTH = 12;
  private static final String SYSTEM = message("x".repeat(9_000));
  private static final List<String> VALUES =
      List.of(
          "1",
          "12",
          "123",
          "-0.5e3",
          "null",
          "true",
          "\"\"",
          "\"a\\n\\u00e9\\ud83d\\ude00\"",
          "\"\u00e9\u4e2d\ud83d\ude00\"",
          "[]",
          "{}",
          "[1,2,[3]]",
          "{\"messages\":[1,{}]}",
          "{\"a\":1,\"a\":2,\"b\":{\"a\":null}}",
          "{\"role\":\"user\",\"content\":\"hi\"}",
          "{ \"role\" : \"tool\" , \"content\" : [ \"]}\" ] }",
          "[[[[[[[[[[[[[1]]]]]]]]]]]]]");
  private static final List<String> BROKEN =
      List.of("", "nul", "\"a", "{\"a\"}", "01", "'a'", "]", "}", ",", "\"\t\"", "NaN");
  private static final List<String> FIELDS =
      List.of("model", "messages", "input", "tools", "a", "m\\u0065ssages", "");

  private final BodyParser parser = new BodyParser(DEPTH, 1 << 20);
  private final ObjectMapper plain =
      new ObjectMapper(
          JsonFactory.builder()
              .streamReadConstraints(
                  StreamReadConstraints.builder()
                      .maxNestingDepth(DEPTH)
                      .maxStringLength(Integer.MAX_VALUE)
                      .build())
              .build());

  @Property(tries = 400)
  void parsesLikeJacksonWhateverWasParsedBefore(@ForAll long seed) {
    Random random = new Random(seed);
    String body = body(random);
    for (int i = 0; i < 12; i++) {
      assertSame(body.getBytes(UTF_8));
      body = random.nextInt(4) == 0 ? body(random) : changed(body, random);
    }
  }

  /** A body that ends in the middle of a value, whose failure was once worded otherwise. */
  @Example
  void failsLikeJacksonAtTheEndOfWhatWasCutShort() {
    parsesLikeJacksonWhereverABodyChanges(6473021);
  }

  @Property(tries = 100)
  void parsesLikeJacksonWhereverABodyChanges(@ForAll long seed) {
    Random random = new Random(seed);
    byte[] body = body(random).getBytes(UTF_8);
    for (int i = 0; i < 12; i++) {
      assertSame(body);
      body = random.nextBoolean() ? body.clone() : Arrays.copyOf(body, body.length - 1);
      int tail = Math.min(body.length, 1 + random.nextInt(200));
      body[body.length - tail] = (byte) "]}[{,:\"0 \\a\u0000".charAt(random.nextInt(12));
    }
  }

  @Test
  void takesOverMessagesThatAreKnown() throws IOException {
    String turn = "{\"model\":\"m\",\"messages\":[" + SYSTEM + "," + message("a");
    JsonNode first = parser.parse((turn + "]}").getBytes(UTF_8));
    JsonNode second = parser.parse((turn + "," + message("b") + "],\"n\":1}").getBytes(UTF_8));
    assertThat(second.path("messages").get(0)).isSameAs(first.path("messages").get(0));
    assertThat(second.path("messages")).hasSize(3);
    assertThat(second.path("n").intValue()).isEqualTo(1);
    assertThat(first.path("messages")).hasSize(2);
    assertThat(parser.counts().knownBytes()).isGreaterThan(9_000);
  }

  @Test
  void resultsCanBeChangedAlone() throws IOException {
    byte[] body = ("{\"a\":1,\"messages\":[" + SYSTEM + ",2,3]}").getBytes(UTF_8);
    ObjectNode first = (ObjectNode) parser.parse(body);
    first.put("a", 7).withArray("messages").removeAll();
    assertSame(body);
  }

  @Test
  void aCommaIsNotSharedWithoutWhatFollows() throws IOException {
    String turn = "{\"messages\":[" + SYSTEM + ",1";
    for (String end : List.of("]}", ",2]}", ",]}", "2]}", "2,3]}", "  ,3]}", "", "]", "}", ",")) {
      assertSame((turn + end).getBytes(UTF_8));
    }
  }

  @Test
  void theLastOfTwoListsCounts() {
    String first = "{\"messages\":[" + SYSTEM + ",1,2,3]";
    assertSame((first + "}").getBytes(UTF_8));
    assertSame((first + ",\"messages\":[4],\"input\":[5]}").getBytes(UTF_8));
    assertSame((first + ",\"messages\":[4],\"input\":[5,6]}").getBytes(UTF_8));
    assertSame((first + ",\"messages\":null}").getBytes(UTF_8));
  }

  /** Of a key's models, the tree alone would show the last. */
  @Test
  void allModelsOfABodyThatGoesOnAreNamed() {
    String turn =
        "{\"model\":\"a\",\"lora_id\":[\"l\"],\"model\":\"b\",\"messages\":[" + SYSTEM + ",1";
    for (String end : List.of("]}", ",2]}", ",2],\"model\":\"c\"}", ",2],\"lora_path\":null}")) {
      assertSame((turn + end).getBytes(UTF_8));
    }
    assertThat(parser.counts().knownBytes()).isGreaterThan(9_000);
  }

  @Test
  void otherEncodingsAreParsedWhole() {
    byte[] body = ("{\"messages\":[" + SYSTEM + ",1,2]}").getBytes(UTF_16LE);
    assertSame(body);
    assertSame(body);
    assertThat(parser.counts().bytes()).isZero();
  }

  @Test
  void forgetsWhatWasUsedLongestAgo() throws IOException {
    for (int i = 0; i < 200; i++) {
      String chat = "{\"messages\":[" + message(i + "y".repeat(9_000)) + ",1,2";
      assertSame((chat + "]}").getBytes(UTF_8));
      assertSame((chat + ",3]}").getBytes(UTF_8));
      assertThat(parser.counts().bytes()).isBetween(9_000L, parser.counts().maxBytes());
    }
    assertThat(parser.counts().evictions()).isBetween(100L, 199L);
  }

  @Test
  void aTurnTakesThePlaceOfTheOneBefore() throws IOException {
    StringBuilder chat = new StringBuilder("{\"messages\":[" + SYSTEM);
    for (int i = 0; i < 300; i++) {
      chat.append(',').append(message("turn " + i));
      parser.parse((chat + "]}").getBytes(UTF_8));
    }
    assertThat(parser.counts().evictions()).isZero();
    assertThat(parser.counts().bytes()).isLessThan(400_000);
  }

  private void assertSame(byte[] body) {
    String expected;
    try {
      JsonNode node = plain.readTree(body);
      expected = node.getNodeType() + " " + node;
    } catch (IOException e) {
      expected = e.getClass() + " " + e.getMessage();
    }
    String given;
    try (TreeRoom.Share share = new TreeRoom(Long.MAX_VALUE).share()) {
      NamedModels models = new NamedModels();
      JsonNode node = parser.parse(body, share, models);
      given = node.getNodeType() + " " + node;
      assertThat(models.names()).as("models").isEqualTo(BodyFields.of(body).models());
    } catch (IOException e) {
      given = e.getClass() + " " + e.getMessage();
    }
    assertThat(given).isEqualTo(expected);
  }

  private static String message(String text) {
    return "{\"role\":\"user\",\"content\":\"" + text + "\"}";
  }

  private static String body(Random random) {
    StringBuilder body = new StringBuilder("{");
    fields(body, random);
    body.append("\"messages\":[").append(SYSTEM);
    values(body, random);
    body.append(']');
    if (random.nextBoolean()) {
      body.append(",");
      fields(body, random);
      body.append("\"last\":").append(value(random));
    }
    return body.append('}').append(random.nextInt(3) == 0 ? " x" : "").toString();
  }

  private static void fields(StringBuilder body, Random random) {
    for (int i = random.nextInt(3); i > 0; i--) {
      String name = FIELDS.get(random.nextInt(FIELDS.size()));
      body.append('"').append(name).append("\":").append(value(random)).append(", ");
    }
  }

  private static void values(StringBuilder body, Random random) {
    for (int i = random.nextInt(6); i > 0; i--) {
      body.append(random.nextBoolean() ? "," : " ,\n ").append(value(random));
    }
  }

  private static String value(Random random) {
    List<String> from = random.nextInt(40) == 0 ? BROKEN : VALUES;
    return from.get(random.nextInt(from.size()));
  }

  /** The same with another end of its messages, or with something else where it ended. */
  private static String changed(String body, Random random) {
    int at = body.length() - Math.min(body.length() / 2, random.nextInt(120));
    int close = body.indexOf("]", body.indexOf("xxx"));
    if (random.nextBoolean() && close > 0) {
      at = close;
    }
    StringBuilder changed = new StringBuilder(body.substring(0, at));
    values(changed, random);
    return changed.append(random.nextBoolean() ? body.substring(at) : "]}").toString();
  }
}
