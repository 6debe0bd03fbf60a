package dev.warmpath.tokenizer.body;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class RequestNamespaceTest {

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          {}                                      | false | PLAIN
          {"prompt": "caf\\u00e9 \\u003c"}        | false | PLAIN
          {}                                      | true  | KEYED
          {"cache_salt": "t"}                     | false | KEYED
          {"lora_path": "a"}                      | false | KEYED
          {"extra_key": "x"}                      | false | EXTRA_KEY
          {"\\u0065xtra_key": "x"}                | false | EXTRA_KEY
          {"extra_key": ["x"], "cache_salt": "t"} | false | ANY
          {"extra_key": "x"}                      | true  | ANY
          {"extra_key": null, "cache_salt": null} | false | PLAIN
          """)
  void bodyTells(String body, boolean adapter, RequestNamespace read) throws IOException {
    ObjectNode parsed = (ObjectNode) new ObjectMapper().readTree(body);
    assertThat(RequestNamespace.of(parsed, adapter)).isEqualTo(read);
  }
}
