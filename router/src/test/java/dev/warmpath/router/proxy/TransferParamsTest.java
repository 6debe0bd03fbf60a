package dev.warmpath.router.proxy;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.util.Arrays;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class TransferParamsTest {

  private static final String PARAMS =
      "{\"remote_host\":\"10.0.0.7\",\"remote_port\":5600,\"remote_block_ids\":[[1,2],[]],"
          + "\"odd\":\"}\\\"]\\\\\",\"more\":{\"a\":null}}";

  @ParameterizedTest
  @ValueSource(
      strings = {
        "\"kv_transfer_params\":",
        "\"kv_transfer_params\" :\n ",
        "\"disaggregated_params\":",
        "\"\"kv_t"
      })
  void parametersAreEmptiedHoweverTheyAreCut(String name) {
    boolean isName = name.endsWith(" ") || name.endsWith(":");
    String before = "data: {\"choices\":[],\"kv_transfer\":1,";
    String after = ",\"usage\":{\"prompt_tokens\":3}}\n\ndata: [DONE]\n\n";
    String given = before + name + PARAMS + after;
    String wanted =
        isName ? before + name + "{" + " ".repeat(PARAMS.length() - 2) + "}" + after : given;
    for (int cut = 1; cut <= given.length(); cut++) {
      assertThat(passed(given, cut)).as("in pieces of %d", cut).isEqualTo(wanted);
    }
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "{\"kv_transfer_params\":null,\"a\":{\"b\":1}}",
        "{\"kv_transfer_params\":\"x\",\"a\":{\"b\":1}}",
        "{\"content\":\"{\\\"kv_transfer_params\\\":{\\\"a\\\":1}}\"}",
        "{\"content\":\"kv_transfer_params\",\"a\":{\"b\":1}}",
        "{\"content\":\"\\\\\\\"kv_transfer_params\\\":{1}\"}",
        "{\"list\":[\"kv_transfer_params\",{\"a\":1}]}"
      })
  void nothingElseIsChanged(String answer) {
    assertThat(passed(answer, 1)).isEqualTo(answer);
    assertThat(passed(answer, answer.length())).isEqualTo(answer);
    assertThat(new TransferParams().empty(answer.getBytes(UTF_8))).isFalse();
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "{\"kv_transfer_params\":{}} | true",
        "kv_transfer_params | true",
        "{\"disaggregated_params\":{}} | true",
        "kv_transfer_param | false",
        "disaggregated_param | false",
        "s | false",
        "'' | false"
      })
  void aRequestMayNameThem(String request, boolean named) {
    assertThat(TransferParams.areNamedIn(request.getBytes(UTF_8))).isEqualTo(named);
  }

  private static String passed(String answer, int pieceBytes) {
    byte[] bytes = answer.getBytes(UTF_8);
    TransferParams hidden = new TransferParams();
    ByteArrayOutputStream passed = new ByteArrayOutputStream();
    for (int from = 0; from < bytes.length; from += pieceBytes) {
      byte[] piece = Arrays.copyOfRange(bytes, from, Math.min(bytes.length, from + pieceBytes));
      boolean unused = hidden.empty(piece);
      passed.writeBytes(piece);
    }
    return passed.toString(UTF_8);
  }
}
