package dev.warmpath.tokenizer.body;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class RequestNamespaceTest {

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          {}                                      | false | PLAIN     | KEYED
          {"prompt": "caf\\u00e9 \\u003c"}        | false | PLAIN     | KEYED
          {}                                      | true  | KEYED     | KEYED
          {"cache_salt": "t"}                     | false | KEYED     | ANY
          {"lora_path": "a"}                      | false | KEYED     | ANY
          {"extra_key": "x"}                      | false | EXTRA_KEY | ANY
          {"\\u0065xtra_key": "x"}                | false | EXTRA_KEY | ANY
          {"extra_key": ["x"], "cache_salt": "t"} | false | ANY       | ANY
          {"extra_key": "x"}                      | true  | ANY       | ANY
          {"extra_key": null, "cache_salt": null} | false | PLAIN     | ANY
          """)
  void bodyTellsOrMayHide(
      String body, boolean adapter, RequestNamespace read, RequestNamespace unread)
      throws IOException {
    ObjectNode parsed = (ObjectNode) new ObjectMapper().readTree(body);
    assertThat(RequestNamespace.of(parsed, adapter)).isEqualTo(read);
    byte[] bytes = body.getBytes(StandardCharsets.UTF_8);
    assertThat(RequestNamespace.ofUnread(bytes)).isEqualTo(unread);
  }
}
