package dev.warmpath.router.prompt;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class BodyFieldsTest {

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '~',
      textBlock =
          """
          {"model":"m","user":"u","x":{"model":"no"}}     | {"model":"m","user":"u"}
          {"model":"a","model":"b"}                       | {"model":"b"}
          {"model":"a","model":null}                      | {}
          {"stream":true,"n":2}                           | {"stream":true}
          {"\\u0075ser":"x","session_id":["s"]}          | {"user":"x","session_id":[]}
          {"top_p":NaN,"user":"u"}                        | {"user":"u"}
          """)
  void keepsWhatNamesSomething(String body, String fields) throws Exception {
    assertThat(of(body).fields()).isEqualTo(new ObjectMapper().readTree(fields));
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '~',
      textBlock =
          """
          {"x":1}                                                  | ~~
          {"model":"a","model":"b","x":{"model":"c"}}              | a,b
          {"model":null,"model":"b"}                               | b
          {"model":["a",{"b":[1]}],"x":1}                          | ,a
          {"model":{"a":["b"]},"user":"u"}                         | ~,~
          {"lora_path":"l","model":"a"}                            | a,a:l
          {"lora_path":[null,"l",["k"],{"x":["y"]}],"model":"a"}   | a,a:l,a:k,a:
          {"lora_path":null,"model":"a"}                           | a
          {"lora_id":1,"model":"a"}                                | a,a:
          """)
  void allModelsThatItNamesAreFound(String body, String models) {
    assertThat(String.join(",", of(body).models())).isEqualTo(models.equals(",") ? "" : models);
  }

  @Test
  void namesAreBounded() {
    StringBuilder body = new StringBuilder("{");
    for (int i = 0; i < 5_000; i++) {
      body.append("\"model\":\"").append(i).append("\",\"lora_path\":\"").append(i).append("\",");
    }
    assertThat(of(body.append("\"x\":1}").toString()).models()).hasSizeLessThan(2_000).contains("");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {"", "7", "[{\"model\":\"m\"}]", "{\"model\":\"m\"", "{\"model\":\"m\",\"x\":[1"})
  void whatIsNoObjectSaysNothing(String body) {
    assertThat(of(body).fields()).isEmpty();
    assertThat(of(body).estimatedTokens()).isZero();
  }

  @Test
  void theDeepestThatAnEngineReadsIsRead() {
    String deep = "[".repeat(900) + "]".repeat(900);
    assertThat(of("{\"x\":" + deep + ",\"model\":\"m\"}").fields().path("model").asText())
        .isEqualTo("m");
  }

  @Test
  void estimatesFromTextAndNumbers() {
    String text = "x".repeat(4_000);
    assertThat(of("{\"prompt\":\"" + text + "\"}").estimatedTokens()).isEqualTo(1_000);
    assertThat(of("{\"prompt\":[1,2,3,4,5]}").estimatedTokens()).isEqualTo(5);
    String chat = "{\"messages\":[{\"role\":\"user\",\"content\":\"" + text + "\"}]}";
    assertThat(of(chat).estimatedTokens()).isBetween(1_000, 1_010);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "{}",
        "{\"model\":\"mmmmmmmmmmmm\",\"n\":7,\"lora_path\":[\"aaaaaaaa\"]}",
        "{\"prompt\":\"xxxxxxxxxxxxxxxxxx\"}",
        "{\"prompt\":[1,2.5,[3,null,true]],\"user\":\"uuuuuuuuuuuuu\"}",
        "{\"messages\":[{\"content\":\"\u00e9\u4e2d\ud83d\ude00aaa\"},{\"url\":\"data:aaaaaaaaaaaaaa\"}]}"
      })
  void whatWasParsedIsEstimatedAlike(String body) throws Exception {
    ObjectNode tree = (ObjectNode) new ObjectMapper().readTree(body);
    int most = of(body).estimatedTokens();
    assertThat(BodyFields.estimatedTokens(tree)).isBetween(most - 1, most);
  }

  @Test
  void anImageWrittenOutIsNoText() {
    String image = "{\"url\":\"data:image/png;base64," + "A".repeat(1 << 20) + "\"}";
    String chat =
        "{\"messages\":[{\"content\":[{\"image_url\":" + image + "},{\"text\":\"what?\"}]}]}";
    assertThat(of(chat).estimatedTokens()).isLessThan(20);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '~',
      textBlock =
          """
          {"messages":[{"content":[{"type":"image_url","image_url":{"url":"data:a"}}]}]}    | true
          {"messages":[{"content":[{"image_url":"https://a"}]}]}                            | true
          {"messages":[{"content":[{"type":"image_url","uuid":"u"}]}]}                      | true
          {"messages":[{"content":[{"type":"image","source":{"type":"url","url":"u"}}]}]}   | true
          {"messages":[{"content":[{"type":"video_url","video_url":{"url":"https://a"}}]}]} | true
          {"input":[{"content":[{"type":"input_image","image_url":"data:a"}]}]}             | true
          {"input":[{"type":"x","output":[{"type":"input_image","image_url":"data:a"}]}]}   | true
          {"messages":[{"content":"\\"image_url\\":1,\\"type\\":\\"image\\""}]}             | false
          {"messages":[{"content":[{"type":"text","text":"image"}]}]}                       | false
          {"messages":[],"tools":[{"properties":{"image_url":{"type":"image"}}}]}           | false
          {"input":"image_url","prompt":[{"image_url":1}]}                                  | false
          {"messages":[{"content":[{"type":"imag"}]}],"x":[1]}                              | false
          {"messages":[{"content":[{"type":"\\u0069mage","source":{}}]}]}                   | true
          {"messages":[{"content":[{"type":"i\\u006dage","source":{}}]}]}                   | true
          """)
  void imagesAreSeenWhereTheyStand(String body, boolean hasImages) throws Exception {
    assertThat(of(body).hasImages()).isEqualTo(hasImages);
    assertThat(BodyFields.hasImages((ObjectNode) new ObjectMapper().readTree(body)))
        .isEqualTo(hasImages);
  }

  @Property
  void aFormOfAnyBytesIsReadOrSaysNothing(@ForAll byte[] bytes) {
    String any = new String(bytes, ISO_8859_1);
    for (String form :
        new String[] {
          any,
          "--b\r\n" + any,
          "--b\r\ncontent-disposition: form-data; name=" + any + "\r\n\r\nm\r\n--b--",
          "--b\r\ncontent-disposition: form-data; name=model\r\n\r\nm" + any + "\r\n--b--"
        }) {
      byte[] body = form.getBytes(ISO_8859_1);
      assertThat(BodyFields.of(body, "multipart/form-data; boundary=b").estimatedTokens())
          .isNotNegative();
      assertThat(BodyFields.of(body, "multipart/form-data;" + any).models()).isNotNull();
    }
  }

  @Property
  void anyBytesAreRead(@ForAll byte[] bytes) {
    assertThat(BodyFields.of(bytes).estimatedTokens()).isNotNegative();
  }

  private static BodyFields of(String body) {
    return BodyFields.of(body.getBytes(UTF_8));
  }
}
