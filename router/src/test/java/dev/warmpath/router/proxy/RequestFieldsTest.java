package dev.warmpath.router.proxy;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.warmpath.router.prompt.RequestFields;
import java.io.IOException;
import java.nio.charset.Charset;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.Set;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class RequestFieldsTest {

  private static final ObjectMapper JSON = new ObjectMapper();

  private static RequestFields of(String body) {
    return RequestFields.of(body.getBytes(UTF_8));
  }

  private static String edited(String body, Set<String> without, Map<String, String> with) {
    return new String(of(body).edited(without, with), UTF_8);
  }

  @Test
  void allElseStaysAsItWasWritten() {
    String body =
        "{ \"a\" : 1.0e2 , \"stream\":true,\n \"t\": \"\\u00e9\\\"x:, {\" , \"l\":[ {\"stream\": 1} ] }";
    assertThat(edited(body, Set.of("stream"), Map.of("n", "1")))
        .isEqualTo("{\"a\" : 1.0e2,\"t\": \"\\u00e9\\\"x:, {\",\"l\":[ {\"stream\": 1} ],\"n\":1}");
  }

  @Test
  void namesAreFoundHoweverTheyAreWritten() {
    assertThat(edited("{\"k\\u0076\":{\"a\":1},\"m\":2}", Set.of("kv"), Map.of()))
        .isEqualTo("{\"m\":2}");
  }

  @Test
  void aFieldGivenTwiceGoesWholly() {
    assertThat(edited("{\"n\":1,\"m\":2,\"n\":[3]}", Set.of(), Map.of("n", "4")))
        .isEqualTo("{\"m\":2,\"n\":4}");
    assertThat(of("{\"n\":1,\"n\":2}").value("n")).isEqualTo("2");
  }

  @Test
  void whatPythonReadsIsReadHereToo() {
    String digits = "1".repeat(2_000);
    String body = "{\"x\":NaN,\"y\":-Infinity,\"n\":" + digits + ",\"kv\":1}";
    assertThat(edited(body, Set.of("kv"), Map.of()))
        .isEqualTo("{\"x\":NaN,\"y\":-Infinity,\"n\":" + digits + "}");
  }

  @Test
  void otherEncodingsAreNotRead() {
    assertThat(RequestFields.of("{\"n\":1}".getBytes(StandardCharsets.UTF_16LE))).isNull();
    assertThat(RequestFields.of("{\"n\":1}".getBytes(StandardCharsets.UTF_16))).isNull();
    assertThat(RequestFields.of("{\"n\":1}".getBytes(Charset.forName("UTF-32BE")))).isNull();
    assertThat(of("\uFEFF{\"n\":1}")).as("a mark of UTF-8").isNotNull();
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "[]", "{", "{\"a\":}", "{} {}", "{\"a\":1}x", "{\"a\":\"", "null"})
  void whatIsNoObjectHasNone(String body) {
    assertThat(of(body)).isNull();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "{}",
        "{\"n\":1}",
        "{\"n\":null,\"prompt\":\"a\"}",
        "{\"prompt\":[\"a\"]}",
        "{\"prompt\":[1,2,3]}",
        "{\"prompt\":[[1,2]],\"best_of\":1,\"use_beam_search\":false}",
        "{\"messages\":[{},{}]}"
      })
  void oneAnswer(String body) {
    assertThat(of(body).isForOneAnswer()).isTrue();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "{\"n\":2}",
        "{\"n\":\"x\"}",
        "{\"prompt\":[\"a\",\"b\"]}",
        "{\"prompt\":[[1],[2]]}",
        "{\"best_of\":3}",
        "{\"use_beam_search\":true}",
        "{\"echo\":true}",
        "{\"prompt_logprobs\":0}"
      })
  void severalAnswers(String body) {
    assertThat(of(body).isForOneAnswer()).isFalse();
  }

  @Provide
  Arbitrary<JsonNode> values() {
    Arbitrary<JsonNode> leaves =
        Arbitraries.oneOf(
            Arbitraries.strings().map(JSON.getNodeFactory()::textNode),
            Arbitraries.doubles().map(JSON.getNodeFactory()::numberNode),
            Arbitraries.just(JSON.getNodeFactory().nullNode()),
            Arbitraries.of(true, false).map(JSON.getNodeFactory()::booleanNode));
    Arbitrary<JsonNode> lists =
        leaves.list().ofMaxSize(3).map(list -> JSON.createArrayNode().addAll(list));
    Arbitrary<JsonNode> objects =
        Arbitraries.maps(Arbitraries.strings().ofMaxLength(3), leaves)
            .ofMaxSize(3)
            .map(map -> JSON.createObjectNode().setAll(map));
    return Arbitraries.oneOf(leaves, lists, objects);
  }

  @Provide
  Arbitrary<Map<String, JsonNode>> bodies() {
    Arbitrary<String> names =
        Arbitraries.oneOf(Arbitraries.strings().ofMaxLength(4), Arbitraries.of("n", "kv", "x"));
    return Arbitraries.maps(names, values()).ofMaxSize(6);
  }

  /** As Jackson's trees do it. */
  @Property(tries = 2_000)
  void editsAsATreeIsEdited(@ForAll("bodies") Map<String, JsonNode> body, @ForAll boolean pretty)
      throws IOException {
    ObjectNode tree = JSON.createObjectNode();
    tree.setAll(body);
    byte[] bytes =
        pretty
            ? JSON.writerWithDefaultPrettyPrinter().writeValueAsBytes(tree)
            : JSON.writeValueAsBytes(tree);
    byte[] edited = RequestFields.of(bytes).edited(Set.of("kv"), Map.of("n", "[7]"));
    tree.remove("kv");
    tree.remove("n");
    tree.putArray("n").add(7);
    assertThat(JSON.readTree(edited)).isEqualTo(JSON.readTree(JSON.writeValueAsBytes(tree)));
  }
}
